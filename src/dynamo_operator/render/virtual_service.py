"""Istio VirtualService of a component (specification: workloads.md 5.6)."""

from __future__ import annotations

from dynamo_operator.domain import labels
from dynamo_operator.domain.component import Component, Exposure
from dynamo_operator.domain.manifest import Child, Manifest
from dynamo_operator.domain.site import Site
from dynamo_operator.render.ingress import external_host
from dynamo_operator.render.metadata import render_metadata

API_VERSION = "networking.istio.io/v1beta1"


def render_virtual_service(component: Component, site: Site) -> list[Child]:
    """The VirtualService, when installation, cluster and component all name or offer what it takes."""
    exposure = component.exposure
    if not (site.virtual_service_gateway and site.offers.virtual_services):
        return []
    if exposure is None or not (exposure.enabled and exposure.use_virtual_service):
        return []
    if exposure.virtual_service_gateway is None:
        return []
    metadata = render_metadata(component, component.name, own_labels={}, own_annotations={})
    spec = _spec(component.name, exposure, exposure.virtual_service_gateway)
    return [Child({"apiVersion": API_VERSION, "kind": "VirtualService", "metadata": metadata, "spec": spec})]


def _spec(name: str, exposure: Exposure, gateway: str) -> Manifest:
    destination = {"host": name, "port": {"number": labels.FRONTEND_PORT}}
    route = {"match": [{"uri": {"prefix": "/"}}], "route": [{"destination": destination}]}
    return {"hosts": [external_host(exposure)], "gateways": [gateway], "http": [route]}
