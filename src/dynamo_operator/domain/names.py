"""Names of the objects that the operator makes (specification: workloads.md 1, Names)."""

from __future__ import annotations

import hashlib


def component_name(graph: str, service: str) -> str:
    """Name of a service's component deployment, Deployment, Service, Ingress, VirtualService and scaling adapter."""
    return f"{graph}-{service.lower()}"


def discovery_account_name(graph: str) -> str:
    """ServiceAccount of a graph's pods under Kubernetes discovery; its Role and RoleBinding append a suffix."""
    return f"{graph}-k8s-service-discovery"


def endpoint_picker_config_name(graph: str) -> str:
    """ConfigMap with a graph's inline endpoint picker configuration."""
    return f"{graph}-epp-config"


def inference_pool_name(graph: str) -> str:
    """InferencePool of a graph with an endpoint picker."""
    return f"{graph}-pool"


def model_hash(model: str) -> str:
    """First 8 hex digits of the SHA-256 of a base model's name."""
    return hashlib.sha256(model.encode()).hexdigest()[:8]


def model_service_name(model: str) -> str:
    """Headless Service that finds the endpoints of a base model."""
    return f"dynamo-model-{model_hash(model)}"


def dynamo_namespace(namespace: str, graph: str, *, shared: bool) -> str:
    """The Dynamo namespace of a service (specification: api.md 3.1)."""
    return "dynamo" if shared else f"{namespace}-{graph}"


def leader_clique_name(service: str) -> str:
    """Clique of the leaders of a service on several nodes; host names are built from it."""
    return f"{service.lower()}-ldr"


def worker_clique_name(service: str) -> str:
    """Clique of the other pods of a service on several nodes; host names are built from it."""
    return f"{service.lower()}-wkr"


def clique_object_name(graph: str, service: str) -> str:
    """What Grove calls the PodClique of a service on one node, or the PodCliqueScalingGroup of one on several."""
    return f"{graph}-0-{service.lower()}"
