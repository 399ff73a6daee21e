"""What wakes the controller of DynamoGraphDeploymentScalingAdapter (requests-scaling-models.md 2.3)."""

from __future__ import annotations

from collections.abc import Iterable

from dynamo_operator.controllers.adapters import SCALED_GRAPH, adapters_at, target_of
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
        states = [state for state in (change.old, change.new) if state is not None]
        if len(states) == 2 and _standing(states[0]) == _standing(states[1]):
            return ()
        # Another one for the same service may have to take over, or to give way.
        return {change.key, *(key for state in states for key in adapters_at(cluster, target_of(state)))}

    def graph_moved(change: Change[Body]) -> Iterable[Key]:
        adapters = cluster.informers[ADAPTERS].by(SCALED_GRAPH, change.key)
        # Most graphs have no adapter: look there before decoding anything.
        moved = adapters and _asked(change.old) != _asked(change.new)
        return [body.metadata.key for body in adapters] if moved else ()

    controller.watch(cluster.informers[ADAPTERS], adapter_moved)
    controller.watch(cluster.informers[GRAPHS], graph_moved)


def _standing(adapter: Body) -> tuple[object, ...]:
    """What decides what an adapter does: its spec, who controls it, and whether it is about to go."""
    meta = adapter.metadata
    return meta.uid, meta.generation, meta.controller, meta.deleting


def _asked(graph: Body | None) -> dict[str, tuple[object, ...]]:
    """Wanted and running replicas by service, and whether it asks for an adapter; nothing of a graph that is gone."""
    if graph is None:
        return {}
    services = tree_at(tree_of(graph, "spec"), "services")
    running = tree_at(tree_of(graph, "status"), "services")
    return {
        name: (
            tree_at(services, name).get("replicas"),
            tree_at(services, name, "scalingAdapter").get("enabled"),
            tree_at(running, name).get("replicas"),
        )
        for name in services
    }
