"""Reads a scaling adapter and the graph it points at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dynamo_operator.controllers.cluster import Cluster, Parent
from dynamo_operator.controllers.resources import ADAPTERS, GRAPHS
from dynamo_operator.controllers.sources import tree_of
from dynamo_operator.domain.trees import tree_at
from dynamo_operator.runtime.resource import Key
from dynamo_operator.runtime.views import Body


@dataclass(frozen=True, slots=True)
class World:
    """An adapter as stored, and its graph. ``service`` is the service's spec, None when either is missing."""

    parent: Parent
    spec: Mapping[str, Any]
    status: Mapping[str, Any]
    graph: Body | None
    service: Mapping[str, Any] | None

    @property
    def graph_name(self) -> str:
        """Name of the graph that the adapter points at."""
        return str(_reference(self.spec).get("name", ""))

    @property
    def service_name(self) -> str:
        """Key of the service that the adapter scales."""
        return str(_reference(self.spec).get("serviceName", ""))


def load_world(cluster: Cluster, key: Key) -> World | None:
    """The adapter and its graph from the caches; None when there is no such adapter."""
    body = cluster.informers[ADAPTERS].get(key)
    if body is None:
        return None
    spec = tree_of(body, "spec")
    reference = _reference(spec)
    graph = cluster.informers[GRAPHS].get(Key(key.namespace, str(reference.get("name", ""))))
    services = tree_at(tree_of(graph, "spec") if graph is not None else None, "services")
    service = services.get(str(reference.get("serviceName", "")))
    return World(
        parent=Parent(ADAPTERS, body.metadata),
        spec=spec,
        status=tree_of(body, "status"),
        graph=graph,
        service=None if service is None else tree_at(service),
    )


def _reference(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    return tree_at(spec, "dgdRef")
