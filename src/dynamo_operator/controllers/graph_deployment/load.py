"""Reads what exists of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dynamo_operator.controllers.adapters import load_adapters
from dynamo_operator.controllers.cluster import Cluster, Parent
from dynamo_operator.controllers.resources import GRAPHS
from dynamo_operator.controllers.sources import source_of, tree_of
from dynamo_operator.controllers.status_writer import StatusWriter
from dynamo_operator.domain.graph import RestartStatus
from dynamo_operator.domain.source import Source
from dynamo_operator.plan.scaling import adapters_in_charge, scaled_spec
from dynamo_operator.runtime.resource import Key
from dynamo_operator.status.graph_deployment import parse_restart_status


@dataclass(frozen=True, slots=True)
class World:
    """A graph; its ``status`` may not be written yet."""

    parent: Parent
    source: Source
    stored: Mapping[str, Any]
    status: Mapping[str, Any]
    restart: RestartStatus | None

    @property
    def deleting(self) -> bool:
        """The graph has a deletion timestamp."""
        return self.parent.meta.deleting


def load_world(cluster: Cluster, statuses: StatusWriter, key: Key) -> World | None:
    """The graph from the cache; None when there is no such graph."""
    body = cluster.informers[GRAPHS].get(key)
    if body is None:
        return None
    parent, stored = Parent(GRAPHS, body.metadata), tree_of(body, "status")
    status = statuses.latest(parent, stored)
    return World(
        parent=parent,
        stored=stored,
        source=_scaled(cluster, source_of(body)),
        status=status,
        restart=parse_restart_status(status.get("restart")),
    )


def _scaled(cluster: Cluster, source: Source) -> Source:
    """The graph as its scaling adapters want it."""
    adapters = load_adapters(cluster, Key(source.namespace, source.name))
    if not adapters:
        return source
    return replace(source, spec=scaled_spec(source.spec, adapters_in_charge(source.spec, source.uid, adapters)))


def load_claims(cluster: Cluster, namespace: str) -> frozenset[str]:
    """Names of the PersistentVolumeClaims of a namespace."""
    return frozenset(claim.metadata.name for claim in cluster.claims.by("namespace", namespace))
