"""The planner: scales the graph it belongs to (specification: workloads.md 6.2)."""

from __future__ import annotations

from dataclasses import dataclass

from dynamo_operator.domain import labels, variables
from dynamo_operator.domain.component import Component
from dynamo_operator.domain.manifest import Tree
from dynamo_operator.render.components.contract import Defaults, container_port

# Named by the planner's PodMonitor and Service.
PORT_NAME = "metrics"


@dataclass(frozen=True, slots=True)
class Planner:
    """A container with an account that may change graphs."""

    def defaults(self, _component: Component, /) -> Defaults:
        """Metrics port and account."""
        return Defaults(
            container={"ports": [container_port(PORT_NAME, labels.PLANNER_METRICS_PORT)]},
            environment={variables.PLANNER_PROMETHEUS_PORT: str(labels.PLANNER_METRICS_PORT)},
            pod={"serviceAccountName": labels.PLANNER_ACCOUNT},
        )

    def service_port(self) -> Tree:
        """The metrics port, as planners have no system port."""
        return {"name": PORT_NAME, "port": labels.PLANNER_METRICS_PORT, "targetPort": PORT_NAME, "protocol": "TCP"}
