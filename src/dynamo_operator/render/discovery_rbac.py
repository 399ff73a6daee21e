"""What a graph's pods may read when they find each other through Kubernetes (specification: workloads.md 10)."""

from __future__ import annotations

from dynamo_operator.domain.discovery import KUBERNETES, discovery_backend
from dynamo_operator.domain.graph import Graph
from dynamo_operator.domain.labels import GROUP
from dynamo_operator.domain.manifest import Child, Manifest
from dynamo_operator.domain.names import discovery_account_name
from dynamo_operator.domain.site import Site
from dynamo_operator.render.account_rbac import RBAC_VERSION, account_binding, account_metadata


def render_discovery_rbac(graph: Graph, site: Site) -> list[Child]:
    """Account, role and binding under Kubernetes discovery, nothing under etcd."""
    if discovery_backend(graph.annotations, site) != KUBERNETES:
        return []
    name, namespace = discovery_account_name(graph.name), graph.namespace
    role = f"{name}-role"
    manifests: list[Manifest] = [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account_metadata(namespace, name, name)},
        {
            "apiVersion": RBAC_VERSION,
            "kind": "Role",
            "metadata": account_metadata(namespace, role, name),
            "rules": _rules(),
        },
        account_binding(namespace, name, {"kind": "Role", "name": role}),
    ]
    # Only a binding has a field (roleRef) that cannot be changed in place.
    return [Child(m, recreate=m["kind"] == "RoleBinding") for m in manifests]


def _rules() -> list[Manifest]:
    read = ["get", "list", "watch"]
    return [
        {"apiGroups": [""], "resources": ["endpoints"], "verbs": read},
        {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": [*read]},
        {
            "apiGroups": [GROUP],
            "resources": ["dynamoworkermetadatas"],
            "verbs": ["create", *read, "update", "patch", "delete"],
        },
    ]
