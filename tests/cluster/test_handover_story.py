"""Another operator made everything; ours takes over, and no pod notices."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.audit import AuditLog
from tests.support.bed import COMPONENT, GRAPH, Bed, condition_of, fresh_bed, gateway, graph, service
from tests.support.cluster import ControlPlane
from tests.support.handover import (
    FORMER,
    RECORDED,
    SUPERFLUOUS,
    Manifests,
    is_marked,
    left_behind,
    recorded,
    rendered,
    still_owned,
)
from tests.support.operator import CLUSTER_WIDE, operating

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

CASES = [
    "minimal",
    "model-ref",
    "extra-pod-spec",
    "env-merge-order",
    "ingress-host",
    "steps-restart-at-creation",
    "pvc-create-and-mount",
    "epp-config-map",
    "planner-rbac",
    "scaling-adapter",
    "deployment-strategy",
    "compilation-cache-vllm",
]

# Belongs to autoscalers in part, so that what the former operator owns of it stays: taking that over would be to
# remove the number.
OTHERS_IN_PART = {"DynamoGraphDeploymentScalingAdapter"}


class Inheritance:
    """The work of a former operator in a namespace, and what is left to do for ours."""

    def __init__(self, case: str, bed: Bed, manifests: Manifests) -> None:
        self.case, self.bed, self.manifests = case, bed, manifests
        left_behind(bed, manifests)

    def settle(self) -> None:
        """Wait until the pods are there, and remember what must not change."""
        self.bed.eventually(f"the pods of {self.case} are there", self._rolled_out, seconds=60)
        self.running = self._running()

    def troubles(self) -> list[str]:
        """What is not yet, or no longer, as it should be."""
        objects = {(kind, item["metadata"]["name"]): item for kind in self._kinds() for item in self.bed.items(kind)}
        return [
            f"{self.case}: {trouble}"
            for trouble in (
                *(f"state of {name} is {state}" for name, state in self._states(objects)),
                *(
                    f"{key} has finalizers"
                    for key, each in objects.items()
                    if key[0] in (GRAPH, COMPONENT)
                    if held(each)
                ),
                *(f"{key} is superfluous" for key in objects if key[0] == "Service" and key[1][-2:] in ("-p", "-d")),
                *(f"{key} has the label" for key, each in objects.items() if SUPERFLUOUS in labels(each)),
                *(f"{key} is not ours" for key in self._marked() & objects.keys() if not is_ours(objects[key])),
                *(f"{key} is gone" for key in self._marked() - objects.keys() if key[1][-2:] not in ("-p", "-d")),
                *([] if self._running() == self.running else ["pods or generations changed"]),
            )
        ]

    def _kinds(self) -> set[str]:
        return {each["kind"] for each in self.manifests} - {"Secret"}

    def _marked(self) -> set[tuple[str, str]]:
        return {(each["kind"], each["metadata"]["name"]) for each in self.manifests if is_marked(each)}

    def _states(self, objects: dict[tuple[str, str], dict[str, Any]]) -> list[tuple[str, str]]:
        """Graphs that are in another state than before, or about which our operator has said nothing yet."""
        before = {each["metadata"]["name"]: each.get("status", {}) for each in self.manifests if each["kind"] == GRAPH}
        found = {name: each for (kind, name), each in objects.items() if kind == GRAPH}
        return [
            (name, f"{found[name].get('status', {}).get('state')}: {condition_of(found[name], 'Ready').get('message')}")
            for name, status in before.items()
            if found[name].get("status", {}).get("state") != status.get("state", "successful")
            or condition_of(found[name], "Ready").get("observedGeneration") != found[name]["metadata"]["generation"]
        ]

    def _rolled_out(self) -> bool:
        claims = {each["metadata"]["name"] for each in self.bed.items("PersistentVolumeClaim")}
        return all(
            each["status"]["observedGeneration"] == each["metadata"]["generation"]
            and each["status"].get("updatedReplicas", 0) == each["spec"]["replicas"]
            and (each["status"].get("availableReplicas", 0) == each["spec"]["replicas"] or claims)
            for each in self.bed.items("Deployment")
        )

    def _running(self) -> dict[str, Any]:
        generations = {
            each["metadata"]["name"]: each["metadata"]["generation"] for each in self.bed.items("Deployment")
        }
        return {**generations, "pods": {each["metadata"]["uid"] for each in self.bed.items("Pod")}}


def held(subject: dict[str, Any]) -> bool:
    """Whether finalizers hold an object."""
    return bool(subject["metadata"].get("finalizers"))


def labels(subject: dict[str, Any]) -> dict[str, str]:
    """Labels of an object."""
    return subject["metadata"].get("labels", {})


def is_ours(subject: dict[str, Any]) -> bool:
    """Whether our operator applied an object, and the former one has nothing left to say."""
    applied = {each["manager"] for each in subject["metadata"]["managedFields"] if each["operation"] == "Apply"}
    left = subject["kind"] not in OTHERS_IN_PART and still_owned(subject, FORMER)
    return any(each.startswith("dynamo-operator") for each in applied) and not left


def test_former_operators_work_is_taken_over_and_no_pod_notices(whole_cluster: ControlPlane, tmp_path: Path) -> None:
    hand_over(whole_cluster, tmp_path, {"self-made": self_made})


@pytest.mark.skipif(not RECORDED.exists(), reason="the recordings of release 0.9 do not lie beside the checkout")
def test_recorded_work_of_release_0_9_is_taken_over(whole_cluster: ControlPlane, tmp_path: Path) -> None:
    hand_over(whole_cluster, tmp_path, {name: partial(recorded, name) for name in CASES})


def hand_over(plane: ControlPlane, folder: Path, works: dict[str, Callable[[str], Manifests]]) -> None:
    """Leave works behind, each in its own namespace, and start our operator; it takes over once and for all."""
    with ExitStack() as stack:
        url = stack.enter_context(gateway(plane))
        beds = {name: stack.enter_context(fresh_bed(plane, url)) for name in works}
        inheritances = [Inheritance(name, beds[name], work(beds[name].namespace)) for name, work in works.items()]
        for each in inheritances:
            each.settle()
        operator = stack.enter_context(operating(plane.operator_kubeconfig, folder, *CLUSTER_WIDE))
        log = AuditLog(plane, *(bed.namespace for bed in beds.values()))
        for each in inheritances:
            wait_for_no_troubles(each)
        log.quiet(3.0)
        log.forget()
        operator.restart()
        log.quiet(3.0)
        assert log.writes() == []
        assert [trouble for each in inheritances for trouble in each.troubles()] == []


def wait_for_no_troubles(inheritance: Inheritance) -> None:
    """Return when the takeover is complete."""
    inheritance.bed.explain = lambda: "\n".join(inheritance.troubles())
    inheritance.bed.eventually("everything is taken over", lambda: not inheritance.troubles())


def self_made(namespace: str) -> Manifests:
    """The work of the former operator without any recording of it."""
    exposed = service("frontend", ingress={"enabled": True, "host": "chat", "ingressControllerClassName": "nginx"})
    adapted = service(replicas=2, scalingAdapter={"enabled": True}, modelRef={"name": "Qwen/Qwen3-0.6B"})
    return rendered(graph("llm", Frontend=exposed, Worker=adapted), namespace)
