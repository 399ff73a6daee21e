"""The frontend: answers HTTP and finds the workers (specification: workloads.md 6.2)."""

from __future__ import annotations

from dataclasses import dataclass

from dynamo_operator.domain import labels, variables
from dynamo_operator.domain.component import Component
from dynamo_operator.domain.manifest import Tree
from dynamo_operator.render.components.contract import Defaults, container_port, http_probe

# Named in the frontend's probes and Service; manifests of users repeat it.
PORT_NAME = "http"


@dataclass(frozen=True, slots=True)
class Frontend:
    """A container that starts by itself: only an image must be given."""

    def defaults(self, _component: Component, /) -> Defaults:
        """Command, port and probes of the frontend."""
        port = str(labels.FRONTEND_PORT)
        return Defaults(
            container={
                "command": ["python3"],
                "args": ["-m", "dynamo.frontend"],
                "ports": [container_port(PORT_NAME, labels.FRONTEND_PORT)],
                "livenessProbe": http_probe(
                    "/live", PORT_NAME, initialDelaySeconds=15, periodSeconds=10, timeoutSeconds=1, failureThreshold=3
                ),
                "readinessProbe": http_probe(
                    "/health", PORT_NAME, initialDelaySeconds=10, periodSeconds=10, timeoutSeconds=3, failureThreshold=3
                ),
            },
            environment={variables.DYNAMO_PORT: port, variables.DYN_HTTP_PORT: port},
        )

    def service_port(self) -> Tree:
        """The HTTP port."""
        return {"name": PORT_NAME, "port": labels.FRONTEND_PORT, "targetPort": PORT_NAME, "protocol": "TCP"}
