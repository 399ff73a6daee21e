"""Tasks beside the main work that have to run as long as the process does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

import structlog

_LOG: Final[Any] = structlog.get_logger("setup")


class Background:
    """Holds tasks, and tells when one of them broke: without it all others would go on with stale facts.

    ``on_fault`` is called after each fault, which was logged.
    """

    def __init__(self, on_fault: Callable[[], None]) -> None:
        self.broken = False
        self._on_fault = on_fault
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, part: Coroutine[Any, Any, None], *, name: str) -> asyncio.Task[None]:
        """Run it; whoever asked may cancel the task."""
        task = asyncio.create_task(part, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    async def cancel(self) -> None:
        """End all tasks."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        fault = None if task.cancelled() else task.exception()
        if fault is not None:
            self.broken = True
            _LOG.error("a part of the operator broke", part=task.get_name(), error=str(fault), exc_info=fault)
            self._on_fault()
