"""The API resources that the controllers read and write."""

from __future__ import annotations

from typing import Any, Final

from dynamo_operator.domain.labels import GROUP, GROVE_GROUP, INFERENCE_GROUP
from dynamo_operator.runtime.resource import Resource

GRAPHS: Final = Resource(GROUP, "v1alpha1", "DynamoGraphDeployment", "dynamographdeployments")
COMPONENTS: Final = Resource(GROUP, "v1alpha1", "DynamoComponentDeployment", "dynamocomponentdeployments")
ADAPTERS: Final = Resource(
    GROUP, "v1alpha1", "DynamoGraphDeploymentScalingAdapter", "dynamographdeploymentscalingadapters"
)
DEPLOYMENTS: Final = Resource("apps", "v1", "Deployment", "deployments")
SERVICES: Final = Resource("", "v1", "Service", "services")
SERVICE_ACCOUNTS: Final = Resource("", "v1", "ServiceAccount", "serviceaccounts")
CONFIG_MAPS: Final = Resource("", "v1", "ConfigMap", "configmaps")
SECRETS: Final = Resource("", "v1", "Secret", "secrets")
CLAIMS: Final = Resource("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims")
ROLES: Final = Resource("rbac.authorization.k8s.io", "v1", "Role", "roles")
ROLE_BINDINGS: Final = Resource("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings")
CLUSTER_ROLES: Final = Resource("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", namespaced=False)
INGRESSES: Final = Resource("networking.k8s.io", "v1", "Ingress", "ingresses")
LEADER_WORKER_SETS: Final = Resource("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets")
POD_GROUPS: Final = Resource("scheduling.volcano.sh", "v1beta1", "PodGroup", "podgroups")
VIRTUAL_SERVICES: Final = Resource("networking.istio.io", "v1beta1", "VirtualService", "virtualservices")
POD_CLIQUE_SETS: Final = Resource(GROVE_GROUP, "v1alpha1", "PodCliqueSet", "podcliquesets")
POD_CLIQUES: Final = Resource(GROVE_GROUP, "v1alpha1", "PodClique", "podcliques")
SCALING_GROUPS: Final = Resource(GROVE_GROUP, "v1alpha1", "PodCliqueScalingGroup", "podcliquescalinggroups")
QUEUES: Final = Resource("scheduling.run.ai", "v2", "Queue", "queues", namespaced=False)
INFERENCE_POOLS: Final = Resource(INFERENCE_GROUP, "v1", "InferencePool", "inferencepools")

_ALL: Final = (
    GRAPHS,
    COMPONENTS,
    ADAPTERS,
    DEPLOYMENTS,
    SERVICES,
    SERVICE_ACCOUNTS,
    CONFIG_MAPS,
    SECRETS,
    CLAIMS,
    ROLES,
    ROLE_BINDINGS,
    INGRESSES,
    LEADER_WORKER_SETS,
    POD_GROUPS,
    VIRTUAL_SERVICES,
    INFERENCE_POOLS,
    POD_CLIQUE_SETS,
)
_BY_KIND: Final = {(r.api_version, r.kind): r for r in _ALL}

CAPABILITIES: Final = {
    "virtual_services": ("networking.istio.io", "virtualservices"),
    "inference_pools": (INFERENCE_GROUP, "inferencepools"),
    "leader_worker_sets": (LEADER_WORKER_SETS.group, LEADER_WORKER_SETS.plural),
    "volcano": (POD_GROUPS.group, POD_GROUPS.plural),
    "grove": (POD_CLIQUE_SETS.group, POD_CLIQUE_SETS.plural),
    "kai": (QUEUES.group, QUEUES.plural),
}
"""Optional APIs: name in `domain.site.Offers` -> group and plural that show it."""


def resource_of(manifest: dict[str, Any]) -> Resource:
    """The resource of a rendered manifest; KeyError for a kind that no controller renders."""
    return _BY_KIND[(manifest["apiVersion"], manifest["kind"])]
