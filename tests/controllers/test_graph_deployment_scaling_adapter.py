"""What an adapter does to its graph, and says."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from dynamo_operator.controllers.caches import build_caches
from dynamo_operator.controllers.graph_deployment_scaling_adapter.reconciler import AdapterReconciler
from dynamo_operator.controllers.resources import ADAPTERS, GRAPHS
from dynamo_operator.runtime.errors import Invalid
from dynamo_operator.runtime.resource import Key

KEY = Key("ns", "g-w")


def stored(name: str, spec: dict[str, Any], version: int = 1) -> bytes:
    return msgspec.json.encode(
        {"metadata": {"namespace": "ns", "name": name, "uid": name, "resourceVersion": str(version)}, "spec": spec}
    )


class Bed:
    """An adapter that wants three copies of service ``w``; the API server answers as told."""

    def __init__(self, services: dict[str, Any], *, service: str = "w", refusal: Exception | None = None) -> None:
        nothing: Any = None
        self.caches = build_caches(nothing, "", ssh_secret="")
        self.patches, self.events, self.statuses = list[Any](), list[str](), list[Any]()
        self.refusal = refusal
        cluster: Any = SimpleNamespace(
            client=self,
            informers=self.caches.whole,
            now=lambda: "now",
            event=lambda *said: self.events.append(said[2]),
            write_status=self._write_status,
        )
        target = {"name": "g", "serviceName": service}
        self.caches.whole[ADAPTERS].observe(stored("g-w", {"replicas": 3, "dgdRef": target}))
        self.caches.whole[GRAPHS].observe(stored("g", {"services": services}))
        self.reconciler = AdapterReconciler(cluster)

    async def json_patch(self, _: object, key: Key, patch: list[Any], *, field_manager: str) -> bytes:
        if self.refusal:
            raise self.refusal
        self.patches += patch
        return stored(key.name, {"services": {"w": {"replicas": 3}}}, version=2)

    async def _write_status(self, parent: object, before: object, status: Any) -> None:
        self.statuses.append(status["replicas"])


@pytest.mark.parametrize(
    ("services", "service", "path"),
    [
        pytest.param({"w": {"replicas": 1}}, "w", "/spec/services/w/replicas", id="other number: that field is set"),
        pytest.param({"w": {}}, "w", "/spec/services/w/replicas", id="no number: that field is added"),
        pytest.param({"a/b~c": {}}, "a/b~c", "/spec/services/a~1b~0c/replicas", id="odd name: it is spelt out"),
    ],
)
async def test_graph_is_scaled(services: dict[str, Any], service: str, path: str) -> None:
    bed = Bed(services, service=service)
    await bed.reconciler.reconcile(KEY)
    assert bed.patches == [{"op": "add", "path": path, "value": 3}]
    assert (bed.events, bed.statuses) == (["Scaled"], [3])


@pytest.mark.parametrize(
    ("services", "events", "statuses"),
    [
        pytest.param({"w": {"replicas": 3}}, [], [3, 3], id="same number: nothing is written but the status"),
        pytest.param({}, ["TargetNotFound"], [], id="no such service: said once"),
    ],
)
async def test_graph_is_left_alone(services: dict[str, Any], events: list[str], statuses: list[int]) -> None:
    bed = Bed(services)
    await bed.reconciler.reconcile(KEY)
    await bed.reconciler.reconcile(KEY)
    assert (bed.patches, bed.events, bed.statuses) == ([], events, statuses)


async def test_service_was_taken_out_a_moment_ago_it_does_not_come_back() -> None:
    bed = Bed({"w": {"replicas": 1}}, refusal=Invalid(message="doc is missing path"))
    with pytest.raises(Invalid):
        await bed.reconciler.reconcile(KEY)
    assert (bed.events, bed.statuses) == (["UpdateFailed"], [])
