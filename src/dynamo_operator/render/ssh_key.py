"""Whether a graph needs the key pair by which nodes reach each other (specification: workloads.md 11)."""

from __future__ import annotations

from dynamo_operator.domain.component import Component
from dynamo_operator.domain.graph import Graph, Service
from dynamo_operator.domain.names import component_name
from dynamo_operator.domain.outcome import Unrenderable
from dynamo_operator.domain.trees import tree_at
from dynamo_operator.render.backends.detection import backend_of


def needs_ssh_key(graph: Graph) -> bool:
    """True when a service on several nodes runs a backend that spreads by SSH."""
    return any(service.nodes > 1 and _spreads_by_ssh(graph, service) for service in graph.services)


def _spreads_by_ssh(graph: Graph, service: Service) -> bool:
    component = Component(
        namespace=graph.namespace,
        name=component_name(graph.name, service.key),
        component_type=service.component_type,
        backend_framework=graph.backend_framework or str(service.spec.get("backendFramework") or ""),
        main_container=tree_at(service.spec, "extraPodSpec", "mainContainer"),
    )
    try:
        return backend_of(component).needs_ssh
    except Unrenderable:
        return False  # its component deployment says what is wrong
