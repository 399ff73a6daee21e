"""The fault proxy on an event loop of its own, for stories that wait without one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.fault_proxy import FaultProxy

_END_SECONDS = 15.0
_PAUSE_SECONDS = 0.02


@contextmanager
def proxy_running(kubeconfig: Path, folder: Path) -> Iterator[FaultProxy]:
    """A proxy without rules. Rules may be added and cleared, and requests looked at, from any thread."""
    started: Future[tuple[FaultProxy, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def serve() -> None:
        stop = asyncio.Event()
        async with FaultProxy(kubeconfig, folder) as proxy:
            started.set_result((proxy, asyncio.get_running_loop(), stop))
            await stop.wait()
        await _all_closed()

    def run() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:
            if started.done():
                raise
            started.set_exception(error)

    thread = threading.Thread(target=run, name="fault-proxy")
    thread.start()
    proxy, loop, stop = started.result()
    try:
        yield proxy
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(2 * _END_SECONDS)


async def _all_closed() -> None:
    """Return when the loop's last connection is gone; TLS takes a moment to say goodbye after a close."""
    loop: Any = asyncio.get_running_loop()
    deadline = loop.time() + _END_SECONDS
    # What stays is the loop's own pipe, by which other threads wake it.
    while len(loop._selector.get_map()) > 1 and loop.time() < deadline:  # noqa: ASYNC110 - the loop tells nobody
        await asyncio.sleep(_PAUSE_SECONDS)
