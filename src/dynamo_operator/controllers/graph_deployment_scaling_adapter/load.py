"""Reads a scaling adapter, the graph that it points at, and the graph's other adapters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dynamo_operator.controllers.adapters import Target, load_adapters, target_of
from dynamo_operator.controllers.cluster import Cluster, Parent
from dynamo_operator.controllers.resources import ADAPTERS, GRAPHS
from dynamo_operator.controllers.sources import tree_of
from dynamo_operator.domain.trees import tree_at
from dynamo_operator.plan.scaling import Adapter, adapters_in_charge
from dynamo_operator.runtime.resource import Key
from dynamo_operator.runtime.views import Body


@dataclass(frozen=True, slots=True)
class World:
    """An adapter as stored, and its graph.

    ``service`` is the service's spec, None when it or the graph is missing. ``in_charge`` is the adapter that scales
    the service, None when no adapter does: this one is about to go.
    """

    parent: Parent
    spec: Mapping[str, Any]
    status: Mapping[str, Any]
    target: Target
    graph: Body | None
    service: Mapping[str, Any] | None
    in_charge: Adapter | None


def load_world(cluster: Cluster, key: Key) -> World | None:
    """The adapter and its graph from the caches; None when there is no such adapter."""
    body = cluster.informers[ADAPTERS].get(key)
    if body is None:
        return None
    target = target_of(body)
    graph = cluster.informers[GRAPHS].get(target.graph)
    service, in_charge = None, None
    if graph is not None:
        spec = tree_of(graph, "spec")
        service = tree_at(spec, "services").get(target.service)
        adapters = load_adapters(cluster, target.graph)
        in_charge = adapters_in_charge(spec, graph.metadata.uid, adapters).get(target.service)
    return World(
        parent=Parent(ADAPTERS, body.metadata),
        spec=tree_of(body, "spec"),
        status=tree_of(body, "status"),
        target=target,
        graph=graph,
        service=None if service is None else tree_at(service),
        in_charge=in_charge,
    )
