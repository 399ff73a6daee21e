"""Graphs as component deployments: their own controller does the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dynamo_operator.controllers.cluster import Cluster
from dynamo_operator.controllers.graph_deployment.pathways.contract import Progress, Standing
from dynamo_operator.controllers.resources import COMPONENTS
from dynamo_operator.controllers.sources import object_of
from dynamo_operator.domain.graph import Graph
from dynamo_operator.domain.pathway import Circumstances
from dynamo_operator.runtime.apply import Applied
from dynamo_operator.runtime.owner import CONTROLLER_UID
from dynamo_operator.runtime.resource import Resource
from dynamo_operator.status.component_state import component_problems, component_state_of


@dataclass(frozen=True, slots=True)
class ComponentDeploymentsDriver:
    """Reads the component deployments of a graph."""

    needed: Sequence[Resource] = ()

    async def load(self, cluster: Cluster, graph: Graph, /) -> Standing:
        """The component deployments that the graph controls."""
        owned = cluster.informers[COMPONENTS].by(CONTROLLER_UID, graph.uid)
        states = [component_state_of(object_of(body)) for body in owned if not body.metadata.deleting]
        return Standing({state.service: state for state in states}, Circumstances())

    async def follow_up(self, _cluster: Cluster, _graph: Graph, /) -> None:
        """Nothing."""

    def attended(self, _applied: Sequence[Applied], /) -> bool:
        """True: their controller is part of this operator."""
        return True

    def progress(self, _cluster: Cluster, graph: Graph, applied: Sequence[Applied], /) -> Progress:
        """What the API server answered about the component deployments."""
        states = [component_state_of(object_of(a.body)) for a in applied if a.wanted.resource == COMPONENTS]
        return Progress(states, component_problems(graph, states))
