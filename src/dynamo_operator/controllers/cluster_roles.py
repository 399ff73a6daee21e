"""Tells when the cluster roles do not exist that accounts are bound to (specification: workloads.md 10)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

import structlog

from dynamo_operator.controllers.cluster import Cluster, Parent
from dynamo_operator.controllers.resources import CLUSTER_ROLES
from dynamo_operator.domain.manifest import Child
from dynamo_operator.runtime.errors import ApiError, NotFound
from dynamo_operator.runtime.resource import Key

log = structlog.get_logger("controllers")


class ClusterRoles:
    """Logs once that a role is missing; graphs go on without it."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._known: set[str] = set()
        self._asking = asyncio.Lock()

    async def warn(self, parent: Parent, children: Sequence[Child]) -> None:
        """Log each cluster role that the graph's bindings name and that does not exist."""
        for account, role in _bound(children):
            if role not in self._known and await self._is_missing(role):
                # No event: every graph would carry it, and again after each restart.
                text = f"ClusterRole {role} does not exist, so {account} may do nothing: install it with the chart"
                log.warning(text, graph=str(parent.meta.key))

    async def _is_missing(self, role: str) -> bool:
        """Whether the role does not exist; True once, as nobody is told twice."""
        async with self._asking:  # one question serves all graphs that have it
            if role in self._known:
                return False
            try:
                await self._cluster.client.get(CLUSTER_ROLES, Key("", role))
            except NotFound:
                self._known.add(role)
                return True
            except ApiError:
                return False  # not ours to know right now; the API server refuses the binding when it must
            self._known.add(role)
            return False


def _bound(children: Sequence[Child]) -> Iterable[tuple[str, str]]:
    """Account and cluster role of each binding."""
    for child in children:
        reference = child.manifest.get("roleRef", {})
        if reference.get("kind") == "ClusterRole":
            yield child.manifest["subjects"][0]["name"], reference["name"]
