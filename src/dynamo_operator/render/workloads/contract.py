"""What a workload is to the operator: the objects that run a component's pods."""

from __future__ import annotations

from typing import Protocol

from dynamo_operator.domain.component import Component, Surroundings
from dynamo_operator.domain.manifest import Child
from dynamo_operator.domain.site import Site


class Workload(Protocol):
    """A way to run pods."""

    @property
    def kind(self) -> str:
        """Kind of the objects that tell how far the pods are."""
        ...

    def render(self, component: Component, site: Site, surroundings: Surroundings, /) -> list[Child]:
        """The objects that run the component; raises Unrenderable when its spec allows none."""
        ...
