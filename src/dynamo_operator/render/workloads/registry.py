"""The workloads there are, and which one runs a component."""

from __future__ import annotations

from typing import Final

from dynamo_operator.domain.component import Component
from dynamo_operator.domain.outcome import Unrenderable
from dynamo_operator.domain.site import Site
from dynamo_operator.render.workloads.contract import Workload
from dynamo_operator.render.workloads.deployment import Deployment
from dynamo_operator.render.workloads.leader_worker_set import LeaderWorkerSet

_ONE_NODE: Final[Workload] = Deployment()
_SEVERAL_NODES: Final[Workload] = LeaderWorkerSet()

WORKLOADS: Final = (_ONE_NODE, _SEVERAL_NODES)


def workload_of(component: Component, site: Site) -> Workload:
    """What runs the component; raises Unrenderable when nothing here can."""
    if component.nodes <= 1:
        return _ONE_NODE
    if not site.offers.sets_of_nodes:
        raise Unrenderable("no multinode orchestrator available")
    return _SEVERAL_NODES
