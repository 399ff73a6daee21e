"""What is doubtful about stored objects; asked with every status, so the many that stand on one node cost nothing."""

from __future__ import annotations

from collections.abc import Sequence

from dynamo_operator.check.clique_names import LIMIT, RESERVED, clique_name_violations
from dynamo_operator.check.component_deployment import check_component
from dynamo_operator.check.graph_deployment import check_graph, parse_graph
from dynamo_operator.domain.manifest import Tree
from dynamo_operator.domain.outcome import Doubt, Rejected
from dynamo_operator.domain.pathway import Pathway, pathway_of
from dynamo_operator.domain.site import Site
from dynamo_operator.domain.source import Source
from dynamo_operator.domain.trees import tree_at
from dynamo_operator.render.several_nodes import component_doubts, graph_doubts


def doubts_of_graph(source: Source, site: Site) -> Sequence[Doubt]:
    """Doubts about a graph; none about one that is refused."""
    services = tree_at(source.spec, "services")
    if not any(map(_spread, services.values())) and not _strains_grove(source.name, services):
        return ()
    try:
        return [*_name_doubts(source, site), *graph_doubts(check_graph(source, site), site)]
    except Rejected:
        return ()


def doubts_of_component(source: Source, site: Site) -> Sequence[Doubt]:
    """Doubts about a component of its own; about the others their graph tells."""
    if source.graph or not _spread(source.spec):
        return ()
    try:
        return component_doubts(check_component(source, site), site)
    except Rejected:
        return ()


def _name_doubts(source: Source, site: Site) -> list[Doubt]:
    """Names that Grove refuses, in the words of admission."""
    if pathway_of(source.annotations, site) is not Pathway.CLIQUES:
        return []
    found = clique_name_violations(source.name, parse_graph(source).services)
    return [Doubt(each.path, each.message.removeprefix(f"{each.path}: "), stops=True) for each in found]


def _strains_grove(graph: str, services: Tree) -> bool:
    """Whether the names are such that Grove may have something against them."""
    return RESERVED in services or len(graph) + max(map(len, services), default=0) > LIMIT


def _spread(spec: object) -> bool:
    return bool(tree_at(spec, "multinode"))
