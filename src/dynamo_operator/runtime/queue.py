"""A work queue of object keys: each key once, one worker per key, users first, namespaces in turn."""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from enum import IntEnum
from typing import Final, Protocol

from dynamo_operator.runtime.clock import Clock
from dynamo_operator.runtime.resource import Key

FIRST_RETRY_SECONDS: Final = 0.005
LONGEST_RETRY_SECONDS: Final = 1000.0


class Priority(IntEnum):
    """Which keys go first; a smaller number is more urgent."""

    USER = 0
    """Somebody changed something and waits for the effect."""
    RESYNC = 1
    """Content of a first list: everything at once, nobody waits."""


USER: Final = Priority.USER
RESYNC: Final = Priority.RESYNC


class QueueObserver(Protocol):
    """Who counts what a queue does (the metrics)."""

    def added(self) -> None:
        """A key came that was not waiting yet."""

    def started(self, waited: float) -> None:
        """A worker took a key that had waited so many seconds."""

    def finished(self, worked: float) -> None:
        """A worker gave a key back after so many seconds."""

    def retried(self) -> None:
        """A key was put back because its work failed."""


class _Lane:
    """The waiting keys of one priority: a ring of namespaces, each with its keys in order of arrival."""

    def __init__(self) -> None:
        self._ring: deque[str] = deque()
        self._keys: dict[str, dict[Key, None]] = {}

    def push(self, key: Key) -> None:
        keys = self._keys.get(key.namespace)
        if keys is None:
            self._keys[key.namespace] = {key: None}
            self._ring.append(key.namespace)
        else:
            keys[key] = None

    def pop(self) -> Key | None:
        while self._ring:
            namespace = self._ring.popleft()
            keys = self._keys[namespace]
            if not keys:
                # Its keys were raised to the other lane meanwhile.
                del self._keys[namespace]
                continue
            key = next(iter(keys))
            del keys[key]
            if keys:
                self._ring.append(namespace)
            else:
                del self._keys[namespace]
            return key
        return None

    def discard(self, key: Key) -> None:
        self._keys[key.namespace].pop(key, None)


class WorkQueue:
    """Keys to be worked on.

    A key that waits is not added twice. A key that comes while it is worked on runs once more afterwards, so that no
    change is missed and no key has two workers. Failed keys come back after 5 ms, doubling up to 1000 s
    (specification: platform.md 1.6).
    """

    def __init__(self, clock: Clock, *, observer: QueueObserver | None = None) -> None:
        self.observer = observer
        self._clock = clock
        self._lanes = {priority: _Lane() for priority in Priority}
        self._waiting: dict[Key, tuple[Priority, float]] = {}
        self._running: dict[Key, float] = {}
        self._again: dict[Key, Priority] = {}
        self._failures: dict[Key, int] = {}
        self._due: dict[Key, tuple[float, Priority]] = {}
        self._heap: list[tuple[float, Key]] = []
        self._timer: asyncio.Task[None] | None = None
        self._timer_due = 0.0
        self._takers: deque[asyncio.Future[None]] = deque()
        self._closed = False

    def __len__(self) -> int:
        """Keys that wait; running and delayed ones do not count."""
        return len(self._waiting)

    @property
    def running(self) -> dict[Key, float]:
        """Keys that are worked on now, with the monotonic second at which each began."""
        return dict(self._running)

    def depth(self, priority: Priority) -> int:
        """How many keys wait with this priority."""
        return sum(1 for waiting, _ in self._waiting.values() if waiting is priority)

    def add(self, key: Key, priority: Priority = USER) -> None:
        """Ask for work on a key; a more urgent priority raises a key that waits already."""
        if self._closed:
            return
        if key in self._running:
            self._again[key] = min(priority, self._again.get(key, priority))
            return
        waiting = self._waiting.get(key)
        if waiting is None:
            self._push(key, priority)
        elif priority < waiting[0]:
            self._lanes[waiting[0]].discard(key)
            self._lanes[priority].push(key)
            self._waiting[key] = (priority, waiting[1])

    def add_after(self, key: Key, seconds: float, priority: Priority = USER) -> None:
        """Ask for work on a key in so many seconds; of several such wishes the earliest counts."""
        if seconds <= 0:
            self.add(key, priority)
            return
        if self._closed:
            return
        due = self._clock.monotonic() + seconds
        pending = self._due.get(key)
        if pending is not None and pending[0] <= due:
            return
        self._due[key] = (due, priority)
        heapq.heappush(self._heap, (due, key))
        self._set_timer()

    def retry(
        self, key: Key, priority: Priority = USER, *, at_least: float = 0.0, at_most: float = LONGEST_RETRY_SECONDS
    ) -> float:
        """Put a failed key back with its own growing delay, which is returned in seconds."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        # Beyond 2**18 the limit holds, and the power would only grow.
        delay = max(at_least, min(FIRST_RETRY_SECONDS * 2 ** min(failures, 18), at_most))
        self.add_after(key, delay, priority)
        if self.observer is not None:
            self.observer.retried()
        return delay

    def forget(self, key: Key) -> None:
        """Start the key's delays anew, because its work succeeded."""
        self._failures.pop(key, None)

    async def take(self) -> Key | None:
        """The next key to work on, given back with ``done``; None when the queue is shut down."""
        while not self._closed:
            key = self._pop()
            if key is not None:
                return key
            await self._wait_for_key()
        return None

    def done(self, key: Key) -> None:
        """Give a key back; it runs once more when it came again meanwhile."""
        began = self._running.pop(key)
        if self.observer is not None:
            self.observer.finished(self._clock.monotonic() - began)
        again = self._again.pop(key, None)
        if again is not None and not self._closed:
            self._push(key, again)

    def shut_down(self) -> None:
        """Hand out nothing more; what runs may finish."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._takers:
            self._wake()

    def _push(self, key: Key, priority: Priority) -> None:
        self._waiting[key] = (priority, self._clock.monotonic())
        self._lanes[priority].push(key)
        if self.observer is not None:
            self.observer.added()
        self._wake()

    def _pop(self) -> Key | None:
        for lane in self._lanes.values():
            key = lane.pop()
            if key is not None:
                now = self._clock.monotonic()
                _, since = self._waiting.pop(key)
                self._running[key] = now
                if self.observer is not None:
                    self.observer.started(now - since)
                return key
        return None

    async def _wait_for_key(self) -> None:
        taker: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._takers.append(taker)
        try:
            await taker
        except asyncio.CancelledError:
            if taker.done() and not taker.cancelled():
                # This taker was chosen and cannot come: the key must not wait for the next one by chance.
                self._wake()
            raise

    def _wake(self) -> None:
        while self._takers:
            taker = self._takers.popleft()
            if not taker.done():
                taker.set_result(None)
                return

    def _set_timer(self) -> None:
        due = self._heap[0][0]
        if self._timer is not None:
            if self._timer_due <= due:
                return
            self._timer.cancel()
        self._timer_due = due
        self._timer = asyncio.get_running_loop().create_task(self._fire_when_due())

    async def _fire_when_due(self) -> None:
        while self._heap:
            self._timer_due = self._heap[0][0]
            remaining = self._timer_due - self._clock.monotonic()
            if remaining > 0:
                await self._clock.sleep(remaining)
            self._release_due()
        self._timer = None

    def _release_due(self) -> None:
        now = self._clock.monotonic()
        while self._heap and self._heap[0][0] <= now:
            due, key = heapq.heappop(self._heap)
            pending = self._due.get(key)
            if pending is not None and pending[0] == due:
                # An older entry of the heap was overtaken by an earlier wish for the same key.
                del self._due[key]
                self.add(key, pending[1])
