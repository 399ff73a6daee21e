"""The object through which autoscalers scale one service (specification: workloads.md 3.6)."""

from __future__ import annotations

from typing import Final

from dynamo_operator.domain.graph import Graph, Service
from dynamo_operator.domain.labels import API_VERSION, COMPONENT, GRAPH_NAME
from dynamo_operator.domain.manifest import Child, Manifest
from dynamo_operator.domain.names import component_name

REPLICAS: Final = ("spec", "replicas")


def render_scaling_adapters(graph: Graph) -> list[Child]:
    """One adapter for each service that asks for it; its replica count belongs to the autoscaler once it exists."""
    return [Child(_adapter(graph, s), initial=REPLICAS) for s in graph.services if s.scaling_adapter]


def _adapter(graph: Graph, service: Service) -> Manifest:
    return {
        "apiVersion": API_VERSION,
        "kind": "DynamoGraphDeploymentScalingAdapter",
        "metadata": {
            "name": component_name(graph.name, service.key),
            "namespace": graph.namespace,
            "labels": {GRAPH_NAME: graph.name, COMPONENT: service.key},
        },
        "spec": {
            "replicas": 1 if service.replicas is None else service.replicas,
            "dgdRef": {"name": graph.name, "serviceName": service.key},
        },
    }
