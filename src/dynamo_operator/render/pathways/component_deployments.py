"""Runs a graph as one component deployment per service (specification: workloads.md 3.7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dynamo_operator.domain.graph import Graph
from dynamo_operator.domain.outcome import Unrenderable
from dynamo_operator.domain.pathway import Circumstances
from dynamo_operator.domain.site import Site
from dynamo_operator.render.component_deployment import render_component_deployment
from dynamo_operator.render.pathways.contract import Rendering

_FAILED: Final = "failed to reconcile Dynamo components deployments"


@dataclass(frozen=True, slots=True)
class ComponentDeployments:
    """Component deployments, sorted by service key; their controller makes the rest."""

    def render(self, graph: Graph, site: Site, circumstances: Circumstances, /) -> Rendering:
        """One component deployment per service."""
        if any(service.nodes > 1 for service in graph.services) and not site.offers.sets_of_nodes:
            raise Unrenderable(f"{_FAILED}: no multinode orchestrator available")
        try:
            children = [
                render_component_deployment(graph, service, site, circumstances.restart) for service in graph.services
            ]
        except Unrenderable as error:
            raise error.within(_FAILED, "failed to generate the DynamoComponentsDeployments") from error
        return Rendering(tuple(children))
