"""Makes the cluster match a DynamoGraphDeployment on the component pathway (workloads.md 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dynamo_operator.check.graph_deployment import check_graph
from dynamo_operator.controllers import resources
from dynamo_operator.controllers.cluster import ChildError, Cluster
from dynamo_operator.controllers.finalizer import drop_finalizer
from dynamo_operator.controllers.graph_deployment.load import World, load_claims, load_world
from dynamo_operator.controllers.sources import object_of
from dynamo_operator.controllers.status_writer import Note, StatusWriter
from dynamo_operator.domain.graph import ComponentState, Graph, RestartStatus
from dynamo_operator.domain.manifest import Child
from dynamo_operator.domain.outcome import Rejected, Unrenderable
from dynamo_operator.domain.pathway import Circumstances
from dynamo_operator.domain.trees import trees_at
from dynamo_operator.plan.claims import claims_missing
from dynamo_operator.plan.restart import next_restart_status, restart_state
from dynamo_operator.render.graph import render_foundation, render_services
from dynamo_operator.runtime.apply import Applied
from dynamo_operator.runtime.controller import DONE, Result
from dynamo_operator.runtime.resource import Key
from dynamo_operator.status import conditions
from dynamo_operator.status.component_state import component_state_of
from dynamo_operator.status.graph_deployment import (
    status_of_failed_graph,
    status_of_graph,
    status_of_rejected_graph,
)

PRUNED: Final = (
    resources.COMPONENTS,
    resources.ADAPTERS,
    resources.CONFIG_MAPS,
    resources.INFERENCE_POOLS,
)
# Pods that still run may use the discovery account after the graph turned away from it.
KEPT: Final = (
    resources.SERVICE_ACCOUNTS,
    resources.ROLE_BINDINGS,
    resources.ROLES,
)


class GraphReconciler:
    """Brings one graph at a time to what its spec says."""

    def __init__(self, cluster: Cluster, statuses: StatusWriter) -> None:
        self._cluster = cluster
        self._statuses = statuses

    async def reconcile(self, key: Key) -> Result:
        """One pass; API errors are raised after they were written into the status."""
        world = load_world(self._cluster, self._statuses, key)
        if world is None:
            self._statuses.forget(key)
            return DONE
        await drop_finalizer(self._cluster, world.parent)
        if world.deleting:
            return DONE  # owner references collect the children
        try:
            status = await self._converge(world)
        except Rejected as rejected:  # only a new spec helps, so no retry
            return self._submit(world, self._rejected(world, rejected))
        except Unrenderable as problem:
            return self._submit(world, self._failed(world, str(problem)))
        except ChildError as problem:
            self._submit(world, self._failed(world, failure_text(problem)))
            raise problem.error from problem
        return self._submit(world, status)

    async def _converge(self, world: World) -> Mapping[str, Any]:
        site = self._cluster.site
        graph = check_graph(world.source, site)
        restart = next_restart_status(graph, world.restart, world.components)
        children = render_foundation(graph, site)
        problem: Unrenderable | None = None
        try:
            state = restart_state(graph, restart, world.components)
            children = [*children, *render_services(graph, site, Circumstances(state)).children]
        except Unrenderable as unrenderable:
            problem = unrenderable  # the components of the last good spec are left alone
        applied = await self._apply(world, children, complete=problem is None)
        if problem is not None:
            raise problem
        return self._status(world, graph, applied, restart)

    async def _apply(self, world: World, children: Sequence[Child], *, complete: bool) -> list[Applied]:
        applied = await self._cluster.apply_children(world.parent, children)
        kinds = PRUNED if complete else tuple(kind for kind in PRUNED if kind is not resources.COMPONENTS)
        await self._cluster.prune_children(world.parent, kinds, applied)
        return applied

    def _status(
        self, world: World, graph: Graph, applied: Sequence[Applied], restart: RestartStatus | None
    ) -> Mapping[str, Any]:
        return status_of_graph(
            graph,
            component_states(applied),
            restart,
            missing_claims=claims_missing(graph, load_claims(self._cluster, graph.namespace)),
            previous=world.status,
            now=self._cluster.now(),
        )

    def _rejected(self, world: World, rejected: Rejected) -> Mapping[str, Any]:
        return status_of_rejected_graph(
            rejected, previous=world.status, generation=world.source.generation, now=self._cluster.now()
        )

    def _failed(self, world: World, text: str) -> Mapping[str, Any]:
        return status_of_failed_graph(
            text, previous=world.status, generation=world.source.generation, now=self._cluster.now()
        )

    def _submit(self, world: World, status: Mapping[str, Any]) -> Result:
        self._statuses.submit(world.parent, status, stored=world.stored, notes=_notes(status))
        return DONE


def _notes(status: Mapping[str, Any]) -> tuple[Note, ...]:
    """Events that go with a status."""
    return tuple(
        Note("Warning", conditions.VALIDATION_FAILED, str(said["message"]).removeprefix("Validation failed: "))
        for said in trees_at(status, "conditions")
        if said["reason"] == conditions.VALIDATION_FAILED
    )


def component_states(applied: Sequence[Applied]) -> list[ComponentState]:
    """What the API server answered about the graph's component deployments."""
    return [component_state_of(object_of(a.body)) for a in applied if a.wanted.resource == resources.COMPONENTS]


_CONTEXT: Final = {
    resources.COMPONENTS: "failed to reconcile Dynamo components deployments: "
    "failed to sync the DynamoComponentDeployment",
    resources.ADAPTERS: "failed to reconcile scaling adapters",
    resources.CLAIMS: "failed to reconcile top-level PVCs",
    resources.CONFIG_MAPS: "failed to reconcile EPP resources: failed to sync EPP ConfigMap",
    resources.INFERENCE_POOLS: "failed to reconcile EPP resources: failed to sync EPP InferencePool",
    resources.SERVICE_ACCOUNTS: "failed to reconcile K8s discovery resources: "
    "failed to sync the k8s discovery service account",
    resources.ROLES: "failed to reconcile K8s discovery resources: failed to sync the k8s discovery role",
    resources.ROLE_BINDINGS: "failed to reconcile K8s discovery resources: "
    "failed to sync the k8s discovery role binding",
}


def failure_text(problem: ChildError) -> str:
    """What users read when a child could not be made (wording: workloads.md 12)."""
    context = _CONTEXT.get(problem.wanted.resource, f"failed to sync the {problem.wanted.resource.kind}")
    return f"{context}: {problem}"
