"""What an inference backend is to the operator: what it is told, and what it adds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final, Protocol

from dynamo_operator.domain.component import Component
from dynamo_operator.domain.manifest import Tree
from dynamo_operator.domain.outcome import Doubt


class Role(Enum):
    """What a pod is among the pods of one replica."""

    MAIN = "main"
    """The only pod."""
    LEADER = "leader"
    WORKER = "worker"


@dataclass(frozen=True, slots=True)
class Peers:
    """How the pods of one replica find each other; every text is for a shell unless said otherwise.

    ``leader_argument`` is the leader's host where no shell reads it, only the kubelet. ``rank`` is a worker's own rank,
    ``rank_term`` the same inside of ``$(( ))``. ``awaits_names``: names of workers may be unknown for a while.
    """

    leader: str = ""
    leader_argument: str = ""
    workers: tuple[str, ...] = ()
    rank: str = ""
    rank_term: str = ""
    awaits_names: bool = False


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a pod stands: its role, over how many nodes one replica is spread, and how to reach the others."""

    role: Role = Role.MAIN
    nodes: int = 1
    peers: Peers = Peers()


SINGLE: Final = Placement()
"""The place of a pod that is alone."""


@dataclass(frozen=True, slots=True)
class Start:
    """How the main container would be started without the backend's say.

    ``variables`` are the names of its environment variables, sorted. ``ssh_secret`` is the Secret with the key pair
    that the nodes of one replica may use among each other.
    """

    component: Component
    placement: Placement = SINGLE
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    ssh_secret: str = ""


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


UNPROBED: Final[tuple[tuple[str, Tree | None], ...]] = (
    ("livenessProbe", None),
    ("readinessProbe", None),
    ("startupProbe", None),
)
"""The probes of a pod that answers nobody but its leader."""


# Where in a component's spec users mend what backends doubt.
MAIN_FIELD: Final = "extraPodSpec.mainContainer"
GPU_FIELD: Final = "resources.limits.gpu"
NODES_FIELD: Final = "multinode"


class Backend(Protocol):
    """A way to run a model, on one node or on several."""

    @property
    def name(self) -> str:
        """Value of ``backendFramework``."""
        ...

    @property
    def cache_path(self) -> str:
        """Default mount path of a compilation cache, empty when there is none."""
        ...

    @property
    def needs_ssh(self) -> bool:
        """Its nodes reach each other by SSH, so they need a key pair."""
        ...

    def launch(self, start: Start, /) -> Launch:
        """What this backend adds to the pod that would start so."""
        ...

    def doubts(self, start: Start, /) -> Iterable[Doubt]:
        """What keeps a leader on several nodes that starts so from working; paths begin below the component's spec."""
        ...
