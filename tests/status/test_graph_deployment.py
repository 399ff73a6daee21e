"""What users read about a graph."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_operator.domain.graph import ComponentState, RestartStatus
from dynamo_operator.domain.outcome import Rejected, Violation
from dynamo_operator.status.component_state import component_problems
from dynamo_operator.status.graph_deployment import (
    parse_restart_status,
    status_of_failed_graph,
    status_of_graph,
    status_of_rejected_graph,
    status_of_waiting_graph,
)
from tests.support.graphs import EARLIER, NOW, graph_of, state

GRAPH = graph_of({"Front": {}, "w": {}})
COUNTS = {"componentKind": "Deployment", "componentName": "g-w", "replicas": 1, "updatedReplicas": 1}
WHY = "Component deployment not ready - Available condition not true"
READY = {
    "type": "Ready",
    "status": "True",
    "reason": "all_resources_are_ready",
    "message": "All resources are ready",
    "lastTransitionTime": NOW,
    "observedGeneration": 3,
}


def test_all_ready_the_graph_is_successful() -> None:
    states = [state("Front"), state("w", replicas=COUNTS)]
    status = status_of_graph(GRAPH, states, None, problems=component_problems(GRAPH, states), previous={}, now=NOW)
    assert status == {"state": "successful", "conditions": [READY], "services": {"w": COUNTS}}


WAITING: list[tuple[str, list[ComponentState], tuple[str, ...], str]] = [
    ("one unavailable: it is named", [state("w", available=False), state("Front")], (), f"g-w: {WHY}"),
    (
        "one not looked at since its change: it is named",
        [state("w", observed=False), state("Front")],
        (),
        f"g-w: {WHY}",
    ),
    ("none there yet: all are named, sorted", [], (), f"g-front: {WHY}; g-w: {WHY}"),
    ("a claim missing: named first", [state("Front")], ("c: missing",), f"c: missing; g-w: {WHY}"),
]


@pytest.mark.parametrize(("states", "claims", "text"), [w[1:] for w in WAITING], ids=[w[0] for w in WAITING])
def test_something_is_not_ready(states: list[ComponentState], claims: tuple[str, ...], text: str) -> None:
    problems = [*claims, *component_problems(GRAPH, states)]
    status = status_of_graph(GRAPH, states, None, problems=problems, previous={}, now=NOW)
    (ready,) = status["conditions"]
    assert (status["state"], ready["status"], ready["reason"]) == ("pending", "False", "some_resources_are_not_ready")
    assert ready["message"] == f"Resources not ready: {text}"


def test_nothing_changed_the_transition_time_stays() -> None:
    previous = {"conditions": [READY | {"lastTransitionTime": EARLIER}, READY | {"type": "Other"}]}
    status = status_of_graph(GRAPH, [], None, problems=[], previous=previous, now=NOW)
    assert status["conditions"] == previous["conditions"]


@pytest.mark.parametrize(
    "stored",
    [
        pytest.param("text", id="no list"),
        pytest.param([5, {"type": 1}], id="no conditions in the list"),
        pytest.param([READY | {"lastTransitionTime": 5}, {"type": "Other", "status": "True"}], id="parts are missing"),
    ],
)
def test_stored_conditions_make_no_sense_they_are_written_anew(stored: object) -> None:
    status = status_of_graph(GRAPH, [], None, problems=[], previous={"conditions": stored}, now=NOW)
    assert status["conditions"] == [READY]


def test_a_restart_is_told_while_it_runs_and_when_it_is_over() -> None:
    running = status_of_graph(GRAPH, [], RestartStatus("r", "Restarting", ("w",)), problems=[], previous={}, now=NOW)
    over = status_of_graph(GRAPH, [], RestartStatus("r", "Completed"), problems=[], previous={}, now=NOW)
    assert running["restart"] == {"observedID": "r", "phase": "Restarting", "inProgress": ["w"]}
    assert over["restart"] == {"observedID": "r", "phase": "Completed"}
    assert parse_restart_status(running["restart"]) == RestartStatus("r", "Restarting", ("w",))
    assert parse_restart_status(over["restart"]) == RestartStatus("r", "Completed")


KNOWN: dict[str, Any] = {"services": {"w": COUNTS}, "restart": {"observedID": "r"}, "conditions": [READY]}


def test_refused_or_failed_what_was_known_stays() -> None:
    refusal = Rejected(Violation("a is wrong"), Violation("b is wrong"))
    rejected = status_of_rejected_graph(refusal, previous=KNOWN, generation=4, now=NOW)
    failed = status_of_failed_graph("no quota", previous=KNOWN, generation=4, now=NOW)
    waiting = status_of_waiting_graph("not yours", previous=KNOWN, generation=4, now=NOW)
    for status, state_, reason, message in (
        (waiting, "pending", "some_resources_are_not_ready", "Resources not ready: not yours"),
        (rejected, "failed", "ValidationFailed", "Validation failed: a is wrong\nb is wrong"),
        (failed, "failed", "failed_to_reconcile_the_resources", "no quota"),
    ):
        (ready,) = status["conditions"]
        assert (status["state"], ready["reason"], ready["message"]) == (state_, reason, message)
        assert (status["services"], status["restart"]) == (KNOWN["services"], KNOWN["restart"])
        assert ready["observedGeneration"] == 4


@pytest.mark.parametrize("stored", [None, {}, [], "x"], ids=str)
def test_no_restart_stored_none_is_read(stored: object) -> None:
    assert parse_restart_status(stored) is None
