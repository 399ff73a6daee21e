"""The pathways there are; a new one is a file beside this one and a line here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dynamo_operator.controllers.graph_deployment.pathways.component_deployments import ComponentDeploymentsDriver
from dynamo_operator.controllers.graph_deployment.pathways.contract import PathwayDriver
from dynamo_operator.controllers.graph_deployment.pathways.pod_clique_set import PodCliqueSetDriver
from dynamo_operator.domain.pathway import Pathway

DRIVERS: Final[Mapping[Pathway, PathwayDriver]] = {
    Pathway.COMPONENTS: ComponentDeploymentsDriver(),
    Pathway.CLIQUES: PodCliqueSetDriver(),
}
