"""What a pathway is to the controller of graphs: what it reads, and what it does beyond making objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from dynamo_operator.controllers.cluster import Cluster
from dynamo_operator.domain.graph import ComponentState, Graph
from dynamo_operator.domain.pathway import Circumstances
from dynamo_operator.runtime.apply import Applied
from dynamo_operator.runtime.resource import Resource


@dataclass(frozen=True, slots=True)
class Standing:
    """What exists of a graph's services, by service, and what shapes what is made of them."""

    states: Mapping[str, ComponentState]
    circumstances: Circumstances


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the services are, and what the graph waits for."""

    states: Sequence[ComponentState]
    problems: Sequence[str]


class PathwayDriver(Protocol):
    """A way from a graph to pods."""

    @property
    def needed(self) -> Sequence[Resource]:
        """Optional kinds whose caches have to be filled before anything is decided."""
        ...

    async def load(self, cluster: Cluster, graph: Graph, /) -> Standing:
        """What exists of the graph's services. Raises StepError where no cache holds it and asking failed."""
        ...

    async def follow_up(self, cluster: Cluster, graph: Graph, /) -> None:
        """What is to be done once the workloads are made. Raises StepError."""
        ...

    def attended(self, applied: Sequence[Applied], /) -> bool:
        """Whether the controller that makes pods of the workloads has seen them."""
        ...

    def progress(self, cluster: Cluster, graph: Graph, applied: Sequence[Applied], /) -> Progress:
        """How far the services are after the workloads were made."""
        ...
