"""What would be applied is known without a cluster."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from dynamo_operator.domain.outcome import Rejected
from dynamo_operator.domain.site import Site
from dynamo_operator.offline.rendering import render_manifest

SITE = Site(planner_cluster_role="planner")
GRAPH: dict[str, Any] = {
    "apiVersion": "nvidia.com/v1alpha1",
    "kind": "DynamoGraphDeployment",
    "metadata": {"name": "llm"},
    "spec": {"services": {"Worker": {"componentType": "worker", "replicas": 1}}},
}


def kinds(manifest: dict[str, Any]) -> list[str]:
    return [one.child.manifest["kind"] for one in render_manifest(manifest, SITE, namespace="demo")]


def test_a_graph_leads_to_its_components_and_these_to_workloads() -> None:
    rendered = kinds(GRAPH)
    assert rendered.index("DynamoComponentDeployment") < rendered.index("Deployment") < rendered.index("Service")


def test_every_object_lies_in_the_namespace_and_names_its_parent() -> None:
    rendered = list(render_manifest(GRAPH, SITE, namespace="demo"))
    assert {one.child.manifest["metadata"]["namespace"] for one in rendered} == {"demo"}
    assert {one.parent for one in rendered} == {
        "DynamoGraphDeployment demo/llm",
        "DynamoComponentDeployment demo/llm-worker",
    }


def test_a_component_of_its_own_leads_to_its_workload() -> None:
    spec = {"dynamoNamespace": "demo", "serviceName": "Worker", "componentType": "worker"}
    manifest = {**GRAPH, "kind": "DynamoComponentDeployment", "spec": spec}
    assert kinds(manifest)[0] == "Deployment"


def test_other_kinds_lead_to_nothing() -> None:
    assert kinds({**GRAPH, "kind": "DynamoModel"}) == []


def test_a_refused_graph_says_why() -> None:
    with pytest.raises(Rejected, match="at least one service"):
        kinds({**GRAPH, "spec": {}})


def test_rendering_twice_gives_the_same_and_leaves_the_input_alone() -> None:
    before = copy.deepcopy(GRAPH)
    once, twice = (list(render_manifest(GRAPH, SITE, namespace="demo")) for _ in range(2))
    assert once == twice
    assert before == GRAPH
