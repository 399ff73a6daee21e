"""Ingress of a component (specification: workloads.md 5.5)."""

from __future__ import annotations

from dynamo_operator.domain import labels
from dynamo_operator.domain.component import Component, Exposure
from dynamo_operator.domain.manifest import Child, Manifest
from dynamo_operator.render.metadata import render_metadata

DEFAULT_HOST_SUFFIX = "local"


def external_host(exposure: Exposure) -> str:
    """Host name for the outside: prefix, host, and suffix after a dot; an empty suffix leaves the host alone."""
    suffix = DEFAULT_HOST_SUFFIX if exposure.host_suffix is None else exposure.host_suffix
    host = f"{exposure.host_prefix or ''}{exposure.host}"
    return f"{host}.{suffix}" if suffix else host


def render_ingress(component: Component) -> list[Child]:
    """The Ingress, when the component is exposed through an ingress class."""
    exposure = component.exposure
    if exposure is None or not exposure.enabled or exposure.controller_class is None:
        return []
    host = external_host(exposure)
    backend = {"service": {"name": component.name, "port": {"number": labels.FRONTEND_PORT}}}
    path = {"path": "/", "pathType": "Prefix", "backend": backend}
    spec: Manifest = {
        "ingressClassName": exposure.controller_class,
        "rules": [{"host": host, "http": {"paths": [path]}}],
    }
    if exposure.tls_secret is not None:
        spec["tls"] = [{"hosts": [host], "secretName": exposure.tls_secret}]
    metadata = render_metadata(
        component, component.name, own_labels=dict(exposure.labels), own_annotations=dict(exposure.annotations)
    )
    return [Child({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": metadata, "spec": spec})]
