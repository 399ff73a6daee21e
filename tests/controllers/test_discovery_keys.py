"""Components are let go although etcd is away, but not before there was time to clean up."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from dynamo_operator.controllers.cluster import Parent
from dynamo_operator.controllers.discovery_keys import DiscoveryKeys
from dynamo_operator.controllers.resources import COMPONENTS
from dynamo_operator.domain.labels import FINALIZER
from dynamo_operator.domain.site import Site
from dynamo_operator.domain.source import Source
from dynamo_operator.runtime.etcd import EtcdError
from dynamo_operator.runtime.views import ObjectMeta
from tests.support.clock import ManualClock


class Bed:
    """Keys of a component, with an etcd that is away; ``patches`` are the finalizers that were written."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock, self.patches, self.events = ManualClock(), list[Any](), list[str]()
        site = Site(etcd_address="store:2379", discovery_backend="etcd")
        cluster: Any = SimpleNamespace(
            clock=self.clock, site=site, patch=self._patch, event=lambda *said: self.events.append(said[2])
        )
        self.keys = DiscoveryKeys(cluster)
        monkeypatch.setattr("dynamo_operator.controllers.discovery_keys.Etcd", lambda _: self)

    async def delete_prefix(self, prefix: str) -> int:
        raise EtcdError("away")

    async def _patch(self, parent: Parent, patch: Any) -> None:
        self.patches.append(patch["metadata"]["finalizers"])

    async def clean_up(self, *finalizers: str) -> float | None:
        parent = Parent(COMPONENTS, ObjectMeta(namespace="ns", name="c", finalizers=finalizers))
        source = Source(namespace="ns", name="c", spec={"dynamoNamespace": "d", "serviceName": "s"})
        return (await self.keys.clean_up(parent, source)).requeue_after


async def test_etcd_is_away_the_component_goes_after_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    bed = Bed(monkeypatch)
    assert (await bed.clean_up(FINALIZER), bed.patches) == (5.0, [])
    await bed.clock.advance(60)
    assert await bed.clean_up(FINALIZER) is None
    assert (bed.patches, bed.events) == ([None], ["CleanupFailed"])


async def test_finalizer_taken_by_hand_the_next_of_that_name_gets_the_full_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bed = Bed(monkeypatch)
    await bed.clean_up(FINALIZER)
    await bed.clean_up()
    await bed.clock.advance(60)
    assert (await bed.clean_up(FINALIZER), bed.patches) == (5.0, [])
