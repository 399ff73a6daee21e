"""What a pathway is to the core: the objects that it makes of a graph's services."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from dynamo_operator.domain.graph import Graph
from dynamo_operator.domain.manifest import Child
from dynamo_operator.domain.pathway import Circumstances
from dynamo_operator.domain.site import Site


@dataclass(frozen=True, slots=True)
class Rendering:
    """What is to be there: ``companions`` are only made once the API server has accepted all ``workloads``."""

    workloads: tuple[Child, ...]
    companions: tuple[Child, ...] = ()

    @property
    def children(self) -> list[Child]:
        """All of them, in the order in which they are applied."""
        return [*self.workloads, *self.companions]


class PathwayRenderer(Protocol):
    """A way from a graph to pods."""

    def render(self, graph: Graph, site: Site, circumstances: Circumstances, /) -> Rendering:
        """The objects that run the services; raises Unrenderable when nothing can."""
        ...
