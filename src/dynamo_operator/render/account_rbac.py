"""Accounts of planners and endpoint pickers, bound to the cluster roles of the installation (workloads.md 10)."""

from __future__ import annotations

from typing import Any, Final

from dynamo_operator.domain.graph import Graph
from dynamo_operator.domain.labels import (
    APP_COMPONENT,
    APP_MANAGED_BY,
    APP_NAME,
    EPP_ACCOUNT,
    OPERATOR,
    PLANNER_ACCOUNT,
)
from dynamo_operator.domain.manifest import Child, Manifest, Upkeep
from dynamo_operator.domain.outcome import Unrenderable
from dynamo_operator.domain.site import Site

RBAC_GROUP: Final = "rbac.authorization.k8s.io"
RBAC_VERSION: Final = f"{RBAC_GROUP}/v1"
EPP: Final = "epp"


def render_accounts(graph: Graph, site: Site) -> list[Child]:
    """The planner's account, and the endpoint picker's where there is one; nothing in restricted mode.

    They belong to the namespace, not to the graph, so they have no owner and outlive it. The planner's is made for
    every graph: component deployments of their own use it too.
    Raises Unrenderable where the installation names no cluster role.
    """
    if not site.cluster_wide:
        return []
    if not site.planner_cluster_role:
        raise Unrenderable("planner ClusterRole name is required in cluster-wide mode")
    children = _account(graph.namespace, PLANNER_ACCOUNT, site.planner_cluster_role)
    if any(service.component_type == EPP for service in graph.services):
        if not site.epp_cluster_role:
            raise Unrenderable("EPP ClusterRole name is required in cluster-wide mode when EPP service is present")
        children += _account(graph.namespace, EPP_ACCOUNT, site.epp_cluster_role)
    return children


def _account(namespace: str, name: str, cluster_role: str) -> list[Child]:
    account: Manifest = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": account_metadata(namespace, name, name),
    }
    binding = account_binding(namespace, name, {"kind": "ClusterRole", "name": cluster_role})
    return [
        Child(account, upkeep=Upkeep.CREATE, owned=False),
        Child(binding, owned=False, recreate=True),
    ]


def account_metadata(namespace: str, name: str, account: str) -> dict[str, Any]:
    """Metadata of an object that belongs to an account: its own name, and the labels that carry the account's."""
    labels = {APP_MANAGED_BY: OPERATOR, APP_COMPONENT: "rbac", APP_NAME: account}
    return {"name": name, "namespace": namespace, "labels": labels}


def account_binding(namespace: str, account: str, role: dict[str, str]) -> Manifest:
    """A RoleBinding of an account, named after it, to a role given by kind and name."""
    return {
        "apiVersion": RBAC_VERSION,
        "kind": "RoleBinding",
        "metadata": account_metadata(namespace, f"{account}-binding", account),
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": namespace}],
        "roleRef": {"apiGroup": RBAC_GROUP, **role},
    }
