"""Everything that a graph turns into (specification: workloads.md 3.2, steps 4 to 13)."""

from __future__ import annotations

from dynamo_operator.domain.graph import Graph
from dynamo_operator.domain.manifest import Child
from dynamo_operator.domain.names import component_name
from dynamo_operator.domain.outcome import Unrenderable
from dynamo_operator.domain.pathway import Circumstances, pathway_of
from dynamo_operator.domain.site import Site
from dynamo_operator.render.account_rbac import render_accounts
from dynamo_operator.render.claim import render_claims
from dynamo_operator.render.discovery_rbac import render_discovery_rbac
from dynamo_operator.render.endpoint_picker import render_endpoint_picker
from dynamo_operator.render.pathways.contract import Rendering
from dynamo_operator.render.pathways.registry import RENDERERS
from dynamo_operator.render.scaling_adapter import render_scaling_adapters


def render_graph(graph: Graph, site: Site, circumstances: Circumstances) -> list[Child]:
    """All children of a graph, in the order in which they are applied.

    Raises Unrenderable where one of them cannot be made.
    """
    return [*render_foundation(graph, site), *render_services(graph, site, circumstances).children]


def render_foundation(graph: Graph, site: Site) -> list[Child]:
    """What the services of a graph stand on: accounts, claims, adapters, discovery, endpoint picking.

    It is there even when nothing can be made of the services. Raises Unrenderable.
    """
    _check_names(graph)
    return [
        *render_accounts(graph, site),
        *render_claims(graph),
        *render_scaling_adapters(graph),
        *render_discovery_rbac(graph, site),
        *render_endpoint_picker(graph, site),
    ]


def render_services(graph: Graph, site: Site, circumstances: Circumstances) -> Rendering:
    """What the services of a graph become on the way that the graph takes. Raises Unrenderable."""
    return RENDERERS[pathway_of(graph.annotations, site)].render(graph, site, circumstances)


def _check_names(graph: Graph) -> None:
    """Raise Unrenderable where two services would be one object, which each of them would undo for the other."""
    keys: dict[str, str] = {}
    for service in graph.services:
        other = keys.setdefault(component_name(graph.name, service.key), service.key)
        if other != service.key:
            name = component_name(graph.name, service.key)
            raise Unrenderable(
                f"services {other} and {service.key} differ in case only and would both be called {name}: rename one"
            )
