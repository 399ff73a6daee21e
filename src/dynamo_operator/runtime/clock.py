"""Time as a value that tests can replace."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Where the runtime takes time from."""

    def now(self) -> datetime:
        """Wall clock time, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds of this clock."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Wall clock time, aware, in UTC."""
        return datetime.now(UTC)  # the one place that may ask

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds."""
        await asyncio.sleep(seconds)
