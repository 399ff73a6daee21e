"""What the operator does for a graph besides applying objects, so that no manifest shows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dynamo_operator.check.graph_deployment import check_graph
from dynamo_operator.domain.graph import Graph
from dynamo_operator.domain.manifest import Manifest
from dynamo_operator.domain.names import clique_object_name
from dynamo_operator.domain.pathway import Pathway, pathway_of
from dynamo_operator.domain.site import Site
from dynamo_operator.offline.rendering import GRAPH
from dynamo_operator.offline.sources import source_of
from dynamo_operator.render.ssh_key import needs_ssh_key

_KEY_FLAGS: Final = "--mpi-run-ssh-secret-name and --mpi-run-ssh-secret-namespace"


def later_steps(manifest: Manifest, site: Site, *, namespace: str) -> list[str]:
    """One sentence for each step; none for what is not a graph. Raises Rejected as render_manifest does."""
    if manifest.get("kind") != GRAPH:
        return []
    graph = check_graph(source_of(manifest, namespace), site)
    return [*_key_steps(graph, site), *_scale_steps(graph, site)]


def _key_steps(graph: Graph, site: Site) -> Iterator[str]:
    if not needs_ssh_key(graph):
        return
    if site.mpi_secret_name:
        source = f"{site.mpi_secret_namespace}/{site.mpi_secret_name}"
        yield f"Secret {graph.namespace}/{site.mpi_secret_name} is copied from {source}"
    else:
        yield f"nodes reach each other by SSH, and no key pair is named: set {_KEY_FLAGS}"


def _scale_steps(graph: Graph, site: Site) -> Iterator[str]:
    if pathway_of(graph.annotations, site) is not Pathway.CLIQUES:
        return
    for service in graph.services:
        if service.replicas == 0:
            kind = "PodCliqueScalingGroup" if service.nodes > 1 else "PodClique"
            name = clique_object_name(graph.name, service.key)
            yield f"{kind} {graph.namespace}/{name} is scaled to 0 as soon as Grove has made it"
