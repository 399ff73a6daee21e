"""Reads what shapes a component and what exists of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from dynamo_operator.controllers.cluster import Cluster, Parent
from dynamo_operator.controllers.resources import COMPONENTS, DEPLOYMENTS, LEADER_WORKER_SETS
from dynamo_operator.controllers.sources import source_of, tree_of
from dynamo_operator.controllers.status_writer import StatusWriter
from dynamo_operator.controllers.surroundings import load_surroundings
from dynamo_operator.domain.component import Surroundings
from dynamo_operator.domain.source import Source
from dynamo_operator.domain.trees import tree_at
from dynamo_operator.runtime.resource import Key


@dataclass(frozen=True, slots=True)
class World:
    """A component deployment, and what shapes its pods; ``status`` may not be written yet."""

    parent: Parent
    source: Source
    stored: Mapping[str, Any]
    status: Mapping[str, Any]
    surroundings: Surroundings

    @property
    def deleting(self) -> bool:
        """The component deployment has a deletion timestamp."""
        return self.parent.meta.deleting

    @property
    def renewed(self) -> bool:
        """The spec changed since it was last carried out."""
        return self.stored.get("observedGeneration") != self.parent.meta.generation


def load_world(cluster: Cluster, statuses: StatusWriter, key: Key) -> World | None:
    """The component deployment and its surroundings from the caches; None when there is none."""
    body = cluster.informers[COMPONENTS].get(key)
    if body is None:
        return None
    parent, stored = Parent(COMPONENTS, body.metadata), tree_of(body, "status")
    return World(
        parent=parent,
        source=source_of(body),
        stored=stored,
        status=statuses.latest(parent, stored),
        surroundings=load_surroundings(cluster, key.namespace, partial(_running_pod_spec, cluster, key)),
    )


def _running_pod_spec(cluster: Cluster, key: Key) -> Mapping[str, Any]:
    deployment = cluster.informers[DEPLOYMENTS].get(key)
    if deployment is not None:
        return tree_at(tree_of(deployment, "spec"), "template", "spec")
    first = cluster.informers[LEADER_WORKER_SETS].get(Key(key.namespace, f"{key.name}-0"))
    path = ("leaderWorkerTemplate", "leaderTemplate", "spec")
    return tree_at(tree_of(first, "spec"), *path) if first is not None else {}
