"""What wakes the controller of DynamoGraphDeployment (workloads.md 3.1)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

from dynamo_operator.controllers.cluster import Cluster
from dynamo_operator.controllers.graph_deployment.making import KEPT, PRUNED, WORKLOADS
from dynamo_operator.controllers.resources import GRAPHS, POD_CLIQUE_SETS, POD_CLIQUES, QUEUES, SCALING_GROUPS, SERVICES
from dynamo_operator.controllers.sources import tree_of
from dynamo_operator.controllers.ssh_keys import graphs_of_key
from dynamo_operator.controllers.surroundings import watch_surroundings
from dynamo_operator.controllers.wakeups import child_moved, intent_moved
from dynamo_operator.domain.labels import (
    DISCOVERY_BACKEND,
    ENABLE_GROVE,
    ENABLE_METRICS,
    FINALIZER,
    GRAPH_NAME,
    KAI_QUEUE,
)
from dynamo_operator.domain.pathway import Pathway, pathway_of, queue_of
from dynamo_operator.domain.trees import trees_at
from dynamo_operator.runtime.controller import Controller
from dynamo_operator.runtime.informer import Change
from dynamo_operator.runtime.owner import controller_owner, plain_owner
from dynamo_operator.runtime.resource import Key
from dynamo_operator.runtime.views import Body, Metadata

STEERING: Final = (ENABLE_GROVE, ENABLE_METRICS, DISCOVERY_BACKEND, KAI_QUEUE)
"""Annotations of a graph that the operator reads."""
_CLIQUE_OWNER: Final = controller_owner(POD_CLIQUE_SETS.kind, POD_CLIQUE_SETS.group)


def watch_graphs(controller: Controller, cluster: Cluster) -> None:
    """Subscribe the controller to the graphs and to everything that it makes of them."""

    def moved(change: Change[Body]) -> Iterable[Key]:
        return (change.key,) if intent_moved(change, STEERING, FINALIZER) else ()

    controller.watch(cluster.informers[GRAPHS], moved)
    owner = controller_owner(GRAPHS.kind, GRAPHS.group)
    for resource in (*PRUNED, *KEPT):
        if resource is not SERVICES:
            controller.watch(
                cluster.informers[resource],
                child_moved(cluster, GRAPHS, owner, status=resource in WORKLOADS),
            )
    # Services of base models have no controller among their owners.
    co_owners = plain_owner(GRAPHS.kind, GRAPHS.group)
    controller.watch(cluster.informers[SERVICES], child_moved(cluster, GRAPHS, co_owners, status=False))
    for resource in (POD_CLIQUES, SCALING_GROUPS):
        controller.watch(cluster.informers[resource], clique_moved)
    controller.watch(cluster.informers[QUEUES], partial(graphs_of_queue, cluster))
    controller.watch(cluster.claims, partial(graphs_of_claim, cluster))
    controller.watch(cluster.ssh_secrets, partial(graphs_of_key, cluster))
    watch_surroundings(controller, cluster, partial(graphs_with_pods, cluster))


def clique_moved(change: Change[Body]) -> Iterable[Key]:
    """Mapper: the graph of a PodClique or scaling group that came, went, was scaled or has another status.

    Grove's own are controlled by the PodCliqueSet, which has the graph's name; others may carry the graph's label.
    """
    old, new = change.old, change.new
    same = old is not None and new is not None and old.metadata.generation == new.metadata.generation
    if same and old is not None and new is not None and bytes(old.status) == bytes(new.status):
        return ()
    found = tuple(_CLIQUE_OWNER(change))
    body = new or old
    label = body.metadata.labels.get(GRAPH_NAME) if body is not None else None
    return found or ((Key(change.key.namespace, label),) if label else ())


def graphs_of_queue(cluster: Cluster, change: Change[Body]) -> Iterable[Key]:
    """Mapper: the graphs whose queue came or went."""
    if change.old is not None and change.new is not None:
        return ()
    return tuple(
        body.metadata.key
        for body in cluster.informers[GRAPHS].values()
        if queue_of(body.metadata.annotations) == change.key.name
    )


def graphs_of_claim(cluster: Cluster, change: Change[Metadata]) -> Iterable[Key]:
    """Mapper: the graphs whose claim came or went."""
    if change.old is not None and change.new is not None:
        return ()
    return tuple(
        body.metadata.key
        for body in cluster.informers[GRAPHS].by("namespace", change.key.namespace)
        if _names_claim(body, change.key.name)
    )


def graphs_with_pods(cluster: Cluster, namespace: str) -> Iterable[Key]:
    """The graphs of a namespace that shape pods themselves; component deployments do it on the other pathway."""
    return tuple(
        body.metadata.key
        for body in cluster.informers[GRAPHS].by("namespace", namespace)
        if pathway_of(body.metadata.annotations, cluster.site) is Pathway.CLIQUES
    )


def _names_claim(body: Body, name: str) -> bool:
    return any(claim.get("name") == name for claim in trees_at(tree_of(body, "spec"), "pvcs"))
