"""The pathways there are; a new one is a file beside this one and a line here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dynamo_operator.domain.pathway import Pathway
from dynamo_operator.render.pathways.component_deployments import ComponentDeployments
from dynamo_operator.render.pathways.contract import PathwayRenderer
from dynamo_operator.render.pathways.pod_clique_set import PodCliqueSet

RENDERERS: Final[Mapping[Pathway, PathwayRenderer]] = {
    Pathway.COMPONENTS: ComponentDeployments(),
    Pathway.CLIQUES: PodCliqueSet(),
}
