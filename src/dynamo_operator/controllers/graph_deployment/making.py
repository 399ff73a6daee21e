"""Makes the objects of a graph in the order in which they need each other, and removes what is no longer wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dynamo_operator.controllers import resources
from dynamo_operator.controllers.cluster import ChildError, Cluster, Parent
from dynamo_operator.controllers.shared_services import release_shared_services
from dynamo_operator.domain.manifest import Child
from dynamo_operator.runtime.apply import Applied, Foreign
from dynamo_operator.runtime.owner import CONTROLLER_UID
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.views import OwnerReference

FOUNDATION: Final = (resources.ADAPTERS, resources.CONFIG_MAPS, resources.INFERENCE_POOLS)
"""What services stand on, whatever they become."""
WORKLOADS: Final = (resources.COMPONENTS, resources.POD_CLIQUE_SETS)
"""What services become; a graph that takes another pathway loses what it was before."""
COMPANIONS: Final = (resources.SERVICES, resources.INGRESSES, resources.VIRTUAL_SERVICES)
"""What pathways make that have no other controller for it."""
PRUNED: Final = (*FOUNDATION, *WORKLOADS, *COMPANIONS)
# Pods that still run may use the discovery account after the graph turned away from it.
KEPT: Final = (
    resources.SERVICE_ACCOUNTS,
    resources.ROLE_BINDINGS,
    resources.ROLES,
)


@dataclass(frozen=True, slots=True)
class Making:
    """Makes the objects of one graph."""

    cluster: Cluster
    parent: Parent

    async def foundation(self, children: Sequence[Child]) -> None:
        """Make what services stand on. Raises ChildError."""
        await self.cluster.apply_children(self.parent, children)
        await self.cluster.prune_others(self.parent, FOUNDATION, children)

    async def workloads(self, foundation: Sequence[Child], workloads: Sequence[Child]) -> list[Applied]:
        """Make foundation and workloads. Raises ChildError; nothing of what runs is removed."""
        children = [*foundation, *workloads]
        try:
            applied = await self.cluster.apply_children(self.parent, children)
        except ChildError:
            await self.cluster.prune_others(self.parent, FOUNDATION, children)
            raise
        await self.cluster.prune_others(self.parent, FOUNDATION, children)
        return applied

    async def succession(self, workloads: Sequence[Child], *, attended: bool) -> Sequence[str]:
        """Remove workloads that are no longer wanted; why they stay, nothing when they go.

        Those of another pathway stay until somebody attends to the new ones: definitions may be installed long before
        the controller that makes pods of them, or without it.
        """
        made = {resources.resource_of(child.manifest) for child in workloads}
        former = [kind for kind in WORKLOADS if kind not in made and self._has(kind)]
        if former and not attended:
            kinds, name = ", ".join(kind.kind for kind in former), self.parent.meta.name
            seen = ", ".join(sorted(kind.kind for kind in made))
            return [f"{name}: {kinds} stays until the controller of {seen} has looked at {self.parent.meta.key}"]
        await self.cluster.prune_others(self.parent, WORKLOADS, workloads)
        return ()

    def _has(self, kind: Resource) -> bool:
        return bool(self.cluster.informers[kind].by(CONTROLLER_UID, self.parent.meta.uid))

    async def companions(self, children: Sequence[Child]) -> Sequence[str]:
        """Make what goes with the workloads; what stands in the way for a moment, nothing when all is made.

        Raises ChildError. The names that component deployments used are free only when those are gone.
        """
        try:
            applied = await self.cluster.apply_children(self.parent, children)
        except ChildError as problem:
            holder = self._former_holder(problem.error)
            if holder is None:
                raise
            kind, key = problem.wanted.resource.kind, problem.wanted.key
            return [f"{key.name}: {kind} {key} is made when the former {holder.kind} {holder.name} has let go of it"]
        await self.cluster.prune_others(self.parent, COMPANIONS, children)
        await release_shared_services(self.cluster, self.parent, applied)
        return ()

    def _former_holder(self, error: Exception) -> OwnerReference | None:
        """The component deployment of this graph that is on its way out and still holds a name; None if none does."""
        holder = error.controller if isinstance(error, Foreign) else None
        if holder is None or holder.kind != resources.COMPONENTS.kind:
            return None
        key = Key(self.parent.meta.namespace, holder.name)
        component = self.cluster.informers[resources.COMPONENTS].get(key)
        gone = component is None or component.metadata.uid != holder.uid or component.metadata.deleting
        return holder if gone else None
