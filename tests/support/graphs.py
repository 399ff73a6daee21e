"""Builders of stored objects and of the values that checks make of them."""

from __future__ import annotations

from typing import Any

from dynamo_operator.check.graph_deployment import check_graph
from dynamo_operator.domain.graph import ComponentState, Graph
from dynamo_operator.domain.site import Offers, Site
from dynamo_operator.domain.source import Source

SITE = Site(
    planner_cluster_role="planner",
    epp_cluster_role="epp",
    offers=Offers(inference_pools=True),
)
NOW = "2026-01-02T03:04:05Z"
EARLIER = "2026-01-01T00:00:00Z"


def source(spec: dict[str, Any] | None = None, **fields: Any) -> Source:
    """A stored object ``g`` in namespace ``ns``."""
    wanted: dict[str, Any] = {"namespace": "ns", "name": "g", "uid": "u", "generation": 3} | fields
    return Source(spec={} if spec is None else spec, **wanted)


def graph_of(services: dict[str, Any], *, annotations: dict[str, str] | None = None, **spec: Any) -> Graph:
    """A graph of the given services that passed its checks."""
    return check_graph(source({"services": services, **spec}, annotations=annotations or {}), SITE)


def state(service: str, **fields: Any) -> ComponentState:
    """A component deployment that exists and is ready, unless said otherwise."""
    wanted: dict[str, Any] = {"name": f"g-{service.lower()}", "observed": True, "available": True} | fields
    return ComponentState(service=service, **wanted)


def image_of(deployment: dict[str, Any]) -> str:
    """Image of the main container of a stored Deployment."""
    return deployment["spec"]["template"]["spec"]["containers"][0]["image"]
