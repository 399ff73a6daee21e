"""Tasks that must not end unnoticed."""

import asyncio

from structlog.testing import capture_logs

from dynamo_operator.runtime.background import Background
from tests.support.clock import settle


async def _break() -> None:
    raise ValueError("odd")


async def test_part_breaks_it_is_logged_and_told() -> None:
    stop = asyncio.Event()
    background = Background(stop.set)
    with capture_logs() as logs:
        background.start(_break(), name="watch of pods")
        await settle()
    assert (stop.is_set(), background.broken) == (True, True)
    assert [(entry["part"], entry["error"]) for entry in logs] == [("watch of pods", "odd")]


async def test_parts_are_cancelled_or_finish_nothing_is_told() -> None:
    stop = asyncio.Event()
    background = Background(stop.set)
    background.start(asyncio.sleep(0), name="short")
    long = background.start(asyncio.Event().wait(), name="long")  # type: ignore[arg-type]
    await settle()
    await background.cancel()
    assert (stop.is_set(), background.broken, long.cancelled()) == (False, False, True)
