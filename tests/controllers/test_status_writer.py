"""When statuses are written: verdicts at once, counters when they rest, nothing for an object that moved on."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from dynamo_operator.controllers.cluster import Parent
from dynamo_operator.controllers.resources import GRAPHS
from dynamo_operator.controllers.status_writer import Note, StatusWriter
from dynamo_operator.runtime.controller import DONE
from dynamo_operator.runtime.errors import NotFound
from dynamo_operator.runtime.queue import WorkQueue
from dynamo_operator.runtime.resource import Key
from dynamo_operator.runtime.views import Body, ObjectMeta
from tests.support.clock import ManualClock

KEY = Key("ns", "g")


def body(status: dict[str, Any] | None = None, *, generation: int = 1, uid: str = "u") -> Body:
    tree = {"metadata": {"namespace": "ns", "name": "g", "uid": uid, "generation": generation}, "status": status}
    return msgspec.json.decode(msgspec.json.encode(tree), type=Body)


def status(state: str, count: int = 0) -> dict[str, Any]:
    return {"state": state, "services": {"W": {"replicas": count}}}


class Bed:
    """A writer over one stored graph; ``written`` are the statuses that went out."""

    def __init__(self, stored: dict[str, Any] | None = None) -> None:
        self.clock = ManualClock()
        self.stored = {KEY: body(stored)}
        self.written: list[Any] = []
        self.events: list[str] = []
        self.refusal: Exception | None = None
        self.queue = WorkQueue(self.clock)
        self.under_way = 0
        cluster: Any = SimpleNamespace(
            clock=self.clock, informers={GRAPHS: self.stored}, applier=self, event=self._event
        )
        self.writer = StatusWriter(cluster, GRAPHS, self.queue)
        self.meanwhile: list[Any] = []
        self.while_writing: list[Any] = []

    async def idle(self, seconds: float) -> None:
        for step in self.meanwhile:
            step()

    async def write_status(self, resource: object, key: Key, current: Any, wanted: Any) -> None:
        if self.refusal:
            raise self.refusal
        for step in self.while_writing:
            step()
        self.written.append(wanted)
        self.stored[KEY] = body(wanted)

    def _event(self, parent: Parent, kind: str, reason: str, message: str) -> None:
        self.events.append(f"{kind} {reason}: {message}")

    def submit(self, wanted: dict[str, Any], **more: Any) -> None:
        stored = self.stored[KEY]
        self.writer.submit(Parent(GRAPHS, stored.metadata), wanted, stored=stored.tree("status"), **more)


async def test_first_status_is_written_at_once_with_its_events() -> None:
    bed = Bed()
    bed.submit(status("failed"), notes=(Note("Warning", "ValidationFailed", "no services"),))
    assert await bed.writer.reconcile(KEY) == DONE
    assert bed.written == [status("failed")]
    assert bed.events == ["Warning ValidationFailed: no services"]


def conditioned(*said: str) -> dict[str, Any]:
    """A status with one condition for each value said."""
    return {"state": "s", "conditions": [{"type": f"T{n}", "status": value} for n, value in enumerate(said)]}


@pytest.mark.parametrize(
    ("first", "rest"),
    [(conditioned("True", "True"), 0.0), (conditioned("True", "False"), 1.5)],
    ids=["good", "not yet"],
)
async def test_first_status_that_only_says_not_yet_waits_for_a_better_one(first: dict[str, Any], rest: float) -> None:
    bed = Bed()
    bed.submit(first)
    outcome = await bed.writer.reconcile(KEY)
    assert outcome.requeue_after == (pytest.approx(rest) if rest else None)
    assert bed.written == ([] if rest else [first])


async def test_another_verdict_is_written_at_once() -> None:
    bed = Bed(status("pending", 1))
    bed.submit(status("successful", 1))
    await bed.writer.reconcile(KEY)
    assert bed.written == [status("successful", 1)]


async def test_counters_wait_until_they_rest_and_only_the_newest_goes_out() -> None:
    bed = Bed(status("pending", 1))
    bed.submit(status("pending", 2))
    assert (await bed.writer.reconcile(KEY)).requeue_after == pytest.approx(1.5)
    await bed.clock.advance(1.0)
    bed.submit(status("pending", 3))
    assert (await bed.writer.reconcile(KEY)).requeue_after == pytest.approx(1.5)
    await bed.clock.advance(1.5)
    await bed.writer.reconcile(KEY)
    assert bed.written == [status("pending", 3)]


async def test_counters_that_never_rest_are_written_after_half_a_minute() -> None:
    bed = Bed(status("pending", 0))
    for count in range(1, 32):
        bed.submit(status("pending", count))
        await bed.clock.advance(1.0)
    assert await bed.writer.reconcile(KEY) == DONE
    assert bed.written == [status("pending", 31)]


@pytest.mark.parametrize(("under_way", "rest"), [(0, 2.55), (7, 2.55), (8, 5.7)])
async def test_counters_rest_longer_while_many_statuses_wait_and_more_so_amid_work(under_way: int, rest: float) -> None:
    bed = Bed(status("pending", 1))
    bed.under_way = under_way
    for number in range(21):
        meta = ObjectMeta(namespace="ns", name=f"other-{number}", uid="u")
        bed.writer.submit(Parent(GRAPHS, meta), status("pending", 2), stored=status("pending", 1))
    bed.submit(status("pending", 2))
    assert (await bed.writer.reconcile(KEY)).requeue_after == pytest.approx(rest)


async def test_status_that_is_stored_already_is_not_written() -> None:
    bed = Bed(status("pending", 1))
    bed.submit(status("pending", 2))
    bed.submit(status("pending", 1))
    assert await bed.writer.reconcile(KEY) == DONE
    assert bed.written == []


@pytest.mark.parametrize(
    "moved",
    [
        pytest.param(body(generation=2), id="spec changed meanwhile: the next pass has another status"),
        pytest.param(body(uid="other"), id="object replaced meanwhile: the status was another's"),
    ],
)
async def test_status_worked_out_for_something_else_is_dropped(moved: Body) -> None:
    bed = Bed()
    bed.submit(status("successful"))
    bed.stored[KEY] = moved
    assert await bed.writer.reconcile(KEY) == DONE
    assert bed.written == []


async def test_newer_status_that_comes_while_specs_go_first_replaces_the_older() -> None:
    bed = Bed()
    bed.submit(status("pending"))
    bed.meanwhile = [lambda: bed.submit(status("successful"))]
    assert (await bed.writer.reconcile(KEY)).requeue_after == 0.0
    bed.meanwhile = []
    await bed.writer.reconcile(KEY)
    assert bed.written == [status("successful")]


async def test_status_turns_back_while_the_other_is_written_it_is_written_again() -> None:
    bed = Bed(status("successful"))
    bed.submit(status("pending"))
    bed.while_writing = [lambda: bed.submit(status("successful"))]
    await bed.writer.reconcile(KEY)
    bed.while_writing = []
    await bed.writer.reconcile(KEY)
    assert bed.stored[KEY].tree("status") == status("successful")


async def test_object_deleted_while_its_status_is_written_is_no_error() -> None:
    bed = Bed()
    bed.submit(status("pending"))
    bed.refusal = NotFound(message="gone")
    assert await bed.writer.reconcile(KEY) == DONE
    assert bed.writer.latest(Parent(GRAPHS, bed.stored[KEY].metadata), {}) == {}


async def test_decisions_read_the_status_that_waits() -> None:
    bed = Bed(status("pending", 1))
    parent = Parent(GRAPHS, bed.stored[KEY].metadata)
    bed.submit(status("pending", 2))
    assert bed.writer.latest(parent, status("pending", 1)) == status("pending", 2)
    bed.writer.forget(KEY)
    assert bed.writer.latest(parent, status("pending", 1)) == status("pending", 1)
