"""A pull secret or account that comes wakes whatever shapes pods in its namespace."""

from __future__ import annotations

import base64
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from dynamo_operator.controllers.caches import build_caches
from dynamo_operator.controllers.graph_deployment.watches import graphs_with_pods
from dynamo_operator.controllers.resources import GRAPHS
from dynamo_operator.controllers.surroundings import watch_surroundings
from dynamo_operator.domain.labels import ENABLE_GROVE
from dynamo_operator.domain.site import Offers, Site
from dynamo_operator.runtime.controller import Controller
from dynamo_operator.runtime.queue import WorkQueue
from dynamo_operator.runtime.resource import Key
from tests.support.clock import ManualClock


def stored(name: str, version: int = 1, **rest: Any) -> bytes:
    annotations = rest.pop("annotations", {})
    meta = {"namespace": "ns", "name": name, "resourceVersion": str(version), "annotations": annotations}
    return msgspec.json.encode({"metadata": meta, **rest})


def pull_secret(host: str, version: int) -> bytes:
    payload = base64.b64encode(msgspec.json.encode({"auths": {host: {}}})).decode()
    return stored("pull", version, data={".dockerconfigjson": payload})


class Bed:
    """Two graphs of a namespace, one of which does not go Grove's way, and the keys that were woken."""

    def __init__(self, *, grove: bool = True) -> None:
        nothing: Any = None
        caches = build_caches(nothing, "", ssh_secret="")
        self.queue = WorkQueue(ManualClock())
        self.cluster: Any = SimpleNamespace(
            informers=caches.whole,
            pull_secrets=caches.pull_secrets,
            accounts=caches.accounts,
            site=Site(offers=Offers(grove=grove)),
        )
        for name, way in (("g", "true"), ("other", "false")):
            caches.whole[GRAPHS].observe(stored(name, annotations={ENABLE_GROVE: way}))
        controller = Controller("graph", nothing, self.queue)
        watch_surroundings(controller, self.cluster, lambda namespace: graphs_with_pods(self.cluster, namespace))

    async def woken(self) -> list[Key]:
        keys = [key for _ in range(len(self.queue)) if (key := await self.queue.take())]
        for key in keys:
            self.queue.done(key)
        return keys

    def see(self, cache: Any, body: bytes) -> None:
        """A watch shows it; an answer would not do, as only the server knows what a field selector matches."""
        cache._take(body)


@pytest.mark.parametrize(
    ("grove", "woken"),
    [
        pytest.param(True, [Key("ns", "g")], id="Grove: the graph that goes its way"),
        pytest.param(False, [], id="no Grove: no graph, its components are woken by themselves"),
    ],
)
async def test_account_comes(grove: bool, woken: list[Key]) -> None:
    bed = Bed(grove=grove)
    bed.see(bed.cluster.accounts, stored("account"))
    assert await bed.woken() == woken
    bed.see(bed.cluster.accounts, stored("account", 2))
    assert await bed.woken() == []


async def test_pull_secret_names_another_registry() -> None:
    bed = Bed()
    for version, host in enumerate(("one.example", "one.example", "two.example"), start=1):
        bed.see(bed.cluster.pull_secrets, pull_secret(host, version))
        assert (await bed.woken() != []) == (version != 2)
