"""Removes what a component registered in etcd when it goes (workloads.md 5.11).

Only components with etcd discovery have anything outside Kubernetes, so only they carry the finalizer.
"""

from __future__ import annotations

from typing import Final

import structlog

from dynamo_operator.controllers.cluster import Cluster, Parent
from dynamo_operator.controllers.finalizer import add_finalizer, drop_finalizer
from dynamo_operator.domain.discovery import ETCD, discovery_backend
from dynamo_operator.domain.labels import FINALIZER
from dynamo_operator.domain.source import Source
from dynamo_operator.domain.trees import tree_at
from dynamo_operator.runtime.controller import DONE, Result
from dynamo_operator.runtime.etcd import Etcd, EtcdError
from dynamo_operator.runtime.resource import Key

log = structlog.get_logger("controllers")

# A component must be deletable although etcd is gone for good; its keys end with its leases even so.
GIVE_UP_AFTER: Final = 60.0
# An installation with Kubernetes discovery may name an etcd that was never there.
GIVE_UP_EARLY_AFTER: Final = 4.0
RETRY_AFTER: Final = 5.0


class DiscoveryKeys:
    """Guards components with etcd discovery by a finalizer, and cleans up behind them."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._first_try: dict[Key, float] = {}

    async def guard(self, parent: Parent, source: Source) -> None:
        """The finalizer is there exactly when there will be something to clean up."""
        if self._prefix(source):
            await add_finalizer(self._cluster, parent)
        else:
            await drop_finalizer(self._cluster, parent)

    async def clean_up(self, parent: Parent, source: Source) -> Result:
        """Delete the component's keys, then let it go; after so much time of failures let it go anyway."""
        if FINALIZER not in parent.meta.finalizers:
            self.forget(parent.meta.key)
            return DONE
        prefix = self._prefix(source)
        try:
            if prefix:
                await Etcd(self._cluster.site.etcd_address).delete_prefix(prefix)
        except EtcdError as error:
            if self._may_retry(parent.meta.key):
                return Result(requeue_after=RETRY_AFTER)
            self._cluster.event(parent, "Warning", "CleanupFailed", f"left keys {prefix} behind: {error}")
        self.forget(parent.meta.key)
        await drop_finalizer(self._cluster, parent)
        return DONE

    def forget(self, key: Key) -> None:
        """The component is gone; another of its name gets the full time."""
        self._first_try.pop(key, None)

    def _may_retry(self, key: Key) -> bool:
        now = self._cluster.clock.monotonic()
        patience = GIVE_UP_AFTER if self._cluster.site.discovery_backend == ETCD else GIVE_UP_EARLY_AFTER
        return now - self._first_try.setdefault(key, now) < patience

    def _prefix(self, source: Source) -> str:
        """Prefix of the component's keys; empty when etcd has none."""
        site = self._cluster.site
        backend = discovery_backend(tree_at(source.spec, "annotations"), site)
        namespace, service = source.spec.get("dynamoNamespace"), source.spec.get("serviceName")
        if backend != ETCD or not (site.etcd_address and namespace and service):
            return ""
        return f"/{namespace}/components/{service}/"
