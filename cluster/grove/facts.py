"""Names that Grove gives to things, and what the stand-in knows of one PodCliqueSet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.views import ObjectMeta

Tree = dict[str, Any]

GROUP: Final = "grove.io"
SETS: Final = Resource(GROUP, "v1alpha1", "PodCliqueSet", "podcliquesets")
CLIQUES: Final = Resource(GROUP, "v1alpha1", "PodClique", "podcliques")
GROUPS: Final = Resource(GROUP, "v1alpha1", "PodCliqueScalingGroup", "podcliquescalinggroups")
PODS: Final = Resource("", "v1", "Pod", "pods")
SERVICES: Final = Resource("", "v1", "Service", "services")

FINALIZERS: Final = {kind: f"{GROUP}/{kind.kind.lower()}.{GROUP}" for kind in (SETS, CLIQUES, GROUPS)}

MANAGED_BY: Final = "app.kubernetes.io/managed-by"
GROVE: Final = "grove-operator"
PART_OF: Final = "app.kubernetes.io/part-of"
NAME: Final = "app.kubernetes.io/name"
COMPONENT: Final = "app.kubernetes.io/component"
CLIQUE: Final = f"{GROUP}/podclique"
GANG: Final = f"{GROUP}/podgang"
SET_INDEX: Final = f"{GROUP}/podcliqueset-replica-index"
SCALING_GROUP: Final = f"{GROUP}/podcliquescalinggroup"
GROUP_INDEX: Final = f"{GROUP}/podcliquescalinggroup-replica-index"
TEMPLATE_HASH: Final = f"{GROUP}/pod-template-hash"

# Holds a pod back until all pods of its gang are made.
GATE: Final = f"{GROUP}/podgang-pending-creation"

# Our own, on clique templates: asks for a Grove that is slow or does not get its pods made.
BEHAVIOUR: Final = "dynamo-operator.test/grove"
SLOW: Final = "slow"
FAILING: Final = "failing"
DELAY: Final = "dynamo-operator.test/grove-delay"
"""Seconds as a number, how long after its set a slow clique is made."""


class Seen(msgspec.Struct, frozen=True):
    """An object as the API server last showed it."""

    metadata: ObjectMeta = ObjectMeta()
    spec: Tree = {}
    status: Tree = {}

    @property
    def name(self) -> str:
        """Its name."""
        return self.metadata.name

    def label(self, key: str) -> str:
        """One of its labels, empty where it has none of that name."""
        return self.metadata.labels.get(key, "")


@dataclass(frozen=True, slots=True)
class Gang:
    """A PodCliqueSet, or None where it is gone, and all that was made of it.

    ``refused`` are messages about pods that the API server did not accept, by PodClique.
    """

    key: Key
    parent: Seen | None
    cliques: Sequence[Seen] = ()
    groups: Sequence[Seen] = ()
    pods: Sequence[Seen] = ()
    services: Sequence[Seen] = ()
    refused: Mapping[str, str] = field(default_factory=dict[str, str])

    def pods_of(self, clique: Seen) -> list[Seen]:
        """The pods of a PodClique that are not on their way out, oldest first."""
        mine = [pod for pod in self.pods if pod.label(CLIQUE) == clique.name and not pod.metadata.deleting]
        return sorted(mine, key=lambda pod: (pod.metadata.creation_timestamp, pod.name))

    def members(self, group: Seen) -> list[Seen]:
        """The PodCliques of a scaling group."""
        return [clique for clique in self.cliques if clique.label(SCALING_GROUP) == group.name]


def is_ready(pod: Seen) -> bool:
    """Whether a pod serves."""
    return has_condition(pod, "Ready")


def has_condition(pod: Seen, kind: str) -> bool:
    """Whether a pod has a condition that is true."""
    return any(each["type"] == kind and each["status"] == "True" for each in pod.status.get("conditions", ()))


def count(tree: Mapping[str, Any], name: str, default: int = 0) -> int:
    """A number of a spec or status."""
    value = tree.get(name)
    return default if value is None else int(value)
