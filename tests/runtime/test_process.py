"""The process and its signals."""

import asyncio
import gc
import os
import signal

import pytest

from dynamo_operator.runtime import process


def test_first_signal_asks_to_stop() -> None:
    async def main(stop: asyncio.Event) -> int:
        os.kill(os.getpid(), signal.SIGTERM)
        await stop.wait()
        return 3

    assert process.run(main) == 3


def test_second_signal_ends_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    exits: list[int] = []
    gone = asyncio.Event()

    def leave(code: int) -> None:
        exits.append(code)
        gone.set()

    monkeypatch.setattr(os, "_exit", leave)

    async def main(stop: asyncio.Event) -> int:
        os.kill(os.getpid(), signal.SIGINT)
        await stop.wait()
        os.kill(os.getpid(), signal.SIGINT)
        await gone.wait()
        return 0

    process.run(main)
    assert exits == [1]


def test_what_is_alive_leaves_garbage_collection() -> None:
    thresholds = gc.get_threshold()
    try:
        process.settle_garbage()
        assert gc.get_freeze_count() > 0
        assert gc.get_threshold()[0] > thresholds[0]
    finally:
        gc.unfreeze()
        gc.set_threshold(*thresholds)
