"""The process: its event loop, its signals, its garbage collector (specification: platform.md 1.4 and 1.5)."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from collections.abc import Awaitable, Callable
from typing import Any, Final

import structlog
import uvloop

_LOG: Final[Any] = structlog.get_logger("setup")

Main = Callable[[asyncio.Event], Awaitable[int]]
"""What the process does: ends soon after the event is set; returns the exit code."""


def run(main: Main) -> int:
    """Run to the end on a fast event loop; the exit code.

    The first SIGTERM or SIGINT sets the event that ``main`` received, the second ends the process at once with 1.
    """
    return uvloop.run(_until_signalled(main))


async def _until_signalled(main: Main) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_signal(number: signal.Signals) -> None:
        if stop.is_set():
            # Whoever asks twice does not want to wait for anything.
            os._exit(1)
        _LOG.info("stopping, a second signal ends the process at once", signal=number.name)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal, number)
    try:
        return await main(stop)
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


def settle_garbage() -> None:
    """Take all that is alive now out of garbage collection, and collect less often.

    To be called once caches have their first content: with 5,000 pods alive, a full collection takes 70 ms and more,
    in which nothing else runs.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
