"""Which discovery backend a component's pods and Services use (specification: workloads.md 2)."""

from __future__ import annotations

from dynamo_operator.domain.component import Component
from dynamo_operator.domain.discovery import ETCD, KUBERNETES, discovery_backend
from dynamo_operator.domain.site import Site


def asked_backend(component: Component, site: Site) -> str:
    """What the component says, else the installation, as it is written."""
    return discovery_backend(component.annotations, site)


def discovers_by_kubernetes(component: Component, site: Site) -> bool:
    """True when accounts and Service labels for Kubernetes discovery are wanted."""
    return asked_backend(component, site) == KUBERNETES


def announces_kubernetes(component: Component, site: Site) -> bool:
    """True when the pod is told to use Kubernetes discovery: anything but etcd does, so that running pods stay."""
    return asked_backend(component, site) != ETCD
