"""The workloads there are, and which one runs a component."""

from __future__ import annotations

from typing import Final

from dynamo_operator.domain.component import Component
from dynamo_operator.domain.outcome import Unrenderable
from dynamo_operator.render.workloads.contract import Workload
from dynamo_operator.render.workloads.deployment import Deployment

_SINGLE_NODE: Final[Workload] = Deployment()


def workload_of(component: Component) -> Workload:
    """What runs the component; raises Unrenderable when nothing here can."""
    if component.nodes > 1:
        raise Unrenderable("no multinode orchestrator available")
    return _SINGLE_NODE
