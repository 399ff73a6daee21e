"""How the parts of the operator end together."""

from __future__ import annotations

import asyncio
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dynamo_operator.bootstrap import Operator
from dynamo_operator.controllers.caches import OPTIONAL
from dynamo_operator.controllers.resources import GRAPHS
from dynamo_operator.runtime.background import Background
from dynamo_operator.runtime.clock import SystemClock
from dynamo_operator.runtime.controller import Controller, Result
from dynamo_operator.runtime.queue import WorkQueue
from dynamo_operator.runtime.resource import Key
from tests.support.clock import settle


async def _hang(*_: object) -> Any:
    await asyncio.Event().wait()


async def _break() -> None:
    raise ValueError("odd")


def operator(controllers: list[Controller], recorder: Any = _hang) -> Operator:
    capabilities = SimpleNamespace(run=_hang, wait_synced=_hang)
    caches: Any = SimpleNamespace(required=list)
    cluster: Any = SimpleNamespace(capabilities=capabilities)
    nothing: Any = None
    parts: Any = {GRAPHS: SimpleNamespace(run=recorder)}
    return Operator(nothing, cluster, caches, controllers, parts, nothing, nothing)


@pytest.mark.parametrize(
    ("run", "told", "code"),
    [
        pytest.param(_break, False, 1, id="a part breaks: all ends, and says so"),
        pytest.param(_hang, True, 0, id="told to stop: all ends well"),
    ],
)
async def test_end(run: Any, told: bool, code: int) -> None:
    stop = asyncio.Event()
    if told:
        stop.set()
    assert await operator([], recorder=run).operate(stop) == code


@pytest.mark.parametrize(
    ("lost", "finished"),
    [
        pytest.param(False, ["n/a"], id="told to stop: what was begun is finished"),
        pytest.param(True, [], id="lease lost: nothing more is written"),
    ],
)
async def test_work_in_progress(lost: bool, finished: list[str]) -> None:
    ends, done, begun = {True: asyncio.Event(), False: asyncio.Event()}, list[str](), asyncio.Event()

    async def reconcile(key: Key) -> Result:
        begun.set()
        await asyncio.sleep(0.01)
        done.append(str(key))
        return Result()

    controller = Controller("graph", reconcile, WorkQueue(SystemClock()))
    controller.queue.add(Key("n", "a"))
    whole = operator([controller])
    whole._background = Background(ends[False].set)
    running = asyncio.create_task(whole._reconcile(ends[False], lost=ends[True]))
    await begun.wait()
    ends[lost].set()
    await running
    assert done == finished


async def test_optional_kind_goes_its_cache_is_emptied() -> None:
    ran, cleared = list[str](), list[str]()

    async def run(plural: str) -> None:
        ran.append(plural)
        await _hang()

    informers = {
        kind: SimpleNamespace(run=partial(run, kind.plural), clear=partial(cleared.append, kind.plural))
        for kind in OPTIONAL
    }
    whole = operator([])
    whole.cluster.informers = cast("Any", informers)
    whole._background = Background(lambda: None)
    whole._follow("kai", offered=True)
    await settle()
    whole._follow("kai", offered=False)
    await settle()
    assert (ran, cleared, whole._optional) == (["queues"], ["queues"], {})
