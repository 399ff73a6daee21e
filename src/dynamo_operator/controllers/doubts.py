"""What is doubtful about stored objects; asked with every status, so the many that stand on one node cost nothing."""

from __future__ import annotations

from collections.abc import Sequence

from dynamo_operator.check.component_deployment import check_component
from dynamo_operator.check.graph_deployment import check_graph
from dynamo_operator.domain.outcome import Doubt, Rejected
from dynamo_operator.domain.site import Site
from dynamo_operator.domain.source import Source
from dynamo_operator.domain.trees import tree_at
from dynamo_operator.render.several_nodes import component_doubts, graph_doubts


def doubts_of_graph(source: Source, site: Site) -> Sequence[Doubt]:
    """Doubts about a graph; none about one that is refused."""
    if not any(map(_spread, tree_at(source.spec, "services").values())):
        return ()
    try:
        return graph_doubts(check_graph(source, site), site)
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


def _spread(spec: object) -> bool:
    return bool(tree_at(spec, "multinode"))
