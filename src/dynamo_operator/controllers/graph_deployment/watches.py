"""What wakes the controller of DynamoGraphDeployment (workloads.md 3.1)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from dynamo_operator.controllers.cluster import Cluster
from dynamo_operator.controllers.graph_deployment.reconciler import KEPT, PRUNED
from dynamo_operator.controllers.resources import COMPONENTS, GRAPHS
from dynamo_operator.controllers.sources import tree_of
from dynamo_operator.controllers.wakeups import child_moved, intent_moved
from dynamo_operator.domain.labels import DISCOVERY_BACKEND, ENABLE_GROVE, ENABLE_METRICS, FINALIZER, KAI_QUEUE
from dynamo_operator.domain.trees import trees_at
from dynamo_operator.runtime.controller import Controller
from dynamo_operator.runtime.informer import Change
from dynamo_operator.runtime.owner import controller_owner
from dynamo_operator.runtime.resource import Key
from dynamo_operator.runtime.views import Body, Metadata

STEERING: Final = (ENABLE_GROVE, ENABLE_METRICS, DISCOVERY_BACKEND, KAI_QUEUE)
"""Annotations of a graph that the operator reads."""


def watch_graphs(controller: Controller, cluster: Cluster) -> None:
    """Subscribe the controller to the graphs and to everything that it makes of them."""

    def moved(change: Change[Body]) -> Iterable[Key]:
        return (change.key,) if intent_moved(change, STEERING, FINALIZER) else ()

    controller.watch(cluster.informers[GRAPHS], moved)
    owner = controller_owner(GRAPHS.kind, GRAPHS.group)
    for resource in (*PRUNED, *KEPT):
        if resource in cluster.informers:
            controller.watch(
                cluster.informers[resource],
                child_moved(cluster, owner, status=resource is COMPONENTS),
            )

    def claim_came_or_went(change: Change[Metadata]) -> Iterable[Key]:
        if change.old is not None and change.new is not None:
            return ()
        return tuple(
            body.metadata.key
            for body in cluster.informers[GRAPHS].by("namespace", change.key.namespace)
            if _names_claim(body, change.key.name)
        )

    controller.watch(cluster.claims, claim_came_or_went)


def _names_claim(body: Body, name: str) -> bool:
    return any(claim.get("name") == name for claim in trees_at(tree_of(body, "spec"), "pvcs"))
