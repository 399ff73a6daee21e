"""What a component type is to the operator: the defaults that it brings, and the port that its Service publishes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from dynamo_operator.domain.component import Component
from dynamo_operator.domain.manifest import Tree


@dataclass(frozen=True, slots=True)
class Defaults:
    """What a type says of its main container and of its pod, before users have their say.

    ``container`` holds Container fields other than ``env``, ``environment`` its variables, ``pod`` PodSpec fields.
    """

    container: Tree = field(default_factory=dict[str, object])
    environment: Tree = field(default_factory=dict[str, str])
    pod: Tree = field(default_factory=dict[str, object])


class ComponentType(Protocol):
    """A role in a graph."""

    def defaults(self, component: Component, /) -> Defaults:
        """Defaults for this component; made anew for each call."""
        ...

    def service_port(self) -> Tree:
        """The one port of its Services."""
        ...


def http_probe(path: str, port: str, **timing: int) -> Tree:
    """A probe that asks a named port by HTTP; ``timing`` holds Probe fields in seconds and counts."""
    return {"httpGet": {"path": path, "port": port}, **timing}


def container_port(name: str, number: int) -> Tree:
    """A named TCP port of a container."""
    return {"name": name, "containerPort": number, "protocol": "TCP"}
