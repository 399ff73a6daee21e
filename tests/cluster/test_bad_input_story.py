"""Whatever users store, the operator says what is wrong with it, does not hammer the API server, and serves others."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.audit import AuditLog
from tests.support.bed import COMPONENT, GRAPH, Bed, condition_of, graph, service, services_patch
from tests.support.dump import owned_by

pytestmark = pytest.mark.cluster

# More than this in a few seconds is a storm; a broken graph is looked at a few times with growing pauses.
CALM = 100


def said(bed: Bed, name: str) -> dict[str, Any]:
    """What the graph says about its newest spec; empty as long as it says nothing."""
    found = bed.read(GRAPH, name) or {}
    condition = condition_of(found, "Ready")
    return condition if condition.get("observedGeneration") == found["metadata"]["generation"] else {}


def complaint(bed: Bed, name: str) -> dict[str, Any]:
    """The condition with which a graph is not ready, as soon as it says more than that pods are not there yet."""
    harmless = ("some_resources_are_not_ready", "all_resources_are_ready")

    def complained() -> dict[str, Any]:
        found = said(bed, name)
        return {} if found["reason"] in harmless else found

    return bed.eventually(f"{name} complains", complained)


def warnings(bed: Bed, name: str) -> set[tuple[str, str]]:
    """Reason and message of the warnings about a graph."""
    return {
        (item["reason"], item["message"])
        for item in bed.items("Event")
        if item["type"] == "Warning" and item["involvedObject"]["name"] == name
    }


BROKEN = [
    ("shm", "shared memory without a size", {"Worker": {"sharedMemory": {"disabled": False}}}, "sharedMemory.size"),
    (
        "hostless",
        "ingress without a host",
        {"Frontend": {"ingress": {"enabled": True}}},
        "spec.services[Frontend].ingress.host",
    ),
    ("placeless", "mount without a place", {"Worker": {"volumeMounts": [{"name": "v"}]}}, "volumeMounts[0].mountPoint"),
    ("empty", "no services", {"Worker": None, "Frontend": None}, "spec.services"),
]


@pytest.mark.parametrize(("name", "change", "path"), [pytest.param(row[0], *row[2:], id=row[1]) for row in BROKEN])
def test_rule_is_broken_by_a_change_what_runs_stays_and_the_field_is_named(
    stage: Bed, name: str, change: dict[str, Any], path: str
) -> None:
    stage.create(graph(name, Frontend=service("frontend"), Worker=service()))
    stage.comes_to_rest(name)
    children = versions_below(stage, name)
    log = AuditLog(stage.plane, stage.namespace)
    stage.patch(GRAPH, name, services_patch(**change))
    condition = complaint(stage, name)
    assert (condition["status"], condition["reason"]) == ("False", "ValidationFailed")
    assert path in condition["message"]
    event = ("ValidationFailed", condition["message"].removeprefix("Validation failed: "))
    stage.eventually("the warning", lambda: event in warnings(stage, name))
    log.quiet(3.0)
    assert versions_below(stage, name) == children
    stage.patch(GRAPH, name, services_patch(Frontend=service("frontend") | {"ingress": None}, Worker=mended()))
    stage.becomes_ready(name)


def mended() -> dict[str, Any]:
    """A patch that makes a worker whole again."""
    return service() | {"volumeMounts": None, "sharedMemory": None}


def versions_below(bed: Bed, name: str) -> dict[str, str]:
    """Generation or version of everything below a graph, statuses aside."""
    found = {child: bed.read(*child.split("/")) or {} for child in owned_by(bed, name)}
    return {
        child: str(each["metadata"].get("generation", each["metadata"]["resourceVersion"]))
        for child, each in found.items()
    }


def test_name_is_too_long_for_a_child_the_graph_says_so_without_a_storm(stage: Bed) -> None:
    name = "n" * 60
    log = AuditLog(stage.plane, stage.namespace)
    stage.create(graph(name, Frontend=service("frontend"), Worker=service()))
    condition = stage.eventually("it says something", lambda: said(stage, name))
    assert condition["status"] == "False"
    log.quiet(2.0)
    assert len(log.requests()) < CALM


def test_two_keys_differ_in_case_only_the_graph_says_so_without_a_storm(stage: Bed) -> None:
    log = AuditLog(stage.plane, stage.namespace)
    stage.create(graph("twins", Worker=service(), worker=service()))
    condition = complaint(stage, "twins")
    assert (condition["status"], "Worker" in condition["message"]) == ("False", True)
    log.quiet(2.0)
    assert len(log.requests()) < CALM


def test_graph_of_nearly_the_size_that_can_be_stored_is_served(stage: Bed) -> None:
    args = [f"--argument-{number}={'x' * 1000}" for number in range(1400)]
    stage.create(graph("huge", Worker=service(main={"args": args})))
    stage.comes_to_rest("huge")
    deployment = stage.read("Deployment", "huge-worker") or {}
    assert deployment["spec"]["template"]["spec"]["containers"][0]["args"] == args


def test_unknown_field_is_dropped_with_a_warning(stage: Bed) -> None:
    manifest = graph("odd", Worker=service(replica=3))
    answer = stage.send("POST", stage.path(GRAPH), manifest, fieldValidation="Warn")
    assert 'unknown field "spec.services.Worker.replica"' in answer.headers["Warning"].replace("\\", "")
    stage.comes_to_rest("odd")
    assert "replica" not in (stage.read(GRAPH, "odd") or {})["spec"]["services"]["Worker"]


LABELS = {"app": "theirs"}
POD = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "theirs", "image": "example.com/theirs:1"}]}}
RBAC = "rbac.authorization.k8s.io/v1"
FOREIGN: dict[str, dict[str, Any]] = {
    "Deployment": {"spec": {"replicas": 0, "selector": {"matchLabels": LABELS}, "template": POD}},
    "Service": {"spec": {"selector": LABELS, "ports": [{"port": 80}]}},
    COMPONENT: {"spec": service(replicas=0)},
    "ServiceAccount": {},
    "Role": {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]},
    "RoleBinding": {"roleRef": {"apiGroup": RBAC.partition("/")[0], "kind": "ClusterRole", "name": "view"}},
}


@pytest.mark.parametrize(
    ("version", "kind", "suffix"),
    [
        pytest.param("apps/v1", "Deployment", "worker", id="a Deployment"),
        pytest.param("v1", "Service", "worker", id="a Service"),
        pytest.param("nvidia.com/v1alpha1", COMPONENT, "worker", id="a component"),
        pytest.param("v1", "ServiceAccount", "k8s-service-discovery", id="a ServiceAccount"),
        pytest.param(RBAC, "Role", "k8s-service-discovery-role", id="a Role"),
        pytest.param(RBAC, "RoleBinding", "k8s-service-discovery-binding", id="a RoleBinding"),
    ],
)
def test_name_of_a_child_is_taken_it_is_left_alone_and_the_graph_recovers_when_it_goes(
    stage: Bed, version: str, kind: str, suffix: str
) -> None:
    name = f"taken-{kind.lower()}"
    child = f"{name}-{suffix}"
    manifest = {"apiVersion": version, "kind": kind, "metadata": {"name": child}, **FOREIGN[kind]}
    theirs = stage.create(manifest)
    stage.create(graph(name, Worker=service()))
    complaint = f"{child} was not made by us: delete or rename it"
    stage.eventually("somebody complains", lambda: complaint in complaints(stage, name))
    stage.eventually("a warning", lambda: warnings(stage, name) | warnings(stage, f"{name}-worker"))
    found = stage.read(kind, child) or {}
    assert touched_by_users(found) == touched_by_users(theirs)
    stage.delete(kind, child)
    stage.becomes_ready(name, seconds=60)


def touched_by_users(manifest: dict[str, Any]) -> dict[str, Any]:
    """What an object says apart from what controllers and the API server keep in it."""
    meta = {part: manifest["metadata"].get(part) for part in ("uid", "labels", "ownerReferences")}
    return {"meta": meta} | {part: manifest[part] for part in manifest.keys() - {"metadata", "status"}}


def complaints(bed: Bed, name: str) -> str:
    """All messages of conditions of a graph and its worker."""
    subjects = (bed.read(GRAPH, name), bed.read(COMPONENT, f"{name}-worker"))
    conditions = [each for subject in subjects if subject for each in subject.get("status", {}).get("conditions", [])]
    return "\n".join(each["message"] for each in conditions)
