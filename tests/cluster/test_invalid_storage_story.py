"""Objects that no schema would let in are stored all the same, by an older definition: they are reported, no more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.audit import AuditLog
from tests.support.bed import COMPONENT, GRAPH, Bed, condition_of, graph, image, service, services_patch
from tests.support.operator import CLUSTER_WIDE, operating

pytestmark = pytest.mark.cluster

DEFINITIONS = "apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
SCHEMA = "/spec/versions/0/schema/openAPIV3Schema"

# Name, spec, and what the complaint has to name.
GRAPHS: list[tuple[str, Any, str]] = [
    ("no-spec", None, "spec.services"),
    ("spec-is-text", "text", "spec"),
    ("services-is-a-list", {"services": ["a"]}, "spec.services"),
    ("service-is-text", {"services": {"A": "text"}}, "spec.services"),
    ("replicas-is-text", {"services": {"A": service(replicas="two")}}, "spec.services[A].replicas"),
    ("type-is-a-number", {"services": {"A": service() | {"componentType": 5}}}, "spec.services[A].componentType"),
    ("pod-is-text", {"services": {"A": {"extraPodSpec": "text"}}}, "spec.services[A].extraPodSpec"),
    ("resources-is-a-list", {"services": {"A": service(resources=[])}}, "spec.services[A].resources"),
    ("claims-is-text", {"services": {"A": service()}, "pvcs": "text"}, "spec.pvcs"),
    ("variables-is-a-map", {"services": {"A": service()}, "envs": {}}, "spec.envs"),
    ("restart-is-text", {"services": {"A": service()}, "restart": "now"}, "spec.restart"),
    ("labels-are-numbers", {"services": {"A": service(labels={"a": 1})}}, "spec.services[A].labels"),
]
COMPONENTS: list[tuple[str, Any, str]] = [
    ("lone-replicas", {"replicas": "two"}, "spec.replicas"),
    ("lone-mounts", {"volumeMounts": {"a": 1}}, "spec.volumeMounts"),
]
# Statuses that make no sense are written anew.
STATUSES: list[Any] = [
    {"conditions": "text", "state": 5},
    {"conditions": [{"type": 1}], "services": []},
    {"restart": "text"},
]


def test_stored_objects_of_any_shape_are_reported_and_others_are_served(whole_bed: Bed, tmp_path: Path) -> None:
    with loosened(whole_bed, GRAPH), loosened(whole_bed, COMPONENT):
        for name, spec, _ in GRAPHS:
            whole_bed.create(stored(GRAPH, name, spec))
        for name, spec, _ in COMPONENTS:
            whole_bed.create(stored(COMPONENT, name, spec))
        for number, status in enumerate(STATUSES):
            made = whole_bed.create(graph(f"status-{number}", A=service()))
            whole_bed.replace({**made, "status": status}, "status")
    with operating(whole_bed.plane.operator_kubeconfig, tmp_path, *CLUSTER_WIDE) as operator:
        whole_bed.explain = operator.last_words
        whole_bed.create(graph("good", A=service()))
        for kind, rows in ((GRAPH, GRAPHS), (COMPONENT, COMPONENTS)):
            for name, _, path in rows:
                whole_bed.eventually(
                    f"{name} is reported", lambda k=kind, n=name, p=path: p in refusal(whole_bed, k, n)
                )
        for number in range(len(STATUSES)):
            whole_bed.becomes_ready(f"status-{number}")
        whole_bed.patch(GRAPH, "good", services_patch(A=image("registry.example/runtime:2")))
        whole_bed.comes_to_rest("good")
        AuditLog(whole_bed.plane).quiet(3.0)


def stored(kind: str, name: str, spec: Any) -> dict[str, Any]:
    """An object with any spec, or none."""
    manifest: dict[str, Any] = {"apiVersion": "nvidia.com/v1alpha1", "kind": kind, "metadata": {"name": name}}
    return manifest if spec is None else {**manifest, "spec": spec}


def refusal(bed: Bed, kind: str, name: str) -> str:
    """With which words a refused object says so; empty when it does not."""
    said = condition_of(bed.read(kind, name) or {}, "Ready" if kind == GRAPH else "Valid")
    return said["message"] if (said["status"], said["reason"]) == ("False", "ValidationFailed") else ""


@contextmanager
def loosened(bed: Bed, kind: str) -> Iterator[None]:
    """A definition that lets everything in, until the block ends."""
    path = f"{DEFINITIONS}/{kind.lower()}s.nvidia.com"
    schema = bed.send("GET", path).json()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    write_schema(bed, path, ANYTHING)
    try:
        bed.eventually(f"any {kind} is taken", lambda: accepted(bed, kind))
        yield
    finally:
        write_schema(bed, path, schema)
        bed.eventually(f"not any {kind} is taken", lambda: not accepted(bed, kind))


def write_schema(bed: Bed, path: str, schema: dict[str, Any]) -> None:
    """Replace the schema of a definition."""
    patch = [{"op": "replace", "path": SCHEMA, "value": schema}]
    assert bed.send("PATCH", path, patch, media="application/json-patch+json").ok


def accepted(bed: Bed, kind: str) -> bool:
    """Whether an object that makes no sense would be stored."""
    return bed.send("POST", bed.path(kind), stored(kind, "probe", "text"), dryRun="All").ok
