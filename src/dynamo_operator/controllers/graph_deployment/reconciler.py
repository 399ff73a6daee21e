"""Makes the cluster match a DynamoGraphDeployment (workloads.md 3, grove.md 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from dynamo_operator.check.graph_deployment import check_graph
from dynamo_operator.controllers import resources
from dynamo_operator.controllers.cluster import ChildError, Cluster
from dynamo_operator.controllers.cluster_roles import ClusterRoles
from dynamo_operator.controllers.doubts import doubts_of_graph
from dynamo_operator.controllers.endings import Endings, StepError, concluded
from dynamo_operator.controllers.finalizer import drop_finalizer
from dynamo_operator.controllers.graph_deployment.load import World, load_claims, load_world
from dynamo_operator.controllers.graph_deployment.making import Making
from dynamo_operator.controllers.graph_deployment.pathways.contract import PathwayDriver, Progress
from dynamo_operator.controllers.graph_deployment.pathways.registry import DRIVERS
from dynamo_operator.controllers.ssh_keys import provide_ssh_key
from dynamo_operator.controllers.status_writer import StatusWriter, warnings_of
from dynamo_operator.domain.graph import Graph, RestartStatus
from dynamo_operator.domain.labels import BASE_MODEL
from dynamo_operator.domain.outcome import Rejected, Unrenderable, Waiting
from dynamo_operator.domain.pathway import pathway_of
from dynamo_operator.plan.claims import claims_missing
from dynamo_operator.plan.restart import next_restart_status, restart_state
from dynamo_operator.render.graph import render_foundation, render_services
from dynamo_operator.runtime.controller import DONE, Result
from dynamo_operator.runtime.errors import ApiError, Conflict, Forbidden
from dynamo_operator.runtime.resource import Key
from dynamo_operator.status import conditions
from dynamo_operator.status.attention import with_doubts
from dynamo_operator.status.graph_deployment import (
    status_of_failed_graph,
    status_of_graph,
    status_of_rejected_graph,
    status_of_waiting_graph,
)

# Seconds until another look at what nothing announces: a cache that is filled, a name that gets free.
LOOK_AGAIN: Final = 1.0


class GraphReconciler:
    """Brings one graph at a time to what its spec says."""

    def __init__(self, cluster: Cluster, statuses: StatusWriter) -> None:
        self._cluster = cluster
        self._statuses = statuses
        self._cluster_roles = ClusterRoles(cluster)

    async def reconcile(self, key: Key) -> Result:
        """One pass; API errors are raised after they were written into the status."""
        world = load_world(self._cluster, self._statuses, key)
        if world is None:
            self._statuses.forget(key)
            self._cluster.forget(resources.GRAPHS, key)
            return DONE
        await self._drop_finalizer(world)
        if world.deleting:
            return DONE  # owner references collect the children
        return await concluded(self._converge(world), self._endings(world))

    def _endings(self, world: World) -> Endings:
        return Endings(
            submit=partial(self._submit, world),
            rejected=partial(self._rejected, world),
            waiting=partial(self._waiting, world),
            failed=partial(self._failed, world),
            text_of=failure_text,
        )

    async def _drop_finalizer(self, world: World) -> None:
        try:
            await drop_finalizer(self._cluster, world.parent)
        except Conflict:
            raise  # somebody was faster: nothing that users could mend
        except ApiError as error:
            self._submit(world, self._failed(world, error.message, reason=conditions.FINALIZER_FAILED))
            raise

    async def _converge(self, world: World) -> Result:
        site = self._cluster.site
        graph = check_graph(world.source, site)
        driver = self._driver(graph)
        standing = await driver.load(self._cluster, graph)
        restart = next_restart_status(graph, world.restart, standing.states)
        making = Making(self._cluster, world.parent)
        foundation = render_foundation(graph, site)
        await self._cluster_roles.warn(world.parent, foundation)
        try:
            state = restart_state(graph, restart, standing.states)
            rendering = render_services(graph, site, replace(standing.circumstances, restart=state))
        except Unrenderable:
            await making.foundation(foundation)  # what runs by the last good spec is left alone
            raise
        applied = await making.workloads(foundation, rendering.workloads)
        kept = await making.succession(rendering.workloads, attended=driver.attended(applied))
        await provide_ssh_key(self._cluster, graph)
        await driver.follow_up(self._cluster, graph)
        # What stays keeps the names of its Services as well; a change of the new workloads wakes us.
        held_up = () if kept else await making.companions(rendering.companions)
        progress = driver.progress(self._cluster, graph, applied)
        self._submit(world, self._status(world, graph, progress, restart, held_up=[*kept, *held_up]))
        return Result(requeue_after=LOOK_AGAIN) if held_up else DONE

    def _driver(self, graph: Graph) -> PathwayDriver:
        """What takes the graph along its pathway; raises Waiting until the caches that it reads are filled."""
        driver = DRIVERS[pathway_of(graph.annotations, self._cluster.site)]
        empty = [cache for kind in driver.needed if not (cache := self._cluster.informers[kind]).has_synced]
        if empty:
            refusal = next((cache.last_error for cache in empty if isinstance(cache.last_error, Forbidden)), None)
            text = (
                refusal.message if refusal else f"not listed yet: {', '.join(each.resource.plural for each in empty)}"
            )
            raise Waiting(text, retry_after=LOOK_AGAIN, lasting=refusal is not None)
        return driver

    def _status(
        self, world: World, graph: Graph, progress: Progress, restart: RestartStatus | None, *, held_up: Sequence[str]
    ) -> Mapping[str, Any]:
        claims = claims_missing(graph, load_claims(self._cluster, graph.namespace))
        return status_of_graph(
            graph,
            progress.states,
            restart,
            problems=[*claims, *progress.problems, *held_up],
            previous=world.status,
            now=self._cluster.now(),
        )

    def _rejected(self, world: World, rejected: Rejected) -> Mapping[str, Any]:
        return status_of_rejected_graph(
            rejected, previous=world.status, generation=world.source.generation, now=self._cluster.now()
        )

    def _failed(self, world: World, text: str, reason: str = conditions.RECONCILE_FAILED) -> Mapping[str, Any]:
        return status_of_failed_graph(
            text, reason=reason, previous=world.status, generation=world.source.generation, now=self._cluster.now()
        )

    def _waiting(self, world: World, text: str) -> Mapping[str, Any]:
        return status_of_waiting_graph(
            text, previous=world.status, generation=world.source.generation, now=self._cluster.now()
        )

    def _submit(self, world: World, status: Mapping[str, Any]) -> Result:
        doubts = doubts_of_graph(world.source, self._cluster.site)
        told = with_doubts(status, doubts, generation=world.source.generation, now=self._cluster.now())
        self._statuses.submit(world.parent, told, stored=world.stored, notes=warnings_of(told))
        return DONE


_FAILED: Final = "failed to reconcile Dynamo components deployments"
_CONTEXT: Final = {
    resources.COMPONENTS: f"{_FAILED}: failed to sync the DynamoComponentDeployment",
    resources.POD_CLIQUE_SETS: f"{_FAILED}: failed to reconcile the Grove PodClique Set: "
    "failed to sync the Grove GangSet",
    resources.SERVICES: f"{_FAILED}: failed to sync the main component service",
    resources.INGRESSES: f"{_FAILED}: failed to sync the main component ingress",
    resources.VIRTUAL_SERVICES: f"{_FAILED}: failed to sync the main component virtual service",
    resources.ADAPTERS: "failed to reconcile scaling adapters",
    resources.SECRETS: "failed to replicate MPI secret",
    resources.CLAIMS: "failed to reconcile top-level PVCs",
    resources.CONFIG_MAPS: "failed to reconcile EPP resources: failed to sync EPP ConfigMap",
    resources.INFERENCE_POOLS: "failed to reconcile EPP resources: failed to sync EPP InferencePool",
    resources.SERVICE_ACCOUNTS: "failed to reconcile K8s discovery resources: "
    "failed to sync the k8s discovery service account",
    resources.ROLES: "failed to reconcile K8s discovery resources: failed to sync the k8s discovery role",
    resources.ROLE_BINDINGS: "failed to reconcile K8s discovery resources: "
    "failed to sync the k8s discovery role binding",
}


def failure_text(problem: StepError | ApiError) -> str:
    """What users read when a step failed or a child could not be made (wording: workloads.md 12)."""
    if not isinstance(problem, ChildError):
        return str(problem) if isinstance(problem, StepError) else f"{_FAILED}: {problem.message}"
    context = _CONTEXT.get(problem.wanted.resource, f"failed to sync the {problem.wanted.resource.kind}")
    if problem.wanted.shared:
        model = problem.wanted.manifest["metadata"]["annotations"][BASE_MODEL]
        context = f"{_FAILED}: failed to reconcile model services: failed to sync headless service for model {model}"
    return f"{context}: {problem}"
