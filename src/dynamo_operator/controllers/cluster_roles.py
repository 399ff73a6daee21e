"""Tells when the cluster roles do not exist that accounts are bound to (specification: workloads.md 10)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Final

from dynamo_operator.controllers.cluster import Cluster, Parent
from dynamo_operator.controllers.resources import CLUSTER_ROLES
from dynamo_operator.domain.manifest import Child
from dynamo_operator.runtime.errors import ApiError, NotFound
from dynamo_operator.runtime.resource import Key

# Nothing announces that somebody made the role, and a binding takes effect by itself when it comes.
LOOK_AGAIN: Final = 60.0


class ClusterRoles:
    """Says once per graph that a role is missing; the graph goes on without it."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._seen: set[str] = set()
        self._missed_at: dict[str, float] = {}
        self._said: dict[Key, set[tuple[str, str]]] = {}
        self._asking = asyncio.Lock()

    async def warn(self, parent: Parent, children: Sequence[Child]) -> None:
        """Record an event on the graph for each cluster role that its bindings name and that does not exist."""
        for account, role in _bound(children):
            said = self._said.get(parent.meta.key, set())
            if role in self._seen or (parent.meta.uid, role) in said:
                continue
            async with self._asking:  # one question serves all graphs that have it
                exists = role in self._seen or await self._exists(role)
            if exists:
                continue
            self._said[parent.meta.key] = {*said, (parent.meta.uid, role)}
            text = f"ClusterRole {role} does not exist, so {account} may do nothing: install it with the chart"
            self._cluster.event(parent, "Warning", "ClusterRoleNotFound", text)

    def forget(self, key: Key) -> None:
        """The graph is gone."""
        self._said.pop(key, None)

    async def _exists(self, role: str) -> bool:
        now = self._cluster.clock.monotonic()
        if now - self._missed_at.get(role, -LOOK_AGAIN) < LOOK_AGAIN:
            return False
        try:
            await self._cluster.client.get(CLUSTER_ROLES, Key("", role))
        except NotFound:
            self._missed_at[role] = now
            return False
        except ApiError:
            return True  # not ours to know right now; the API server refuses the binding when it must
        self._seen.add(role)
        return True


def _bound(children: Sequence[Child]) -> Iterable[tuple[str, str]]:
    """Account and cluster role of each binding."""
    for child in children:
        reference = child.manifest.get("roleRef", {})
        if reference.get("kind") == "ClusterRole":
            yield child.manifest["subjects"][0]["name"], reference["name"]
