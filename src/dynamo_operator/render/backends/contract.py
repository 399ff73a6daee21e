"""What an inference backend is to the operator: what it is told, and what it adds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, Protocol

from dynamo_operator.domain.component import Component
from dynamo_operator.domain.manifest import Tree


class Role(Enum):
    """What a pod is among the pods of one replica."""

    MAIN = "main"
    """The only pod."""
    LEADER = "leader"
    WORKER = "worker"


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a pod stands: its role, and over how many nodes one replica is spread."""

    role: Role = Role.MAIN
    nodes: int = 1


SINGLE: Final = Placement()
"""The place of a pod that is alone."""


@dataclass(frozen=True, slots=True)
class Start:
    """How the main container would be started without the backend's say.

    ``variables`` are the names of its environment variables, sorted.
    """

    component: Component
    placement: Placement = SINGLE
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Launch:
    """What a backend adds to a pod. None leaves what is there; the lists are appended, in their order.

    ``probes``: probe field (``livenessProbe``) -> its replacement, or None to remove it.
    """

    command: tuple[str, ...] | None = None
    args: tuple[str, ...] | None = None
    environment: tuple[Tree, ...] = ()
    mounts: tuple[Tree, ...] = ()
    volumes: tuple[Tree, ...] = ()
    probes: tuple[tuple[str, Tree | None], ...] = ()


class Backend(Protocol):
    """A way to run a model: its name in the API, where it caches compilations (empty: nowhere), how it starts."""

    @property
    def name(self) -> str:
        """Value of ``backendFramework``."""
        ...

    @property
    def cache_path(self) -> str:
        """Default mount path of a compilation cache, empty when there is none."""
        ...

    def launch(self, start: Start, /) -> Launch:
        """What this backend adds to the pod that would start so."""
        ...
