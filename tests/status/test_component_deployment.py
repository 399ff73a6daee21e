"""What users read about a component."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_operator.domain.component import Component
from dynamo_operator.domain.outcome import Rejected, Violation
from dynamo_operator.render.workloads.registry import WORKLOADS
from dynamo_operator.status.component_deployment import (
    status_of_component,
    status_of_failed_component,
    status_of_rejected_component,
)
from dynamo_operator.status.component_state import component_state_of
from dynamo_operator.status.deployment import deployment_ready
from dynamo_operator.status.leader_worker_set import set_ready
from tests.support.graphs import EARLIER, NOW, state

AVAILABLE = {"type": "Available", "status": "True"}


def deployment(spec: dict[str, Any] | None = None, name: str = "g-w", **status: Any) -> dict[str, Any]:
    counts = {"observedGeneration": 2, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2}
    return {
        "metadata": {"name": name, "generation": 2},
        "spec": {"replicas": 2} if spec is None else spec,
        "status": counts | {"conditions": [AVAILABLE]} | status,
    }


CASES: list[tuple[str, dict[str, Any], bool]] = [
    ("no Deployment: not ready", {}, False),
    ("all there: ready", deployment(), True),
    ("paused: not ready", deployment({"replicas": 2, "paused": True}), False),
    ("none wanted: ready", deployment({"replicas": 0}, replicas=3), True),
    ("count not said: one is wanted", deployment({}, replicas=1, updatedReplicas=1, availableReplicas=1), True),
    ("newest spec not seen: not ready", deployment(observedGeneration=1), False),
    ("one still old: not ready", deployment(updatedReplicas=1), False),
    ("one not available: not ready", deployment(availableReplicas=1), False),
    ("one too many: not ready", deployment(replicas=3), False),
    ("not available as a whole: not ready", deployment(conditions=[AVAILABLE | {"status": "False"}]), False),
    ("no word of being available: not ready", deployment(conditions=[]), False),
]


@pytest.mark.parametrize(("body", "ready"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_deployment_ready(body: dict[str, Any], ready: bool) -> None:
    assert deployment_ready(body) is ready


def leader_worker_set(spec: dict[str, Any] | None = None, **status: Any) -> dict[str, Any]:
    counts = {"replicas": 1, "updatedReplicas": 1, "readyReplicas": 1}
    return {
        "metadata": {"generation": 2},
        "spec": {"replicas": 1} if spec is None else spec,
        "status": counts | {"conditions": [AVAILABLE]} | status,
    }


SETS: list[tuple[str, dict[str, Any], bool]] = [
    ("all there: ready", leader_worker_set(), True),
    ("none wanted: ready", leader_worker_set({"replicas": 0}, readyReplicas=0), True),
    ("count not said: one is wanted", leader_worker_set({}, readyReplicas=0), False),
    ("newest spec not seen: not ready", leader_worker_set(observedGeneration=1), False),
    ("newest spec seen: ready", leader_worker_set(observedGeneration=2), True),
    ("still old: not ready", leader_worker_set(updatedReplicas=0), False),
    ("not available as a whole: not ready", leader_worker_set(conditions=[]), False),
]


@pytest.mark.parametrize(("body", "ready"), [c[1:] for c in SETS], ids=[c[0] for c in SETS])
def test_set_ready(body: dict[str, Any], ready: bool) -> None:
    assert set_ready(body) is ready


def status_of(kind: str, *objects: dict[str, Any], previous: dict[str, Any] | None = None) -> dict[str, Any]:
    component = Component(namespace="ns", name="g-w")
    return dict(status_of_component(component, objects, kind=kind, previous=previous or {}, generation=5, now=NOW))


def said(status: dict[str, Any]) -> list[tuple[str, ...]]:
    return [(c["type"], c["status"], c["reason"], c["message"]) for c in status["conditions"]]


VALID = ("Valid", "True", "ValidationPassed", "DynamoComponentDeployment spec is valid")


def test_ready_component_says_so_with_counts() -> None:
    status = status_of("Deployment", deployment(name="g-w-d", readyReplicas=7), deployment())
    assert said(status) == [VALID, ("Available", "True", "DeploymentReady", "Deployment is ready")]
    assert status["observedGeneration"] == 5
    assert status["service"] == {
        "componentKind": "Deployment",
        "componentName": "g-w",
        **dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), 2),
    }


def test_unready_component_counts_nothing_as_zero() -> None:
    status = status_of("Deployment", {"metadata": {"name": "g-w", "generation": 1}, "spec": {"replicas": 1}})
    assert status["service"]["availableReplicas"] == 0
    assert said(status)[1] == ("Available", "False", "DeploymentNotReady", "Deployment is not ready")


def test_sets_are_counted_together_and_one_is_not_ready_so_none_is() -> None:
    status = status_of("LeaderWorkerSet", leader_worker_set(), leader_worker_set(readyReplicas=0), leader_worker_set())
    reason = ("SomeLeaderWorkerSetsNotReady", "Some LeaderWorkerSets are not ready")
    assert said(status) == [VALID, ("Available", "False", *reason)]
    assert status["service"] == {
        "componentKind": "LeaderWorkerSet",
        "componentName": "g-w-0",
        "replicas": 3,
        "updatedReplicas": 3,
        "readyReplicas": 2,
    }


def test_no_set_is_wanted_so_all_are_ready_and_the_former_counts_go() -> None:
    status = status_of("LeaderWorkerSet", previous={"service": {"replicas": 1}})
    assert said(status)[1] == ("Available", "True", "AllLeaderWorkerSetsReady", "All LeaderWorkerSets are ready")
    assert "service" not in status


def test_each_workload_has_its_status() -> None:
    for workload in WORKLOADS:
        assert status_of(workload.kind)["conditions"]


BEFORE = {"type": "Available", "status": "True", "reason": "r", "message": "m", "lastTransitionTime": EARLIER}
PREVIOUS = {
    "conditions": [BEFORE],
    "observedGeneration": 1,
    "service": {"replicas": 1},
}


def test_refused_component_keeps_what_was_known() -> None:
    status = status_of_rejected_component(Rejected(Violation("bad")), previous=PREVIOUS, generation=2, now=NOW)
    available, valid = status["conditions"]
    assert available == BEFORE
    assert (valid["status"], valid["reason"], valid["message"]) == (
        "False",
        "ValidationFailed",
        "Validation failed: bad",
    )
    assert (status["observedGeneration"], status["service"]) == (1, {"replicas": 1})


def test_failed_component_is_not_available_and_has_not_seen_its_generation() -> None:
    status = status_of_failed_component("oops", previous=PREVIOUS, generation=2, now=NOW)
    available, valid = status["conditions"]
    assert (available["status"], available["reason"]) == ("False", "Reconciling")
    assert available["message"] == "Failed to reconcile DynamoComponentDeployment: oops"
    assert (available["lastTransitionTime"], valid["status"], status["observedGeneration"]) == (NOW, "True", 1)


def test_state_is_read_back() -> None:
    body = {
        "metadata": {"name": "g-w", "generation": 2},
        "spec": {"serviceName": "W", "annotations": {"nvidia.com/restartAt": "r"}},
        "status": {"observedGeneration": 2, "conditions": [AVAILABLE | {"message": "m"}], "service": {"replicas": 1}},
    }
    assert component_state_of(body) == state("W", message="m", replicas={"replicas": 1}, restart_id="r")
    assert component_state_of({"status": [], "spec": {"serviceName": 1}}).service == ""
    assert not component_state_of({"metadata": {"generation": 3}, "status": {"observedGeneration": 2}}).observed
