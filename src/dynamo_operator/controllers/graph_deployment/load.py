"""Reads what exists of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dynamo_operator.controllers.cluster import Cluster, Parent
from dynamo_operator.controllers.resources import COMPONENTS, GRAPHS
from dynamo_operator.controllers.sources import object_of, source_of, tree_of
from dynamo_operator.controllers.status_writer import StatusWriter
from dynamo_operator.domain.graph import ComponentState, RestartStatus
from dynamo_operator.domain.source import Source
from dynamo_operator.runtime.owner import CONTROLLER_UID
from dynamo_operator.runtime.resource import Key
from dynamo_operator.status.component_state import component_state_of
from dynamo_operator.status.graph_deployment import parse_restart_status


@dataclass(frozen=True, slots=True)
class World:
    """A graph, and what exists of it. ``components`` is keyed by service; ``status`` may not be written yet."""

    parent: Parent
    source: Source
    stored: Mapping[str, Any]
    status: Mapping[str, Any]
    restart: RestartStatus | None
    components: Mapping[str, ComponentState]

    @property
    def deleting(self) -> bool:
        """The graph has a deletion timestamp."""
        return self.parent.meta.deleting


def load_world(cluster: Cluster, statuses: StatusWriter, key: Key) -> World | None:
    """The graph and its component deployments from the caches; None when there is no such graph."""
    body = cluster.informers[GRAPHS].get(key)
    if body is None:
        return None
    owned = cluster.informers[COMPONENTS].by(CONTROLLER_UID, body.metadata.uid)
    states = [component_state_of(object_of(component)) for component in owned if not component.metadata.deleting]
    parent, stored = Parent(GRAPHS, body.metadata), tree_of(body, "status")
    status = statuses.latest(parent, stored)
    return World(
        parent=parent,
        stored=stored,
        source=source_of(body),
        status=status,
        restart=parse_restart_status(status.get("restart")),
        components={state.service: state for state in states},
    )


def load_claims(cluster: Cluster, namespace: str) -> frozenset[str]:
    """Names of the PersistentVolumeClaims of a namespace."""
    return frozenset(claim.metadata.name for claim in cluster.claims.by("namespace", namespace))
