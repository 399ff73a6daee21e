"""How far a graph is under Grove."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dynamo_operator.domain.graph import ComponentState
from dynamo_operator.domain.pathway import CliquesThere
from dynamo_operator.status.clique_state import GangObjects, clique_pod, clique_states, cliques_there, gang_problems
from tests.support.graphs import graph_of

GRAPH = graph_of({"Front": {"replicas": 2}, "Work": {"replicas": 2, "multinode": {"nodeCount": 2}}})
SEEN = {"metadata": {"generation": 2}, "status": {"observedGeneration": 2}}


def running(count: str, copies: int = 2, **status: Any) -> dict[str, Any]:
    """A PodClique or scaling group of which all copies run, unless said otherwise."""
    counts = {"replicas": copies, "updatedReplicas": copies, count: copies, "observedGeneration": 3}
    return {"metadata": {"generation": 3}, "spec": {"replicas": copies}, "status": counts | status}


def there(gang: dict[str, Any] | None = None, **front: Any) -> GangObjects:
    """Both services run, unless the first is said to be otherwise."""
    clique = {**running("readyReplicas"), **front}
    groups = {"g-0-work": running("availableReplicas")}
    return GangObjects(SEEN if gang is None else gang, {"g-0-front": clique}, groups)


def states(objects: GangObjects) -> dict[str, ComponentState]:
    return {state.service: state for state in clique_states(GRAPH, objects)}


def test_all_run_nothing_is_waited_for_and_both_are_counted() -> None:
    found = clique_states(GRAPH, there())
    assert gang_problems(GRAPH, found, there()) == []
    assert [(state.observed, state.available, state.message) for state in found] == [(True, True, "")] * 2
    assert [state.replicas for state in found] == [
        {
            "componentKind": "PodClique",
            "componentName": "g-0-front",
            "replicas": 2,
            "updatedReplicas": 2,
            "readyReplicas": 2,
        },
        {
            "componentKind": "PodCliqueScalingGroup",
            "componentName": "g-0-work",
            "replicas": 2,
            "updatedReplicas": 2,
            "availableReplicas": 2,
        },
    ]


def test_nothing_is_there_yet_all_services_are_named_and_counted_as_none() -> None:
    found = clique_states(GRAPH, GangObjects())
    reasons = "podclique/g-0-front: resource not found; pcsg/g-0-work: resource not found"
    assert gang_problems(GRAPH, found, GangObjects()) == [f"g: {reasons}"]
    assert found[0].replicas == {
        "componentKind": "PodClique",
        "componentName": "g-0-front",
        "replicas": 0,
        "updatedReplicas": 0,
        "readyReplicas": 0,
    }


CROWDED = running("readyReplicas", replicas=3)
REASONS: list[tuple[str, dict[str, Any], str]] = [
    ("Grove has not looked: said", running("readyReplicas", observedGeneration=None), "observedGeneration is nil"),
    (
        "Grove has not looked since a change: said",
        running("readyReplicas", observedGeneration=2),
        "spec not yet processed: generation=3, observedGeneration=2",
    ),
    ("too few ready: how many is said", running("readyReplicas", readyReplicas=1), "desired=2, ready=1"),
    ("too few updated: how many is said", running("readyReplicas", updatedReplicas=1), "desired=2, updated=1"),
    ("too many there: it is being rolled", CROWDED, "performing rolling update: desired=2, replicas=3"),
    ("not scaled yet: what the graph wants is said", running("readyReplicas", 1), "desired=2, ready=1"),
]


@pytest.mark.parametrize(("front", "reason"), [r[1:] for r in REASONS], ids=[r[0] for r in REASONS])
def test_why_a_service_is_not_ready(front: dict[str, Any], reason: str) -> None:
    objects = there(**front)
    found = clique_states(GRAPH, objects)
    assert gang_problems(GRAPH, found, objects) == [f"g: podclique/g-0-front: {reason}"]


def test_zero_wanted_and_zero_there_ready_whatever_else_is_counted() -> None:
    graph = graph_of({"w": {"replicas": 0}})
    clique = running("readyReplicas", 0, updatedReplicas=1)
    assert clique_states(graph, GangObjects(SEEN, {"g-0-w": clique}))[0].available


def test_somebody_else_scales_its_number_counts() -> None:
    graph = graph_of({"w": {}})
    assert clique_states(graph, GangObjects(SEEN, {"g-0-w": running("readyReplicas", 5)}))[0].available


def test_the_set_was_changed_and_grove_has_not_looked_that_alone_is_said() -> None:
    stale = {"metadata": {"generation": 3}, "status": {"observedGeneration": 2}}
    objects = there(stale)
    assert gang_problems(GRAPH, clique_states(GRAPH, objects), objects) == [
        "g: spec not yet processed: generation=3, observedGeneration=2"
    ]


NEWEST = {**SEEN, "status": {"observedGeneration": 2, "currentGenerationHash": "new"}}
OLD = running("readyReplicas", currentPodCliqueSetGenerationHash="old")
NEW = running("readyReplicas", currentPodCliqueSetGenerationHash="new")
ROLLED: list[tuple[str, GangObjects, bool]] = [
    ("no set: no", there({}), False),
    ("the set never looked at: no", there({"metadata": {"generation": 1}}), False),
    ("Grove does not tell: yes", there(), True),
    ("still at the former set: no", there(NEWEST, **OLD), False),
    ("at the newest set: yes", there(NEWEST, **NEW), True),
]


@pytest.mark.parametrize(("objects", "observed"), [r[1:] for r in ROLLED], ids=[r[0] for r in ROLLED])
def test_a_service_is_rolled_to_the_newest_set(objects: GangObjects, observed: bool) -> None:
    assert states(objects)["Front"].observed is observed


def test_a_set_that_somebody_deletes_is_said_instead_of_its_state() -> None:
    leaving = replace(there(), leaving=True)
    wanted = ["g: its PodCliqueSet is being deleted, and is made anew when Grove has let go of it"]
    assert gang_problems(GRAPH, clique_states(GRAPH, leaving), leaving) == wanted


def test_what_a_set_has_settled_is_read_back() -> None:
    template = [
        {"name": "work-ldr", "annotations": {"nvidia.com/restartAt": "r"}, "spec": {"minAvailable": 1, "podSpec": {}}},
        {"name": "work-wkr", "spec": {"minAvailable": 2, "podSpec": {"schedulerName": "kai"}}},
        {"name": "front", "spec": {"podSpec": {"serviceAccountName": "mine"}}},
    ]
    gang = {"spec": {"template": {"cliques": template}}}
    wanted = CliquesThere(("work-ldr", "work-wkr", "front"), {"work-ldr": 1, "work-wkr": 2}, frozenset({"", "kai"}))
    assert cliques_there(gang) == wanted
    assert cliques_there({}) == CliquesThere()
    assert clique_pod(gang, GRAPH.services[0]) == {"serviceAccountName": "mine"}
    assert {key: state.restart_id for key, state in states(there(gang)).items()} == {"Front": "", "Work": "r"}
