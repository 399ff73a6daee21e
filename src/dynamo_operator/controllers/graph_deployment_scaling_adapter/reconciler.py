"""Carries an adapter's replica count into its graph (requests-scaling-models.md 2.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dynamo_operator.controllers.cluster import FIELD_MANAGER, Cluster
from dynamo_operator.controllers.graph_deployment_scaling_adapter.load import World, load_world
from dynamo_operator.controllers.resources import GRAPHS
from dynamo_operator.controllers.sources import tree_of
from dynamo_operator.runtime.controller import DONE, Result
from dynamo_operator.runtime.errors import ApiError
from dynamo_operator.runtime.resource import Key
from dynamo_operator.runtime.views import Body
from dynamo_operator.status.graph_deployment_scaling_adapter import status_of_adapter


class AdapterReconciler:
    """The adapter is the source of truth for the replicas of its service."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._said_lost: set[Key] = set()

    async def reconcile(self, key: Key) -> Result:
        """One pass; a failed write of the graph is raised and retried."""
        world = load_world(self._cluster, key)
        if world is None or world.parent.meta.deleting:
            self._said_lost.discard(key)
            return DONE
        wanted = world.spec.get("replicas")
        if world.graph is None or world.service is None or not isinstance(wanted, int):
            self._say_lost(world)
            return DONE
        self._said_lost.discard(key)
        current = _replicas(world.service)
        if current != wanted:
            await self._scale(world, world.graph, current, wanted)
        await self._write_status(world, scaled=current != wanted)
        return DONE

    def _say_lost(self, world: World) -> None:
        if world.parent.meta.key in self._said_lost:
            return
        self._said_lost.add(world.parent.meta.key)
        missing = f"DynamoGraphDeployment {world.graph_name} not found"
        if world.graph is not None:
            missing = f"service {world.service_name} not found in DynamoGraphDeployment {world.graph_name}"
        self._cluster.event(world.parent, "Warning", "TargetNotFound", missing)

    async def _scale(self, world: World, graph: Body, current: int, wanted: int) -> None:
        # Only the one field: whatever else the user changes meanwhile is not touched. Unlike a merge patch this is
        # refused when the service has just been taken out of the graph, instead of bringing back a stump of it.
        patch = {"op": "add", "path": f"/spec/services/{_escaped(world.service_name)}/replicas", "value": wanted}
        client, key = self._cluster.client, graph.metadata.key
        try:
            answer = await client.json_patch(GRAPHS, key, [patch], field_manager=FIELD_MANAGER)
        except ApiError as error:
            text = f"Failed to update DGD {world.graph_name}: {error}"
            self._cluster.event(world.parent, "Warning", "UpdateFailed", text)
            raise
        self._cluster.informers[GRAPHS].observe(answer)
        text = f"Scaled service {world.service_name} from {current} to {wanted} replicas"
        self._cluster.event(world.parent, "Normal", "Scaled", text)

    async def _write_status(self, world: World, *, scaled: bool) -> None:
        status = status_of_adapter(
            world.spec,
            graph_status=tree_of(world.graph, "status") if world.graph is not None else {},
            previous=world.status,
            scaled_at=self._cluster.now() if scaled else None,
        )
        await self._cluster.write_status(world.parent, world.status, status)


def _escaped(name: str) -> str:
    """A member's name as a JSON pointer spells it (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


def _replicas(service: Mapping[str, Any]) -> int:
    replicas = service.get("replicas")
    return replicas if isinstance(replicas, int) else 1
