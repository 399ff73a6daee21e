"""Which services restart now."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_operator.domain.graph import ComponentState, Graph, RestartState, RestartStatus
from dynamo_operator.plan.restart import next_restart_status, restart_state
from tests.support.graphs import graph_of, state

ALL = ("Front", "decode", "prefill")
ORDERED = {"id": "r", "strategy": {"order": ["prefill", "Front", "decode"]}}
PARALLEL = {"id": "r", "strategy": {"type": "Parallel"}}
DONE = RestartStatus("r", "Completed")


def graph(restart: dict[str, Any] | None) -> Graph:
    return graph_of({key: {} for key in ALL}, **({"restart": restart} if restart else {}))


def running(*services: str, restart_id: str = "r") -> RestartStatus:
    return RestartStatus(restart_id, "Restarting", services)


def components(**changed: ComponentState | None) -> dict[str, ComponentState]:
    states = {key: state(key, restart_id="r") for key in ALL} | changed
    return {key: value for key, value in states.items() if value is not None}


STALE = components(decode=state("decode", observed=False, restart_id="r"))
DOWN = components(decode=state("decode", available=False, restart_id="r"))
LOST = components(decode=None)
UNTOLD = {key: state(key) for key in ALL}
CARRIED = UNTOLD | {"Front": state("Front", restart_id="r")}

Row = tuple[str, dict[str, Any] | None, RestartStatus | None, dict[str, ComponentState], RestartStatus | None]
STATUS: list[Row] = [
    ("never asked: nothing", None, None, components(), None),
    ("no longer asked, finished: kept", None, DONE, components(), DONE),
    ("no longer asked, failed: kept", None, RestartStatus("r", "Failed"), components(), RestartStatus("r", "Failed")),
    ("no longer asked, running: forgotten", None, running("Front"), components(), None),
    ("asked and finished: kept", {"id": "r"}, DONE, DOWN, DONE),
    ("parallel, new, all told and ready: completed", PARALLEL, None, components(), DONE),
    ("parallel, new, nobody told yet: all, however ready they look", PARALLEL, None, UNTOLD, running(*ALL)),
    ("parallel, new, one not ready: it is waited for", PARALLEL, None, DOWN, running("decode")),
    ("parallel, other id: all are looked at", PARALLEL, running("Front", restart_id="q"), LOST, running("decode")),
    ("parallel, running: only those are looked at", PARALLEL, running("Front"), DOWN, DONE),
    ("parallel, none listed: all are looked at", PARALLEL, RestartStatus("r", "Restarting"), STALE, running("decode")),
    ("parallel, a listed service is gone: skipped", PARALLEL, running("gone", "decode"), DOWN, running("decode")),
    ("in order, new: the first, unlooked at", {"id": "r"}, None, components(), running("Front")),
    ("in order, other id: the first again", ORDERED, RestartStatus("q", "Completed"), components(), running("prefill")),
    ("in order, none listed: the first", {"id": "r"}, RestartStatus("r", "Restarting"), components(), running("Front")),
    ("in order, current not observed: it stays", {"id": "r"}, running("decode"), STALE, running("decode")),
    ("in order, current not told yet: it stays", {"id": "r"}, running("decode"), CARRIED, running("decode")),
    ("in order, current not there yet: it stays", {"id": "r"}, running("decode"), LOST, running("decode")),
    ("in order, current ready: the next", ORDERED, running("Front"), components(), running("decode")),
    ("in order, last ready: completed", ORDERED, running("decode"), components(), DONE),
    ("in order, current is gone: the first not reached", {"id": "r"}, running("gone"), CARRIED, running("decode")),
    (
        "in order, current is gone and all reached: completed",
        {"id": "r"},
        running("gone"),
        {key: state(key, restart_id="r") for key in ALL},
        DONE,
    ),
]


@pytest.mark.parametrize(("asked", "previous", "exist", "wanted"), [r[1:] for r in STATUS], ids=[r[0] for r in STATUS])
def test_next_restart_status(
    asked: dict[str, Any] | None,
    previous: RestartStatus | None,
    exist: dict[str, ComponentState],
    wanted: RestartStatus | None,
) -> None:
    assert next_restart_status(graph(asked), previous, exist) == wanted


CARRIERS: list[tuple[str, dict[str, Any] | None, RestartStatus | None, str, tuple[str, ...]]] = [
    ("no status: nobody", None, None, "", ()),
    ("no id: nobody", None, RestartStatus("", "Completed"), "", ()),
    ("no longer asked: all keep it", None, DONE, "r", ALL),
    ("completed: all", {"id": "r"}, DONE, "r", ALL),
    ("parallel: all", PARALLEL, running("decode"), "r", ALL),
    ("in order, pending: the first", ORDERED, RestartStatus("r", "Pending", ("decode",)), "r", ("prefill",)),
    ("in order, none listed: the first", ORDERED, RestartStatus("r", "Restarting"), "r", ("prefill",)),
    ("in order, one gone: the first", ORDERED, running("gone"), "r", ("prefill",)),
    ("in order: all up to the current", ORDERED, running("Front"), "r", ("prefill", "Front")),
]


@pytest.mark.parametrize(
    ("asked", "status", "carried", "services"), [c[1:] for c in CARRIERS], ids=[c[0] for c in CARRIERS]
)
def test_restart_state(
    asked: dict[str, Any] | None, status: RestartStatus | None, carried: str, services: tuple[str, ...]
) -> None:
    found = restart_state(graph(asked), status, CARRIED)
    assert found == RestartState(id=carried, services=frozenset(services), existing={"Front": "r"})


def test_a_whole_restart_in_order_visits_each_service_once() -> None:
    asked, status, visited = graph(ORDERED), None, []
    for _ in range(4):
        status = next_restart_status(asked, status, components())
        visited.append(status.in_progress if status else ())
    assert visited == [("prefill",), ("Front",), ("decode",), ()]
    assert status == DONE
