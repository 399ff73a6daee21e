"""Makes the cluster match a DynamoComponentDeployment (workloads.md 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any, Final

from dynamo_operator.check.component_deployment import check_component
from dynamo_operator.controllers import resources
from dynamo_operator.controllers.cluster import ChildError, Cluster
from dynamo_operator.controllers.component_deployment.load import World, load_world
from dynamo_operator.controllers.discovery_keys import DiscoveryKeys
from dynamo_operator.controllers.doubts import doubts_of_component
from dynamo_operator.controllers.endings import Endings, StepError, concluded
from dynamo_operator.controllers.shared_services import release_shared_services
from dynamo_operator.controllers.sources import object_of
from dynamo_operator.controllers.status_writer import StatusWriter, warnings_of
from dynamo_operator.domain.component import Component
from dynamo_operator.domain.labels import BASE_MODEL
from dynamo_operator.domain.manifest import Child
from dynamo_operator.domain.outcome import Rejected, Unrenderable
from dynamo_operator.render.component import render_component
from dynamo_operator.render.workloads.registry import workload_of
from dynamo_operator.runtime.apply import Applied
from dynamo_operator.runtime.controller import DONE, Result
from dynamo_operator.runtime.errors import ApiError
from dynamo_operator.runtime.resource import Key
from dynamo_operator.status.attention import with_doubts
from dynamo_operator.status.component_deployment import (
    status_of_component,
    status_of_failed_component,
    status_of_rejected_component,
)

WORKLOADS: Final = (resources.DEPLOYMENTS, resources.LEADER_WORKER_SETS)
"""What runs pods, so that its status is ours to tell."""

PRUNED: Final = (
    *WORKLOADS,
    resources.POD_GROUPS,
    resources.SERVICES,
    resources.INGRESSES,
    resources.VIRTUAL_SERVICES,
)
_LATER_STAGES: Final = {resources.SERVICES: 1, resources.INGRESSES: 2, resources.VIRTUAL_SERVICES: 3}


class ComponentReconciler:
    """Brings one component deployment at a time to what its spec says."""

    def __init__(self, cluster: Cluster, discovery_keys: DiscoveryKeys, statuses: StatusWriter) -> None:
        self._cluster = cluster
        self._discovery_keys = discovery_keys
        self._statuses = statuses

    async def reconcile(self, key: Key) -> Result:
        """One pass; API errors are raised after they were written into the status."""
        world = load_world(self._cluster, self._statuses, key)
        if world is None:
            self._statuses.forget(key)
            self._cluster.forget(resources.COMPONENTS, key)
            self._discovery_keys.forget(key)
            return DONE
        if world.deleting:
            await release_shared_services(self._cluster, world.parent, applied=())
            return await self._discovery_keys.clean_up(world.parent, world.source)
        await self._discovery_keys.guard(world.parent, world.source)
        return await concluded(self._converge(world), self._endings(world))

    def _endings(self, world: World) -> Endings:
        return Endings(
            submit=partial(self._submit, world),
            rejected=partial(self._rejected, world),
            waiting=partial(self._failed, world),
            failed=partial(self._failed, world),
            text_of=failure_text,
        )

    async def _converge(self, world: World) -> Result:
        site = self._cluster.site
        component = check_component(world.source, site)
        try:
            children = render_component(component, site, world.surroundings)
        except Unrenderable as problem:
            # What could be rendered is there; what exists of the rest belongs to the last good spec and stays.
            await self._apply(world, problem.made)
            raise
        applied = await self._apply(world, children)
        await self._cluster.prune_others(world.parent, PRUNED, children)
        await release_shared_services(self._cluster, world.parent, applied)
        return self._submit(world, self._status(world, component, applied))

    async def _apply(self, world: World, children: Sequence[Child]) -> list[Applied]:
        """Make the children stage by stage: what the API server refuses keeps all later stages from being made."""
        applied: list[Applied] = []
        for _, stage in groupby(children, _stage):
            applied += await self._cluster.apply_children(world.parent, list(stage), renewed=world.renewed)
        return applied

    def _status(self, world: World, component: Component, applied: Sequence[Applied]) -> Mapping[str, Any]:
        kind = workload_of(component, self._cluster.site).kind
        return status_of_component(
            component,
            [object_of(a.body) for a in applied if a.wanted.resource.kind == kind],
            kind=kind,
            previous=world.status,
            generation=world.source.generation,
            now=self._cluster.now(),
        )

    def _rejected(self, world: World, rejected: Rejected) -> Mapping[str, Any]:
        return status_of_rejected_component(
            rejected, previous=world.status, generation=world.source.generation, now=self._cluster.now()
        )

    def _failed(self, world: World, text: str) -> Mapping[str, Any]:
        return status_of_failed_component(
            text, previous=world.status, generation=world.source.generation, now=self._cluster.now()
        )

    def _submit(self, world: World, status: Mapping[str, Any]) -> Result:
        doubts = doubts_of_component(world.source, self._cluster.site)
        told = with_doubts(status, doubts, generation=world.source.generation, now=self._cluster.now())
        self._statuses.submit(world.parent, told, stored=world.stored, notes=warnings_of(told))
        return DONE


def _stage(child: Child) -> int:
    """Workloads first, then Services, then what leads to them from outside."""
    return _LATER_STAGES.get(resources.resource_of(child.manifest), 0)


_CONTEXT: Final = {
    resources.DEPLOYMENTS: "failed to reconcile the resources: failed to create or update the deployment: "
    "create or update deployment",
    resources.POD_GROUPS: "failed to reconcile the resources: failed to sync the PodGroup",
    resources.LEADER_WORKER_SETS: "failed to reconcile the resources: failed to sync the LeaderWorkerSet",
    resources.SERVICES: "failed to create or update the service",
    resources.INGRESSES: "failed to create or update the ingress",
    resources.VIRTUAL_SERVICES: "failed to create or update the ingress",
}


def failure_text(problem: StepError | ApiError) -> str:
    """What users read when a child could not be made (wording: workloads.md 12)."""
    if not isinstance(problem, ChildError):
        return str(problem) if isinstance(problem, StepError) else problem.message
    context = _CONTEXT[problem.wanted.resource]
    if problem.wanted.shared:
        model = problem.wanted.manifest["metadata"]["annotations"][BASE_MODEL]
        context = f"failed to sync headless service for model {model}"
    return f"{context}: {problem}"
