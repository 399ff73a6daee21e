"""What wakes the controller of DynamoGraphDeploymentScalingAdapter (requests-scaling-models.md 2.3)."""

from __future__ import annotations

from collections.abc import Iterable

from dynamo_operator.controllers.cluster import Cluster
from dynamo_operator.controllers.resources import ADAPTERS, GRAPHS
from dynamo_operator.controllers.sources import tree_of
from dynamo_operator.domain.trees import tree_at
from dynamo_operator.runtime.controller import Controller
from dynamo_operator.runtime.informer import Change
from dynamo_operator.runtime.resource import Key
from dynamo_operator.runtime.views import Body


def watch_adapters(controller: Controller, cluster: Cluster) -> None:
    """Subscribe the controller to the adapters and to the graphs that they scale."""

    def adapter_moved(change: Change[Body]) -> Iterable[Key]:
        old, new = change.old, change.new
        same = old is not None and new is not None and old.metadata.generation == new.metadata.generation
        return () if same else (change.key,)

    def graph_moved(change: Change[Body]) -> Iterable[Key]:
        adapters = cluster.informers[ADAPTERS].by("namespace", change.key.namespace)
        # Most namespaces have no adapter: look there before decoding anything.
        if not adapters or _counts(change.old) == _counts(change.new):
            return ()
        return tuple(
            body.metadata.key
            for body in adapters
            if tree_at(tree_of(body, "spec"), "dgdRef").get("name") == change.key.name
        )

    controller.watch(cluster.informers[ADAPTERS], adapter_moved)
    controller.watch(cluster.informers[GRAPHS], graph_moved)


def _counts(graph: Body | None) -> dict[str, tuple[object, object]]:
    """Wanted and running replicas by service; a graph that is not there has none."""
    if graph is None:
        return {}
    services = tree_at(tree_of(graph, "spec"), "services")
    running = tree_at(tree_of(graph, "status"), "services")
    return {
        name: (tree_at(services, name).get("replicas"), tree_at(running, name).get("replicas")) for name in services
    }
