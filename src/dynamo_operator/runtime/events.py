"""Kubernetes events: told without waiting, counted instead of repeated, never a flood (as client-go's recorder)."""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal

import msgspec
import structlog

from dynamo_operator.runtime.client import Client
from dynamo_operator.runtime.clock import Clock, SystemClock
from dynamo_operator.runtime.errors import NotFound
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.views import Metadata, ObjectMeta

EVENT: Final = Resource("", "v1", "Event", "events")

EventType = Literal["Normal", "Warning"]
Regarding = tuple[Resource, ObjectMeta]

SAME_SECONDS: Final = 600.0
BURST: Final = 25
REFILL_SECONDS: Final = 300.0
LONGEST_MESSAGE: Final = 1024
FLUSH_SECONDS: Final = 5.0
COURTESY_SECONDS: Final = 30.0

_PENDING = 4096
_REMEMBERED = 4096

_LOG: Final[Any] = structlog.get_logger("events")


@dataclass(slots=True)
class _Entry:
    """An event that was told before, and since when it counts."""

    key: Key
    count: int
    told_at: float


@dataclass(slots=True)
class _Bucket:
    """What one object may still say."""

    tokens: float
    filled_at: float


@dataclass(frozen=True, slots=True)
class _Note:
    """One thing to tell."""

    resource: Resource
    meta: ObjectMeta
    type: EventType
    reason: str
    message: str
    at: datetime

    @property
    def about(self) -> tuple[str, str]:
        return self.resource.kind, self.meta.uid or str(self.meta.key)

    @property
    def same(self) -> tuple[str, ...]:
        return (*self.about, self.type, self.reason, self.message)


@dataclass(slots=True)
class EventRecorder:
    """Writes events in a task of its own, ``run``; recording neither waits nor fails.

    What is said again within 10 minutes raises the count of the first event. One object may say 25 things at once
    and then one in 5 minutes; ``dropped`` counts what was left unsaid. Before an event is written,
    ``my_turn`` is waited for with the seconds that are left of its 30: what tells of work must not delay the work.
    """

    client: Client
    component: str
    clock: Clock = field(default_factory=SystemClock)
    my_turn: Callable[[float], Awaitable[None]] | None = None
    dropped: int = 0
    _pending: deque[_Note] = field(default_factory=deque["_Note"])
    _entries: OrderedDict[tuple[str, ...], _Entry] = field(default_factory=OrderedDict[tuple[str, ...], _Entry])
    _buckets: OrderedDict[tuple[str, str], _Bucket] = field(default_factory=OrderedDict[tuple[str, str], _Bucket])
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _serial: int = 0

    def record(self, regarding: Regarding, type: EventType, reason: str, message: str) -> None:  # noqa: A002 - its name
        """Tell something about an object; ``reason`` is one word in CamelCase, long messages are cut."""
        if len(message) > LONGEST_MESSAGE:
            message = message[: LONGEST_MESSAGE - 1] + "…"
        note = _Note(*regarding, type, reason, message, self.clock.now())
        if len(self._pending) >= _PENDING or not self._allowed(note):
            self.dropped += 1
            return
        self._pending.append(note)
        self._news.set()

    async def run(self) -> None:
        """Write until cancelled; what is pending then is still written, for 5 seconds at most."""
        try:
            while True:
                await self._news.wait()
                self._news.clear()
                await self._write_pending(self._wait_for_turn)
        finally:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FLUSH_SECONDS):
                    await self._write_pending()
            self.dropped += len(self._pending)
            self._pending.clear()

    async def _wait_for_turn(self, note: _Note) -> None:
        left = COURTESY_SECONDS - (self.clock.now() - note.at).total_seconds()
        if self.my_turn is not None and left > 0:
            await self.my_turn(left)

    async def _write_pending(self, wait: Callable[[_Note], Awaitable[None]] | None = None) -> None:
        while self._pending:
            if wait is not None:
                await wait(self._pending[0])
            note = self._pending[0]
            try:
                await self._write(note)
            except Exception as error:  # noqa: BLE001 - no event is worth the others
                self.dropped += 1
                _LOG.debug("failed to write an event", reason=note.reason, about=str(note.meta.key), error=str(error))
            # Taken off only now, so that a cancelled write is among what the flush writes.
            self._pending.popleft()

    async def _write(self, note: _Note) -> None:
        entry = self._entries.get(note.same)
        if entry is not None and self.clock.monotonic() - entry.told_at < SAME_SECONDS:
            patch = {"count": entry.count + 1, "lastTimestamp": _stamp(note.at)}
            with contextlib.suppress(NotFound):
                await self.client.merge_patch(EVENT, entry.key, patch, field_manager=self.component)
                entry.count += 1
                entry.told_at = self.clock.monotonic()
                self._entries.move_to_end(note.same)
                return
        answer = await self.client.create(EVENT, _namespace(note), self._event(note), field_manager=self.component)
        key = msgspec.json.decode(answer, type=Metadata).metadata.key
        self._entries[note.same] = _Entry(key, 1, self.clock.monotonic())
        if len(self._entries) > _REMEMBERED:
            self._entries.popitem(last=False)

    def _event(self, note: _Note) -> dict[str, Any]:
        self._serial += 1
        meta, at = note.meta, _stamp(note.at)
        # Time alone could name two events of one object the same.
        suffix = f"{int(note.at.timestamp() * 1e6):x}{self._serial & 0xFFFF:04x}"
        return {
            "apiVersion": EVENT.api_version,
            "kind": EVENT.kind,
            "metadata": {"namespace": _namespace(note), "name": f"{meta.name[:220]}.{suffix}"},
            "involvedObject": {
                "apiVersion": note.resource.api_version,
                "kind": note.resource.kind,
                "namespace": meta.namespace,
                "name": meta.name,
                "uid": meta.uid,
                "resourceVersion": meta.resource_version,
            },
            "type": note.type,
            "reason": note.reason,
            "message": note.message,
            "source": {"component": self.component},
            "reportingComponent": self.component,
            "firstTimestamp": at,
            "lastTimestamp": at,
            "count": 1,
        }

    def _allowed(self, note: _Note) -> bool:
        """Take a token from the object's bucket, if there is one."""
        now = self.clock.monotonic()
        bucket = self._buckets.setdefault(note.about, _Bucket(float(BURST), now))
        self._buckets.move_to_end(note.about)
        if len(self._buckets) > _REMEMBERED:
            self._buckets.popitem(last=False)
        bucket.tokens = min(float(BURST), bucket.tokens + (now - bucket.filled_at) / REFILL_SECONDS)
        bucket.filled_at = now
        if bucket.tokens < 1:
            return False
        bucket.tokens -= 1
        return True


def _namespace(note: _Note) -> str:
    return note.meta.namespace or "default"


def _stamp(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
