"""The service account of a component's pods (specification: workloads.md 6.9)."""

from __future__ import annotations

from dynamo_operator.domain import names
from dynamo_operator.domain.component import Component, Surroundings
from dynamo_operator.domain.site import Site
from dynamo_operator.render.discovery_backend import discovers_by_kubernetes


def discovery_account(component: Component, site: Site) -> str:
    """The account of a pod for which neither its type nor the user names one; empty without Kubernetes discovery.

    A component deployment of its own has no graph, and so no discovery account that could be used.
    """
    found = component.graph and discovers_by_kubernetes(component, site)
    return names.discovery_account_name(component.graph) if found else ""


def fallback_account(surroundings: Surroundings) -> str:
    """The account where nothing else names one: one that is marked for it, else the namespace's own."""
    return surroundings.service_accounts[0] if surroundings.service_accounts else "default"
