"""The scaling adapters of a graph, from the cache."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from dynamo_operator.controllers.cluster import Cluster
from dynamo_operator.controllers.resources import ADAPTERS, GRAPHS
from dynamo_operator.controllers.sources import tree_of
from dynamo_operator.domain.trees import tree_at
from dynamo_operator.plan.scaling import Adapter
from dynamo_operator.runtime.owner import is_of
from dynamo_operator.runtime.resource import Key
from dynamo_operator.runtime.views import Body

SCALED_GRAPH: Final = "scaled-graph"
"""Index of adapters by the graph that they point at."""


class Target(NamedTuple):
    """A service of a graph."""

    graph: Key
    service: str


def target_of(adapter: Body) -> Target:
    """What an adapter points at; names that are absent read as empty."""
    reference = tree_at(tree_of(adapter, "spec"), "dgdRef")
    graph = Key(adapter.metadata.namespace, str(reference.get("name", "")))
    return Target(graph, str(reference.get("serviceName", "")))


def by_scaled_graph(adapter: Body) -> Iterable[Key]:
    """Index function: the graph that an adapter points at."""
    return (target_of(adapter).graph,)


def load_adapters(cluster: Cluster, graph: Key) -> list[Adapter]:
    """The adapters of a graph's services that are there to stay and say a number."""
    there = cluster.informers[ADAPTERS].by(SCALED_GRAPH, graph)
    return [
        _adapter(body, replicas)
        for body in there
        if not body.metadata.deleting and isinstance(replicas := tree_of(body, "spec").get("replicas"), int)
    ]


def adapters_at(cluster: Cluster, target: Target) -> list[Key]:
    """Keys of the adapters that point at a service."""
    there = cluster.informers[ADAPTERS].by(SCALED_GRAPH, target.graph)
    return [body.metadata.key for body in there if target_of(body) == target]


def _adapter(body: Body, replicas: int) -> Adapter:
    meta, controller = body.metadata, body.metadata.controller
    ours = controller is not None and is_of(controller, GRAPHS.kind, GRAPHS.group)
    return Adapter(
        name=meta.name,
        service=target_of(body).service,
        replicas=replicas,
        owner=controller.uid if ours and controller is not None else "",
        created=meta.creation_timestamp,
    )
