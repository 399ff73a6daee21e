"""What only rendering refuses in a document that passed the checks, in the operator's words, at the service meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from dynamo_operator.check.component_deployment import check_component
from dynamo_operator.check.graph_deployment import check_graph
from dynamo_operator.domain.graph import Graph, Service
from dynamo_operator.domain.outcome import Rejected, Unrenderable, Violation
from dynamo_operator.domain.site import Site
from dynamo_operator.domain.source import Source
from dynamo_operator.offline.rendering import COMPONENT, GRAPH, Rendered, render_checked_component, render_checked_graph
from dynamo_operator.render.several_nodes import component_doubts, graph_doubts

_SOME_NAME: Final = "name"
"""Stands in for the name that an API server would make up."""


def refusals(kind: str, source: Source, site: Site) -> list[Violation]:
    """One for each service that nothing can be made of, and what several of them do not allow each other.

    Raises Rejected where the checks refuse the document.
    """
    source = replace(source, name=source.name or _SOME_NAME)
    if kind == GRAPH:
        return _graph_refusals(check_graph(source, site), site)
    if kind != COMPONENT:
        return []
    component = check_component(source, site)
    stops = (doubt.path for doubt in component_doubts(component, site) if doubt.stops)
    refused = _refused(render_checked_component(component, site))
    return [Violation(text, next(stops, "spec")) for text in refused]


def _graph_refusals(graph: Graph, site: Site) -> list[Violation]:
    found = [
        Violation(text, _place(graph, service, site))
        for service in graph.services
        for text in _refused(render_checked_graph(_of(graph, [service]), site))
    ]
    return [*found, *_joint_refusals(graph, site, {one.message for one in found})]


def _joint_refusals(graph: Graph, site: Site, told: set[str]) -> list[Violation]:
    """What services do not allow each other, at the first that the ones before it do not allow."""
    for text in _refused(render_checked_graph(graph, site)):
        for count, service in enumerate(graph.services, start=1):
            if text not in told and text in _refused(render_checked_graph(_of(graph, graph.services[:count]), site)):
                return [Violation(text, f"spec.services[{service.key}]")]
    return []


def _of(graph: Graph, services: Iterable[Service]) -> Graph:
    """The graph with some of its services only."""
    return replace(graph, services=tuple(services))


def _place(graph: Graph, service: Service, site: Site) -> str:
    """The field of a service that keeps it from being made, as far as that is known, else the service."""
    doubts = graph_doubts(_of(graph, [service]), site)
    return next((doubt.path for doubt in doubts if doubt.stops), f"spec.services[{service.key}]")


def _refused(rendering: Iterator[Rendered]) -> Sequence[str]:
    """Why nothing can be rendered; nothing where it can."""
    try:
        for _ in rendering:
            pass
    except Rejected as refusal:
        return [violation.message for violation in refusal.violations]
    except Unrenderable as refusal:
        return [str(refusal)]
    return []
