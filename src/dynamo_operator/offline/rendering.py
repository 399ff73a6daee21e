"""What the operator would apply for a document, in the order in which it would, without a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dynamo_operator.check.component_deployment import check_component
from dynamo_operator.check.graph_deployment import check_graph
from dynamo_operator.check.object_names import object_name_violations
from dynamo_operator.domain.component import Component, Surroundings
from dynamo_operator.domain.graph import Graph
from dynamo_operator.domain.manifest import Child, Manifest
from dynamo_operator.domain.outcome import Rejected
from dynamo_operator.domain.pathway import Circumstances
from dynamo_operator.domain.site import Site
from dynamo_operator.domain.source import Source
from dynamo_operator.offline.sources import source_of
from dynamo_operator.render.component import render_component
from dynamo_operator.render.graph import render_graph

GRAPH = "DynamoGraphDeployment"
COMPONENT = "DynamoComponentDeployment"
RENDERED = (GRAPH, COMPONENT)


@dataclass(frozen=True, slots=True)
class Rendered:
    """One object to apply, and the object that it is applied for (``parent``: kind namespace/name)."""

    parent: str
    child: Child


def render_manifest(manifest: Manifest, site: Site, *, namespace: str) -> Iterator[Rendered]:
    """Everything that a graph or a component deployment leads to; other kinds lead to nothing.

    ``namespace`` is used where the manifest names none. Raises Rejected and Unrenderable as the operator would,
    and Rejected for names that no API server takes.
    """
    source = source_of(manifest, namespace)
    if manifest.get("kind") == GRAPH:
        yield from render_checked_graph(check_graph(source, site), site)
    elif manifest.get("kind") == COMPONENT:
        yield from render_checked_component(check_component(source, site), site)


def render_checked_graph(graph: Graph, site: Site) -> Iterator[Rendered]:
    """A graph's children, then the children of its component deployments. Raises as render_manifest does."""
    parent = f"{GRAPH} {graph.namespace}/{graph.name}"
    if misnamed := tuple(object_name_violations(graph.name, (service.key for service in graph.services))):
        raise Rejected(*misnamed)
    children = render_graph(graph, site, Circumstances())
    yield from (Rendered(parent, child) for child in children)
    for child in children:
        if child.manifest["kind"] == COMPONENT:
            yield from render_checked_component(check_component(_part_of(child.manifest, graph), site), site)


def render_checked_component(component: Component, site: Site) -> Iterator[Rendered]:
    """The children of a component deployment, in a namespace without pull secrets and labelled accounts."""
    parent = f"{COMPONENT} {component.namespace}/{component.name}"
    yield from (Rendered(parent, child) for child in render_component(component, site, Surroundings()))


def _part_of(manifest: Manifest, graph: Graph) -> Source:
    """A rendered component deployment as the API server would return it: owned by its graph."""
    metadata = {
        **manifest["metadata"],
        "ownerReferences": [{"kind": GRAPH, "name": graph.name, "controller": True}],
    }
    return source_of({**manifest, "metadata": metadata}, graph.namespace)
