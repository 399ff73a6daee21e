"""Carries an adapter's replica count into its graph (requests-scaling-models.md 2.3)."""

from __future__ import annotations

from typing import Any

from dynamo_operator.controllers.cluster import FIELD_MANAGER, Cluster
from dynamo_operator.controllers.graph_deployment_scaling_adapter.load import World, load_world
from dynamo_operator.controllers.resources import GRAPHS
from dynamo_operator.controllers.sources import tree_of
from dynamo_operator.plan.scaling import Adapter, replicas_of
from dynamo_operator.runtime.controller import DONE, Result
from dynamo_operator.runtime.errors import ApiError
from dynamo_operator.runtime.resource import Key
from dynamo_operator.runtime.views import Body
from dynamo_operator.status.graph_deployment_scaling_adapter import status_of_adapter


class AdapterReconciler:
    """The adapter is the source of truth for the replicas of its service."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._said: dict[Key, str] = {}

    async def reconcile(self, key: Key) -> Result:
        """One pass; a failed write of the graph is raised and retried."""
        world = load_world(self._cluster, key)
        if world is None or world.parent.meta.deleting:
            self._said.pop(key, None)
            return DONE
        if world.graph is None or world.service is None:
            self._warn(world, "TargetNotFound", _missing(world))
        elif world.in_charge is not None and world.in_charge.name != key.name:
            self._warn(world, "TargetTaken", _taken(world, world.in_charge))
        elif world.in_charge is not None:
            self._said.pop(key, None)
            await self._carry(world, world.graph, replicas_of(world.service), world.in_charge.replicas)
        return DONE

    def _warn(self, world: World, reason: str, text: str) -> None:
        """Say why nothing moves, once until that changes."""
        if self._said.get(world.parent.meta.key) != text:
            self._said[world.parent.meta.key] = text
            self._cluster.event(world.parent, "Warning", reason, text)

    async def _carry(self, world: World, graph: Body, current: int, wanted: int) -> None:
        if current != wanted:
            await self._scale(world, graph, current, wanted)
        await self._write_status(world, scaled=current != wanted)

    async def _scale(self, world: World, graph: Body, current: int, wanted: int) -> None:
        asked = bool(world.in_charge and world.in_charge.owner)
        patch = _replicas_patch(graph.metadata.uid, world.target.service, wanted, asked=asked)
        client, key = self._cluster.client, graph.metadata.key
        try:
            answer = await client.json_patch(GRAPHS, key, patch, field_manager=FIELD_MANAGER)
        except ApiError as error:
            text = f"Failed to update DGD {world.target.graph.name}: {error}"
            self._cluster.event(world.parent, "Warning", "UpdateFailed", text)
            raise
        self._cluster.informers[GRAPHS].observe(answer)
        text = f"Scaled service {world.target.service} from {current} to {wanted} replicas"
        self._cluster.event(world.parent, "Normal", "Scaled", text)

    async def _write_status(self, world: World, *, scaled: bool) -> None:
        status = status_of_adapter(
            world.spec,
            graph_status=tree_of(world.graph, "status") if world.graph is not None else {},
            previous=world.status,
            scaled_at=self._cluster.now() if scaled else None,
        )
        await self._cluster.write_status(world.parent, world.status, status)


def _replicas_patch(graph_uid: str, service: str, wanted: int, *, asked: bool) -> list[dict[str, Any]]:
    """A JSON patch of one service's replicas; ``asked``: by an adapter that the graph asks for.

    Whatever else the user changes meanwhile is not touched. It is refused when the service has just been taken out of
    the graph, where a merge patch would bring back a stump of it, when its adapter has just been switched off, or when
    another graph of the same name has taken the graph's place.
    """
    path = f"/spec/services/{_escaped(service)}"
    same = {"op": "test", "path": "/metadata/uid", "value": graph_uid}
    still_asked = {"op": "test", "path": f"{path}/scalingAdapter/enabled", "value": True}
    return [same, *([still_asked] if asked else []), {"op": "add", "path": f"{path}/replicas", "value": wanted}]


def _escaped(name: str) -> str:
    """A member's name as a JSON pointer spells it (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


def _missing(world: World) -> str:
    if world.graph is None:
        return f"DynamoGraphDeployment {world.target.graph.name} not found"
    return f"service {world.target.service} not found in DynamoGraphDeployment {world.target.graph.name}"


def _taken(world: World, in_charge: Adapter) -> str:
    return (
        f"service {world.target.service} of DynamoGraphDeployment {world.target.graph.name} is scaled by adapter "
        f"{in_charge.name} already: delete one of the two"
    )
