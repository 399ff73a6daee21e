"""Which changes of a graph admission refuses."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_operator.check.graph_update import UpdateVerdict, check_framework_update, check_graph_update
from tests.support.graphs import source

Spec = dict[str, Any]
ACCOUNT = "system:serviceaccount:x:"
IMMUTABLE = "spec.backendFramework is immutable and cannot be changed after creation"
NODES = "cannot change node topology (between single-node and multi-node) after creation"
CHANGED = "service topology is immutable and cannot be modified after creation: services"
REPLICAS = (
    "spec.services[main].replicas cannot be modified directly when scaling adapter is enabled; "
    "scale or update the related DynamoGraphDeploymentScalingAdapter instead"
)


def services(*keys: str) -> Spec:
    return {"services": {key: {} for key in keys}}


def scaled(replicas: int | None, *, adapter: bool = True) -> Spec:
    count = {} if replicas is None else {"replicas": replicas}
    return {"services": {"main": {"scalingAdapter": {"enabled": adapter}, **count}}}


def nodes(count: int) -> Spec:
    return {"services": {"main": {"multinode": {"nodeCount": count}}}}


CASES: list[tuple[str, Spec, Spec, str, str]] = [
    ("framework set later: refused", services("a"), services("a") | {"backendFramework": "vllm"}, "", IMMUTABLE),
    ("framework kept empty: allowed", services("a"), services("a") | {"backendFramework": ""}, "", ""),
    ("one node to several: refused", services("main"), nodes(2), "", f"spec.services[main] {NODES}"),
    ("more nodes: allowed", nodes(2), nodes(4), "", ""),
    ("a service added: refused", services("c"), services("c", "b", "a"), "", f"{CHANGED} added: [a b]"),
    ("a service removed: refused", services("c", "d"), services("d"), "", f"{CHANGED} removed: [c]"),
    ("both: both said", services("a", "c"), services("a", "f"), "", f"{CHANGED} added: [f], services removed: [c]"),
    (
        "framework and services: the first group only",
        services("a"),
        services("b") | {"backendFramework": "vllm"},
        "",
        IMMUTABLE,
    ),
    ("a user scales a protected service: refused", scaled(1), scaled(2), "alice", REPLICAS),
    ("nobody known scales it: refused", scaled(1), scaled(2), "", REPLICAS),
    ("the operator scales it: allowed", scaled(1), scaled(2), f"{ACCOUNT}rel-dynamo-operator-controller-manager", ""),
    (
        "no dash in its name: refused",
        scaled(1),
        scaled(2),
        f"{ACCOUNT}dynamo-operator-controller-manager",
        REPLICAS,
    ),
    ("the planner scales it: allowed", scaled(1), scaled(2), f"{ACCOUNT}planner-serviceaccount", ""),
    ("a part too many in the name: refused", scaled(1), scaled(2), f"{ACCOUNT}x:planner-serviceaccount", REPLICAS),
    ("protection goes with the change: allowed", scaled(1), scaled(2, adapter=False), "alice", ""),
    ("protection comes with the change: refused", scaled(1, adapter=False), scaled(2), "alice", REPLICAS),
    ("one said instead of nothing: allowed", scaled(None), scaled(1), "alice", ""),
    ("three dropped: refused", scaled(3), scaled(None), "alice", REPLICAS),
    ("an old graph of another shape: allowed", {"services": []}, scaled(2), "alice", ""),
]


@pytest.mark.parametrize(("old", "new", "user", "text"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_change(old: Spec, new: Spec, user: str, text: str) -> None:
    verdict = check_graph_update(source(old), source(new), user=user)
    assert "\n".join(v.message for v in verdict.violations) == text
    assert bool(verdict.warnings) == (text == IMMUTABLE)


def test_framework_and_nodes_change_both_are_said() -> None:
    verdict = check_graph_update(source(services("main")), source(nodes(2) | {"backendFramework": "vllm"}))
    assert [v.message for v in verdict.violations] == [IMMUTABLE, f"spec.services[main] {NODES}"]
    assert verdict.warnings == ("Changing spec.backendFramework may cause unexpected behavior",)


def test_component_keeps_its_framework() -> None:
    assert check_framework_update(source({"backendFramework": "vllm"}), source({"backendFramework": "vllm"})) == (
        UpdateVerdict()
    )
