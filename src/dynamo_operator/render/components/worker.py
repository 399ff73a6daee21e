"""Workers: run a model, whole or only its prefill or decode half (specification: workloads.md 6.2)."""

from __future__ import annotations

from dataclasses import dataclass

from dynamo_operator.domain import labels, variables
from dynamo_operator.domain.component import Component
from dynamo_operator.domain.manifest import Tree
from dynamo_operator.render.components.contract import Defaults, container_port, http_probe

# Named in the workers' probes and Service; manifests of users repeat it.
PORT_NAME = "system"


@dataclass(frozen=True, slots=True)
class Worker:
    """A container whose command comes from the user; its system port tells health."""

    def defaults(self, _component: Component, /) -> Defaults:
        """System port and probes. A model may take two hours to load: 720 periods of 10 seconds."""
        return Defaults(
            container={
                "ports": [container_port(PORT_NAME, labels.SYSTEM_PORT)],
                "livenessProbe": http_probe("/live", PORT_NAME, periodSeconds=5, timeoutSeconds=4, failureThreshold=1),
                "readinessProbe": http_probe(
                    "/health", PORT_NAME, periodSeconds=10, timeoutSeconds=4, failureThreshold=3
                ),
                "startupProbe": http_probe(
                    "/live", PORT_NAME, periodSeconds=10, timeoutSeconds=5, failureThreshold=720
                ),
            },
            environment={
                variables.DYN_SYSTEM_ENABLED: "true",
                variables.DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS: '["generate"]',
                variables.DYN_SYSTEM_PORT: str(labels.SYSTEM_PORT),
                variables.DYN_HEALTH_CHECK_ENABLED: "false",
            },
        )

    def service_port(self) -> Tree:
        """The system port."""
        return {"name": PORT_NAME, "port": labels.SYSTEM_PORT, "targetPort": PORT_NAME, "protocol": "TCP"}
