"""Services of base models, which several parents own together."""

from __future__ import annotations

from collections.abc import Iterable

from dynamo_operator.controllers.cluster import Cluster, Parent
from dynamo_operator.controllers.resources import SERVICES
from dynamo_operator.runtime.apply import Applied


async def release_shared_services(cluster: Cluster, parent: Parent, applied: Iterable[Applied]) -> None:
    """Leave those that ``parent`` no longer needs; the last one out removes them."""
    uid = parent.meta.uid
    keep = {each.body.metadata.key for each in applied if each.wanted.shared}
    for service in cluster.informers[SERVICES].by("co-owner", uid):
        if service.metadata.key not in keep:
            await cluster.applier.release_shared(SERVICES, service.metadata.key, uid)
