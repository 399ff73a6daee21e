"""Environment variables of the main container (specification: workloads.md 6.2 and 6.4)."""

from __future__ import annotations

from collections.abc import Iterable

from dynamo_operator.domain import variables
from dynamo_operator.domain.component import Component
from dynamo_operator.domain.discovery import KUBERNETES
from dynamo_operator.domain.manifest import Manifest, Tree
from dynamo_operator.domain.site import Site
from dynamo_operator.render.discovery_backend import announces_kubernetes


def merge_environment(*layers: Iterable[Tree]) -> list[Manifest]:
    """All variables sorted by name; an entry of a later layer replaces the whole entry of that name."""
    merged = {str(entry["name"]): dict(entry) for layer in layers for entry in layer}
    return [merged[name] for name in sorted(merged)]


def append_environment(environment: Iterable[Tree], added: Iterable[Tree]) -> list[Manifest]:
    """The variables with the added ones at the end; a name given before keeps only its last entry.

    The Go operator leaves both entries, of which the kubelet takes the last; server-side apply refuses two.
    """
    last = [dict(entry) for entry in added]
    names = {entry["name"] for entry in last}
    return [*(dict(entry) for entry in environment if entry["name"] not in names), *last]


def platform_environment(site: Site) -> list[Manifest]:
    """Addresses of the platform's services; anything else that sets them wins."""
    addresses = {
        variables.NATS_SERVER: site.nats_address,
        variables.ETCD_ENDPOINTS: site.etcd_address,
        variables.MODEL_EXPRESS_URL: site.model_express_url,
        variables.PROMETHEUS_ENDPOINT: site.prometheus_endpoint,
    }
    return [_variable(name, value) for name, value in addresses.items() if value]


def identity_environment(component: Component, site: Site) -> list[Manifest]:
    """What every component is told about itself, whatever its type."""
    environment = [
        _variable(variables.DYN_NAMESPACE, component.dynamo_namespace),
        _variable(variables.DYN_COMPONENT, component.component_type),
        _variable(variables.DYN_PARENT_DGD_NAME, component.graph),
        _variable(variables.DYN_PARENT_DGD_NAMESPACE, component.namespace),
        _downward(variables.POD_NAME, "metadata.name"),
        _downward(variables.POD_NAMESPACE, "metadata.namespace"),
        _downward(variables.POD_UID, "metadata.uid"),
    ]
    if announces_kubernetes(component, site):
        environment.append(_variable(variables.DYN_DISCOVERY_BACKEND, KUBERNETES))
    return environment


def _variable(name: str, value: str) -> Manifest:
    return {"name": name, "value": value} if value else {"name": name}


def _downward(name: str, path: str) -> Manifest:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
