"""How a frontend is reached from outside when its user says nothing (specification: workloads.md 3.7)."""

from __future__ import annotations

from typing import Any

from dynamo_operator.domain.component import Exposure
from dynamo_operator.domain.graph import Graph
from dynamo_operator.domain.site import Site


def default_exposure(graph: Graph, site: Site) -> Exposure:
    """What the installation's settings make of a frontend: its host is the graph's name."""
    return Exposure(
        enabled=bool(site.ingress_class or site.virtual_service_gateway),
        host=graph.name,
        host_suffix=site.ingress_host_suffix or None,
        controller_class=site.ingress_class or None,
        tls_secret=site.ingress_tls_secret or None,
        use_virtual_service=bool(site.virtual_service_gateway),
        virtual_service_gateway=site.virtual_service_gateway or None,
    )


def exposure_spec(exposure: Exposure) -> dict[str, Any]:
    """The same as the API writes it (``ingress``), without what says nothing."""
    said: dict[str, Any] = {
        "host": exposure.host,
        "enabled": exposure.enabled,
        "useVirtualService": exposure.use_virtual_service,
        "virtualServiceGateway": exposure.virtual_service_gateway,
        "ingressControllerClassName": exposure.controller_class,
        "tls": {"secretName": exposure.tls_secret} if exposure.tls_secret else None,
        "hostSuffix": exposure.host_suffix,
    }
    return {name: value for name, value in said.items() if value}
