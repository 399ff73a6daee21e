"""Graphs as PodCliqueSets: what Grove made of them is read, and scaled (specification: grove.md 4.5, 8, 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from dynamo_operator.controllers.cluster import FIELD_MANAGER, Cluster
from dynamo_operator.controllers.endings import StepError
from dynamo_operator.controllers.graph_deployment.pathways.contract import Progress, Standing
from dynamo_operator.controllers.resources import POD_CLIQUE_SETS, POD_CLIQUES, QUEUES, SCALING_GROUPS
from dynamo_operator.controllers.sources import object_of, tree_of
from dynamo_operator.controllers.surroundings import load_surroundings
from dynamo_operator.domain.graph import Graph, Service
from dynamo_operator.domain.names import clique_object_name
from dynamo_operator.domain.pathway import Circumstances, queue_of
from dynamo_operator.runtime.apply import Applied
from dynamo_operator.runtime.errors import ApiError, NotFound
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.status.clique_state import (
    GangObjects,
    clique_pod,
    clique_states,
    cliques_there,
    gang_problems,
    is_observed,
)

_SCALING_FAILED: Final = "failed to reconcile Dynamo components deployments: failed to reconcile Grove scaling"
_QUEUE_FAILED: Final = (
    "failed to reconcile Dynamo components deployments: failed to reconcile the Grove PodClique Set: "
    "failed to generate the Grove GangSet: failed to determine kai-scheduler queue: "
    "kai-scheduler queue validation failed: failed to validate queue"
)


@dataclass(frozen=True, slots=True)
class PodCliqueSetDriver:
    """Reads a graph's PodCliqueSet, PodCliques and scaling groups; sets the number of copies of the latter two."""

    needed: Sequence[Resource] = (POD_CLIQUE_SETS, POD_CLIQUES, SCALING_GROUPS)

    async def load(self, cluster: Cluster, graph: Graph, /) -> Standing:
        """What is in the caches; a queue that is not, is asked for."""
        there = _objects(cluster, graph)
        circumstances = Circumstances(
            surroundings={
                service.key: load_surroundings(cluster, graph.namespace, partial(clique_pod, there.gang, service))
                for service in graph.services
            },
            cliques=cliques_there(there.gang),
            queues=await _queues(cluster, graph),
        )
        return Standing({state.service: state for state in clique_states(graph, there)}, circumstances)

    async def follow_up(self, cluster: Cluster, graph: Graph, /) -> None:
        """Scale what exists: Grove takes the numbers of a PodCliqueSet only for what it makes anew."""
        for service in graph.services:
            if service.replicas is not None:
                await _scale(cluster, graph, service, service.replicas)

    def attended(self, applied: Sequence[Applied], /) -> bool:
        """Whether Grove has ever looked at the set."""
        return any(is_observed(object_of(a.body)) for a in applied if a.wanted.resource == POD_CLIQUE_SETS)

    def progress(self, cluster: Cluster, graph: Graph, applied: Sequence[Applied], /) -> Progress:
        """What the caches say about the cliques, and the API server about their set."""
        body = next((a.body for a in applied if a.wanted.resource == POD_CLIQUE_SETS), None)
        there = _objects(cluster, graph, object_of(body) if body is not None else None)
        there = replace(there, leaving=body is not None and body.metadata.deleting)
        states = clique_states(graph, there)
        return Progress(states, gang_problems(graph, states, there))


def _objects(cluster: Cluster, graph: Graph, gang: Mapping[str, Any] | None = None) -> GangObjects:
    """What exists of a graph; ``gang`` is its PodCliqueSet where that is known better than from the cache."""
    found: dict[Resource, dict[str, Mapping[str, Any]]] = {POD_CLIQUES: {}, SCALING_GROUPS: {}}
    for service in graph.services:
        resource, key = _scaled(graph, service)
        body = cluster.informers[resource].get(key)
        if body is not None and not body.metadata.deleting:
            found[resource][key.name] = object_of(body)
    if gang is None:
        body = cluster.informers[POD_CLIQUE_SETS].get(Key(graph.namespace, graph.name))
        gang = object_of(body) if body is not None and not body.metadata.deleting else {}
    return GangObjects(gang, found[POD_CLIQUES], found[SCALING_GROUPS])


def _scaled(graph: Graph, service: Service) -> tuple[Resource, Key]:
    """What holds the number of copies of a service."""
    resource = SCALING_GROUPS if service.nodes > 1 else POD_CLIQUES
    return resource, Key(graph.namespace, clique_object_name(graph.name, service.key))


async def _scale(cluster: Cluster, graph: Graph, service: Service, replicas: int) -> None:
    resource, key = _scaled(graph, service)
    body = cluster.informers[resource].get(key)
    # What is not there yet wakes us when it comes.
    if body is None or body.metadata.deleting or tree_of(body, "spec").get("replicas") == replicas:
        return
    patch = {"spec": {"replicas": replicas}}
    try:
        await cluster.client.merge_patch(resource, key, patch, field_manager=FIELD_MANAGER, subresource="scale")
    except NotFound:
        return
    except ApiError as error:
        text = f"failed to scale {resource.kind} {key.name}: failed to update scale for {resource.plural} {key.name}"
        raise StepError(f"{_SCALING_FAILED}: {text}: {error.message}", error) from error


async def _queues(cluster: Cluster, graph: Graph) -> frozenset[str]:
    """The graph's queue, if it exists. The cache may lag, or may not be ours to fill: its No is not believed."""
    if not cluster.site.offers.kai:
        return frozenset()
    key = Key("", queue_of(graph.annotations))
    if cluster.informers[QUEUES].get(key) is None:
        try:
            await cluster.client.get(QUEUES, key)
        except NotFound:
            return frozenset()
        except ApiError as error:
            raise StepError(f"{_QUEUE_FAILED} '{key.name}': {error.message}", error) from error
    return frozenset({key.name})
