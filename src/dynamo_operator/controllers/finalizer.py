"""Puts the operator's finalizer on objects, and takes it off."""

from __future__ import annotations

from dynamo_operator.controllers.cluster import Cluster, Parent
from dynamo_operator.domain.labels import FINALIZER


async def drop_finalizer(cluster: Cluster, parent: Parent) -> None:
    """Remove our finalizer when it is there; also the one that an earlier operator left for nothing."""
    if FINALIZER in parent.meta.finalizers:
        await _write_finalizers(cluster, parent, [name for name in parent.meta.finalizers if name != FINALIZER])


async def add_finalizer(cluster: Cluster, parent: Parent) -> None:
    """Put our finalizer on the object when it is missing."""
    if FINALIZER not in parent.meta.finalizers:
        await _write_finalizers(cluster, parent, [*parent.meta.finalizers, FINALIZER])


async def _write_finalizers(cluster: Cluster, parent: Parent, finalizers: list[str]) -> None:
    # The resourceVersion makes the API server refuse this when somebody changed the list meanwhile.
    patch = {"metadata": {"finalizers": finalizers or None, "resourceVersion": parent.meta.resource_version}}
    await cluster.patch(parent, patch)
