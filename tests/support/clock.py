"""A clock that stands still until a test moves it."""

from __future__ import annotations

import asyncio
import heapq
from datetime import UTC, datetime, timedelta
from itertools import count

START = datetime(2026, 1, 1, tzinfo=UTC)


class ManualClock:
    """Sleepers wake in order of their time when ``advance`` passes it."""

    def __init__(self) -> None:
        self._elapsed = 0.0
        self._order = count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self.naps: list[float] = []

    def now(self) -> datetime:
        """START plus what was advanced."""
        return START + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        """Seconds advanced so far, plus 1000."""
        return 1000.0 + self._elapsed

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock was advanced by so many seconds."""
        self.naps.append(seconds)
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        future = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._elapsed + seconds, next(self._order), future))
        await future

    @property
    def sleeping(self) -> int:
        """How many tasks wait for this clock."""
        return sum(not future.done() for _, _, future in self._sleepers)

    async def advance(self, seconds: float) -> None:
        """Move on, waking each sleeper at its time and letting it run before the next."""
        await settle()
        end = self._elapsed + seconds
        while self._sleepers and self._sleepers[0][0] <= end:
            at, _, future = heapq.heappop(self._sleepers)
            self._elapsed = max(self._elapsed, at)
            if not future.done():
                future.set_result(None)
                await settle()
        self._elapsed = end
        await settle()


async def settle(turns: int = 20) -> None:
    """Let everything run that can run without time passing or sockets answering."""
    for _ in range(turns):
        await asyncio.sleep(0)


class EagerClock(ManualClock):
    """A clock that jumps ahead instead of letting anybody wait."""

    async def sleep(self, seconds: float) -> None:
        """Note the nap, move on by it, and let others run."""
        self.naps.append(seconds)
        self._elapsed += seconds
        await asyncio.sleep(0)
