"""Workers that reconcile keys."""

import asyncio
from typing import Self

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from dynamo_operator.runtime.controller import DONE, Controller, Result
from dynamo_operator.runtime.errors import (
    AlreadyExists,
    ApiError,
    Conflict,
    Invalid,
    TooManyRequests,
    Unavailable,
    Unreachable,
)
from dynamo_operator.runtime.informer import Informer
from dynamo_operator.runtime.metrics import Metrics
from dynamo_operator.runtime.queue import RESYNC, USER, WorkQueue
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.views import Metadata
from tests.support.clock import ManualClock, settle

A, B = Key("n", "a"), Key("n", "b")
POD = Resource("", "v1", "Pod", "pods")


class Bed:
    """A controller with a script: what each reconcile does, in order."""

    def __init__(self, *script: Result | Exception | asyncio.Event, timeout: float | None = None) -> None:
        self.clock, self.registry = ManualClock(), CollectorRegistry()
        self.script, self.seen = list(script), []
        metrics = Metrics(self.registry, clock=self.clock, process=False)
        self.controller = Controller(
            "graph",
            self.reconcile,
            WorkQueue(self.clock),
            workers=2,
            metrics=metrics.controller("graph"),
            timeout=timeout,
        )
        self.queue = self.controller.queue

    async def reconcile(self, key: Key) -> Result:
        self.seen.append(key)
        step = self.script.pop(0) if self.script else DONE
        if isinstance(step, Exception):
            raise step
        if isinstance(step, asyncio.Event):
            await step.wait()
            return DONE
        return step

    async def __aenter__(self) -> Self:
        self.task = asyncio.create_task(self.controller.run())
        await settle()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.queue.shut_down()
        await asyncio.wait([self.task])

    def counted(self, result: str) -> float | None:
        labels = {"controller": "graph", "result": result}
        return self.registry.get_sample_value("controller_runtime_reconcile_total", labels)

    def panics(self) -> float | None:
        return self.registry.get_sample_value("controller_runtime_reconcile_panics_total", {"controller": "graph"})


async def test_key_comes_it_is_reconciled_and_counted() -> None:
    async with Bed() as bed:
        bed.queue.add(A)
        await settle()
    assert (bed.seen, bed.counted("success"), bed.counted("requeue_after")) == ([A], 1.0, 0.0)


async def test_another_look_is_asked_for_it_comes_at_its_time() -> None:
    async with Bed(Result(requeue_after=30)) as bed:
        bed.queue.add(A)
        await bed.clock.advance(29)
        assert bed.seen == [A]
        await bed.clock.advance(2)
    assert (bed.seen, bed.counted("requeue_after")) == ([A, A], 1.0)


@pytest.mark.parametrize(
    ("error", "traceback", "panics"),
    [
        pytest.param(Unavailable(status=503, message="no"), False, 0.0, id="the API server fails: told in a line"),
        pytest.param(ValueError("bug"), True, 1.0, id="a fault of ours: told with its place"),
    ],
)
async def test_failure_is_logged_counted_and_tried_again(error: Exception, panics: float, *, traceback: bool) -> None:
    with capture_logs() as logs:
        async with Bed(error) as bed:
            bed.queue.add(A)
            await bed.clock.advance(0.004)
            assert bed.seen == [A]
            await bed.clock.advance(0.002)
    assert (bed.seen, bed.counted("error"), bed.panics()) == ([A, A], 1.0, panics)
    assert (logs[0]["error"], logs[0]["exc_info"] is not None) == (str(error), traceback)


async def test_one_key_hangs_another_is_reconciled() -> None:
    hang = asyncio.Event()
    async with Bed(hang) as bed:
        bed.queue.add(A)
        bed.queue.add(B)
        await settle()
        assert bed.seen == [A, B]
        hang.set()


async def test_reconcile_takes_too_long_it_is_ended_and_tried_again() -> None:
    with capture_logs() as logs:
        async with Bed(asyncio.Event(), timeout=0.0) as bed:
            bed.queue.add(A)
            await asyncio.sleep(0.01)
    assert (logs[0]["error"], logs[0]["exc_info"], bed.panics()) == ("TimeoutError", None, 0.0)


async def test_shut_down_while_a_key_is_worked_on_it_is_finished_first() -> None:
    hang = asyncio.Event()
    async with Bed(hang) as bed:
        bed.queue.add(A)
        await settle()
        bed.queue.shut_down()
        await settle()
        assert not bed.task.done()
        hang.set()
        await settle()
        assert (bed.task.done(), bed.counted("success")) == (True, 1.0)


async def test_cancelled_while_a_key_is_worked_on_nothing_is_waited_for() -> None:
    async with Bed(asyncio.Event()) as bed:
        bed.queue.add(A)
        await settle()
        bed.task.cancel()
        await settle()
        assert bed.task.cancelled()


async def test_worker_breaks_the_others_do_not_go_on_alone() -> None:
    async with Bed() as bed:
        bed.queue.done = None  # type: ignore[assignment,method-assign]
        bed.queue.add(A)
        await settle()
        assert isinstance(bed.task.exception(), TypeError)


@pytest.mark.parametrize(
    ("error", "longest"),
    [
        pytest.param(ApiError(status=500), 60, id="a webhook that does not answer: nobody says when it does again"),
        pytest.param(Unreachable(), 60, id="no answer at all: nobody says when there is one again"),
        pytest.param(TooManyRequests(status=429), 60, id="too much at once: nobody says when it is over"),
        pytest.param(Conflict(status=409), 1000, id="anything else: ever more slowly"),
    ],
)
async def test_longest_retry_depends_on_who_will_tell(error: Exception, longest: float) -> None:
    controller = Controller("pod", Bed().reconcile, WorkQueue(ManualClock()))
    with capture_logs() as logs:
        for _ in range(20):
            controller._retry(A, error)
    assert logs[-1]["retry_after"] == longest


async def test_first_list_comes_with_low_priority_and_changes_with_high() -> None:
    informer = Informer(None, POD, Metadata)  # type: ignore[arg-type]
    informer.observe(b'{"metadata": {"namespace": "n", "name": "a", "resourceVersion": "1"}}')
    informer._synced.set()
    controller = Controller("pod", Bed().reconcile, WorkQueue(ManualClock()))
    controller.watch(informer, lambda change: (change.key,))
    assert (controller.queue.depth(RESYNC), controller.queue.depth(USER)) == (1, 0)
    informer.observe(b'{"metadata": {"namespace": "n", "name": "b", "resourceVersion": "2"}}')
    assert (controller.queue.depth(RESYNC), controller.queue.depth(USER)) == (1, 1)


@pytest.mark.parametrize(
    ("error", "second_look_after"),
    [
        pytest.param(Unavailable(), 0.01, id="server away: tried again at once"),
        pytest.param(AlreadyExists(), 10.0, id="name taken: still taken a moment later"),
        pytest.param(Invalid(), 10.0, id="content refused: refused again a moment later, so no hurry"),
    ],
)
async def test_first_retry_depends_on_who_must_act(error: Exception, second_look_after: float) -> None:
    async with Bed(error) as bed:
        bed.queue.add(A)
        await settle()
        await bed.clock.advance(second_look_after * 0.4)
        assert bed.seen == [A]
        await bed.clock.advance(second_look_after)
        assert bed.seen == [A, A]
