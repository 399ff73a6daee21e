"""Everything that a graph turns into on the component pathway (specification: workloads.md 3.2, steps 4 to 13)."""

from __future__ import annotations

from typing import Final

from dynamo_operator.domain.graph import Graph, RestartState
from dynamo_operator.domain.manifest import Child
from dynamo_operator.domain.outcome import Unrenderable
from dynamo_operator.domain.site import Site
from dynamo_operator.render.account_rbac import render_accounts
from dynamo_operator.render.claim import render_claims
from dynamo_operator.render.component_deployment import render_component_deployment
from dynamo_operator.render.discovery_rbac import render_discovery_rbac
from dynamo_operator.render.endpoint_picker import render_endpoint_picker
from dynamo_operator.render.scaling_adapter import render_scaling_adapters

_FAILED: Final = "failed to reconcile Dynamo components deployments"


def render_graph(graph: Graph, site: Site, restart: RestartState) -> list[Child]:
    """All children of a graph, in the order in which they are applied.

    Raises Unrenderable where one of them cannot be made.
    """
    return [*render_foundation(graph, site), *render_components(graph, site, restart)]


def render_foundation(graph: Graph, site: Site) -> list[Child]:
    """What the component deployments of a graph stand on: accounts, claims, adapters, discovery, endpoint picking.

    It is there even when no component deployment can be made. Raises Unrenderable.
    """
    return [
        *render_accounts(graph, site),
        *render_claims(graph),
        *render_scaling_adapters(graph),
        *render_discovery_rbac(graph, site),
        *render_endpoint_picker(graph, site),
    ]


def render_components(graph: Graph, site: Site, restart: RestartState) -> list[Child]:
    """One component deployment per service, sorted by service key. Raises Unrenderable."""
    several_nodes = any(service.nodes > 1 for service in graph.services)
    if several_nodes and not site.offers.sets_of_nodes:
        raise Unrenderable(f"{_FAILED}: no multinode orchestrator available")
    try:
        return [render_component_deployment(graph, service, site, restart) for service in graph.services]
    except Unrenderable as error:
        raise error.within(_FAILED, "failed to generate the DynamoComponentsDeployments") from error
