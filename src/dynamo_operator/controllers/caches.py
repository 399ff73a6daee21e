"""The caches of the operator: which kinds it watches, which part of them, and how they are indexed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from dynamo_operator.controllers import resources
from dynamo_operator.controllers.adapters import SCALED_GRAPH, by_scaled_graph
from dynamo_operator.controllers.pull_secrets import PULL_SECRET_TYPE, PullSecret, parse_pull_secret
from dynamo_operator.domain.labels import APP_MANAGED_BY, COMPONENT_POD_ACCOUNT, COMPONENT_TYPE, OPERATOR
from dynamo_operator.runtime.client import Client
from dynamo_operator.runtime.informer import Informer
from dynamo_operator.runtime.owner import CONTROLLER_UID, controller_uid
from dynamo_operator.runtime.resource import Resource
from dynamo_operator.runtime.views import Body, Metadata, Viewed

# Our children of these kinds always carry the label; the cluster's other accounts and roles are not held in memory.
_OURS: Final = f"{APP_MANAGED_BY}={OPERATOR}"
_SELECTORS: Final = {
    resources.SERVICE_ACCOUNTS: _OURS,
    resources.ROLES: _OURS,
    resources.ROLE_BINDINGS: _OURS,
    resources.CONFIG_MAPS: f"{COMPONENT_TYPE}=epp",
}
_INDEXES: Final = {resources.ADAPTERS: {SCALED_GRAPH: by_scaled_graph}}
_ALWAYS: Final = (
    resources.GRAPHS,
    resources.COMPONENTS,
    resources.ADAPTERS,
    resources.DEPLOYMENTS,
    resources.SERVICES,
    resources.INGRESSES,
    resources.SERVICE_ACCOUNTS,
    resources.ROLES,
    resources.ROLE_BINDINGS,
    resources.CONFIG_MAPS,
)
OPTIONAL: Final = {
    resources.VIRTUAL_SERVICES: "virtual_services",
    resources.INFERENCE_POOLS: "inference_pools",
    resources.LEADER_WORKER_SETS: "leader_worker_sets",
    resources.POD_GROUPS: "volcano",
    resources.POD_CLIQUE_SETS: "grove",
    resources.POD_CLIQUES: "grove",
    resources.SCALING_GROUPS: "grove",
    resources.QUEUES: "kai",
}
"""Kinds that are watched while the cluster serves them, with the name of the offer; their caches are empty else."""


def by_namespace(body: Viewed) -> Iterable[str]:
    """Index function: the object's namespace."""
    return (body.metadata.namespace,)


def by_co_owner(body: Viewed) -> Iterable[str]:
    """Index function: uids of owners that do not control the object (model Services have several)."""
    return [owner.uid for owner in body.metadata.owner_references if not owner.controller]


@dataclass(frozen=True, slots=True)
class Caches:
    """All informers; none of them runs yet."""

    whole: dict[Resource, Informer[Body]]
    claims: Informer[Metadata]
    accounts: Informer[Metadata]
    pull_secrets: Informer[PullSecret]
    ssh_secrets: Informer[Metadata]

    def required(self) -> list[Informer[Body] | Informer[Metadata] | Informer[PullSecret]]:
        """Those that every cluster can fill; the operator is ready when they are."""
        partial = (self.claims, self.accounts, self.pull_secrets, self.ssh_secrets)
        return [*(self.whole[resource] for resource in _ALWAYS), *partial]


def build_caches(client: Client, namespace: str, *, ssh_secret: str) -> Caches:
    """The informers for the whole cluster, or for one namespace when it is not empty.

    ``ssh_secret`` is the name that the SSH key pair and its copies have.
    """
    indexes = {CONTROLLER_UID: controller_uid, "namespace": by_namespace, "co-owner": by_co_owner}
    whole = {
        resource: Informer(
            client,
            resource,
            Body,
            namespace=namespace,
            label_selector=_SELECTORS.get(resource, ""),
            indexes=indexes | _INDEXES.get(resource, {}),
        )
        for resource in (*_ALWAYS, *OPTIONAL)
    }
    spaces = {"namespace": by_namespace}
    claims = Informer(client, resources.CLAIMS, Metadata, namespace=namespace, metadata_only=True, indexes=spaces)
    accounts = Informer(
        client,
        resources.SERVICE_ACCOUNTS,
        Metadata,
        namespace=namespace,
        label_selector=f"{COMPONENT_POD_ACCOUNT}=true",
        metadata_only=True,
        indexes=spaces,
    )
    pull_secrets = Informer(
        client,
        resources.SECRETS,
        parse_pull_secret,
        namespace=namespace,
        field_selector=f"type={PULL_SECRET_TYPE}",
        indexes=spaces,
    )
    ssh_secrets = Informer(
        client,
        resources.SECRETS,
        Metadata,
        namespace=namespace,
        field_selector=f"metadata.name={ssh_secret}",
        metadata_only=True,
    )
    return Caches(whole, claims, accounts, pull_secrets, ssh_secrets)
