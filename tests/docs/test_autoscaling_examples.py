"""Autoscalers of the examples scale adapters that their graphs get.

No test cluster has KEDA, so that the fields of a ScaledObject are checked here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from dynamo_operator.domain.site import Offers, Site
from dynamo_operator.offline.rendering import render_manifest

FOLDER = Path(__file__).parents[2] / "examples" / "autoscaling"
TEXT, NUMBER, FLAG = str, int, bool
# What KEDA 2 takes, as far as examples may need it (keda.sh/v1alpha1 ScaledObject).
KEDA: dict[str, Any] = {
    "scaleTargetRef": {"apiVersion": TEXT, "kind": TEXT, "name": TEXT, "envSourceContainerName": TEXT},
    "pollingInterval": NUMBER,
    "cooldownPeriod": NUMBER,
    "initialCooldownPeriod": NUMBER,
    "idleReplicaCount": NUMBER,
    "minReplicaCount": NUMBER,
    "maxReplicaCount": NUMBER,
    "triggers": [{"type": TEXT, "name": TEXT, "useCachedMetrics": FLAG, "metricType": TEXT, "metadata": {"*": TEXT}}],
}


def documents(kind: str) -> list[dict[str, Any]]:
    found = [yaml.safe_load(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.yaml"))]
    return [document for document in found if document["kind"] == kind]


def adapters(offers: Offers) -> set[str]:
    """Names of the adapters that the graphs of the folder get."""
    site = Site(planner_cluster_role="planner", offers=offers)
    graphs = documents("DynamoGraphDeployment")
    rendered = [one.child.manifest for graph in graphs for one in render_manifest(graph, site, namespace="llm")]
    return {each["metadata"]["name"] for each in rendered if each["kind"] == "DynamoGraphDeploymentScalingAdapter"}


@pytest.mark.parametrize("offers", [Offers(), Offers(grove=True)], ids=["components", "cliques"])
@pytest.mark.parametrize("kind", ["HorizontalPodAutoscaler", "ScaledObject"])
def test_target_is_an_adapter_of_a_graph_beside_it(kind: str, offers: Offers) -> None:
    targets = [document["spec"]["scaleTargetRef"] for document in documents(kind)]
    assert targets
    assert {target["name"] for target in targets} <= adapters(offers)
    kinds = {(target["apiVersion"], target["kind"]) for target in targets}
    assert kinds == {("nvidia.com/v1alpha1", "DynamoGraphDeploymentScalingAdapter")}


def strangers(value: Any, schema: Any, path: str) -> Iterator[str]:
    """Paths that KEDA does not know, or whose values it does not take."""
    if isinstance(schema, dict) and isinstance(value, dict):
        for key, member in value.items():
            known = schema.get(key, schema.get("*"))
            yield from [f"{path}.{key}"] if known is None else strangers(member, known, f"{path}.{key}")
    elif isinstance(schema, list) and isinstance(value, list):
        for member in value:
            yield from strangers(member, schema[0], f"{path}[]")
    elif not isinstance(schema, type) or type(value) is not schema:
        yield path


def test_scaled_object_is_one_that_keda_takes() -> None:
    (document,) = documents("ScaledObject")
    assert document["apiVersion"] == "keda.sh/v1alpha1"
    assert list(strangers(document["spec"], KEDA, "spec")) == []
    assert document["spec"]["minReplicaCount"] <= document["spec"]["maxReplicaCount"]


def test_services_with_an_adapter_leave_their_number_to_it() -> None:
    services = [each for graph in documents("DynamoGraphDeployment") for each in graph["spec"]["services"].values()]
    scaled = [service for service in services if service.get("scalingAdapter", {}).get("enabled")]
    assert scaled
    assert [service for service in scaled if "replicas" in service] == []
