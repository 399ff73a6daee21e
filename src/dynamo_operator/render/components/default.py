"""Every other component type, known or not (specification: workloads.md 6.2)."""

from __future__ import annotations

from dataclasses import dataclass

from dynamo_operator.domain import labels
from dynamo_operator.domain.component import Component
from dynamo_operator.domain.manifest import Tree
from dynamo_operator.render.components.contract import Defaults

# Named in the Service; pods have it when the user declares a port of this name.
PORT_NAME = "system"


@dataclass(frozen=True, slots=True)
class Default:
    """A container of which nothing is known."""

    def defaults(self, _component: Component, /) -> Defaults:
        """Nothing."""
        return Defaults()

    def service_port(self) -> Tree:
        """The system port: a Service needs a port, and its endpoints matter to discovery even without one."""
        return {"name": PORT_NAME, "port": labels.SYSTEM_PORT, "targetPort": PORT_NAME, "protocol": "TCP"}
