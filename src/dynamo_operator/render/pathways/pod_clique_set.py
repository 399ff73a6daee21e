"""Runs a graph as one gang of cliques, which Grove makes (specification: grove.md 3 to 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from dynamo_operator.domain.graph import Graph
from dynamo_operator.domain.labels import GROVE_GROUP, KAI_QUEUE, KAI_SCHEDULER
from dynamo_operator.domain.manifest import Child, Manifest
from dynamo_operator.domain.outcome import Unrenderable
from dynamo_operator.domain.pathway import Circumstances, queue_of
from dynamo_operator.domain.site import Site
from dynamo_operator.render.pathways.clique import render_cliques, roles_of, takes_queue, wanted_replicas, with_queue
from dynamo_operator.render.pathways.clique_companions import render_companions
from dynamo_operator.render.pathways.contract import Rendering

API_VERSION: Final = f"{GROVE_GROUP}/v1alpha1"
# Values of cliqueStartupType; read by Grove.
ANY_ORDER: Final = "CliqueStartupTypeAnyOrder"
EXPLICIT_ORDER: Final = "CliqueStartupTypeExplicit"
# What a pod without a scheduler's name gets from the API server.
DEFAULT_SCHEDULER: Final = "default-scheduler"

# Grove calls its own headless Service GRAPH-0, so no service of the graph can have that name.
RESERVED: Final = "0"


@dataclass(frozen=True, slots=True)
class PodCliqueSet:
    """A PodCliqueSet of the graph's name, and the Services that Grove does not make."""

    def render(self, graph: Graph, site: Site, circumstances: Circumstances, /) -> Rendering:
        """The PodCliqueSet, then the companions."""
        try:
            cliques = _render_cliques(graph, site, circumstances)
        except Unrenderable as problem:
            raise problem.within(
                "failed to reconcile Dynamo components deployments",
                "failed to reconcile the Grove PodClique Set",
                "failed to generate the Grove GangSet",
            ) from problem
        manifest: Manifest = {
            "apiVersion": API_VERSION,
            "kind": "PodCliqueSet",
            "metadata": {"name": graph.name, "namespace": graph.namespace},
            "spec": {"replicas": 1, "template": _template(graph, site, cliques)},
        }
        return Rendering((Child(manifest),), tuple(render_companions(graph, site)))


def _render_cliques(graph: Graph, site: Site, circumstances: Circumstances) -> list[Manifest]:
    if any(service.key == RESERVED for service in graph.services):
        raise Unrenderable(
            f"spec.services[{RESERVED}]: its Service would have the name of Grove's own, {graph.name}-0; rename it"
        )
    cliques = [clique for each in graph.services for clique in render_cliques(graph, each, site, circumstances)]
    if site.offers.kai and any(map(takes_queue, cliques)) and not _runs_otherwise(graph, cliques, circumstances):
        queue = _known_queue(graph, circumstances)
        cliques = [with_queue(clique, queue) for clique in cliques]
    _check_one_scheduler(cliques)
    return _in_order(cliques, circumstances.cliques.order)


def _runs_otherwise(graph: Graph, cliques: Sequence[Manifest], circumstances: Circumstances) -> bool:
    """Whether the pods run by another scheduler already, and nobody asks for KAI's.

    Its arrival must not replace pods that nobody changed.
    """
    named = any(clique["spec"]["podSpec"].get("schedulerName") == KAI_SCHEDULER for clique in cliques)
    there = circumstances.cliques.schedulers
    return bool(there) and KAI_SCHEDULER not in there and not named and not graph.annotations.get(KAI_QUEUE, "").strip()


def _known_queue(graph: Graph, circumstances: Circumstances) -> str:
    queue = queue_of(graph.annotations)
    if circumstances.queues is not None and queue not in circumstances.queues:
        raise Unrenderable(
            f"queue '{queue}' not found in cluster. Ensure the queue exists before using kai-scheduler"
        ).within("failed to determine kai-scheduler queue", "kai-scheduler queue validation failed")
    return queue


def _check_one_scheduler(cliques: Sequence[Manifest]) -> None:
    named = {clique["spec"]["podSpec"].get("schedulerName") or DEFAULT_SCHEDULER: clique["name"] for clique in cliques}
    if len(named) > 1:
        told = ", ".join(f"{clique}: {scheduler}" for scheduler, clique in sorted(named.items()))
        raise Unrenderable(
            "spec.services: a gang has one scheduler, but there are several "
            f"({told}); set extraPodSpec.schedulerName of all services to the same"
        )


def _in_order(cliques: Sequence[Manifest], there: Sequence[str]) -> list[Manifest]:
    """As they stand in the existing set: Grove takes another order for another gang, and new ones come last."""
    places = {name: place for place, name in enumerate(there)}
    return sorted(cliques, key=lambda clique: places.get(clique["name"], len(places)))


def _template(graph: Graph, site: Site, cliques: Sequence[Manifest]) -> dict[str, Any]:
    ordered = any("startsAfter" in clique["spec"] for clique in cliques)
    template: dict[str, Any] = {
        "cliqueStartupType": EXPLICIT_ORDER if ordered else ANY_ORDER,
        # Nodes of one replica look each other up before they are ready.
        "headlessServiceConfig": {"publishNotReadyAddresses": True},
        "cliques": list(cliques),
    }
    if site.grove_termination_delay:
        template["terminationDelay"] = site.grove_termination_delay
    if groups := _groups(graph, cliques):
        template["podCliqueScalingGroups"] = groups
    return template


def _groups(graph: Graph, cliques: Sequence[Manifest]) -> list[Manifest]:
    """Leader and workers of each service on several nodes, which are scaled together; in the order of the cliques."""
    places = {clique["name"]: place for place, clique in enumerate(cliques)}
    groups = [
        {
            "name": service.key.lower(),
            "cliqueNames": [role.name for role in roles_of(service.component)],
            "replicas": wanted_replicas(service.component),
            "minAvailable": 1,
        }
        for service in graph.services
        if service.nodes > 1
    ]
    return sorted(groups, key=lambda group: places[group["cliqueNames"][0]])
