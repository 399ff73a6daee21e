"""What an adapter does to its graph, and says."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from dynamo_operator.controllers.caches import build_caches
from dynamo_operator.controllers.graph_deployment.load import load_world
from dynamo_operator.controllers.graph_deployment_scaling_adapter.reconciler import AdapterReconciler
from dynamo_operator.controllers.graph_deployment_scaling_adapter.watches import watch_adapters
from dynamo_operator.controllers.resources import ADAPTERS, GRAPHS
from dynamo_operator.runtime.errors import Invalid
from dynamo_operator.runtime.informer import Change
from dynamo_operator.runtime.resource import Key

KEY = Key("ns", "g-w")
SAME_GRAPH = {"op": "test", "path": "/metadata/uid", "value": "g"}
OWNER = {
    "apiVersion": "nvidia.com/v1alpha1",
    "kind": "DynamoGraphDeployment",
    "name": "g",
    "uid": "g",
    "controller": True,
}
ASKS = {"scalingAdapter": {"enabled": True}}


def stored(name: str, spec: dict[str, Any], version: int = 1, status: Any = None, **meta: Any) -> bytes:
    metadata = {"namespace": "ns", "name": name, "uid": name, "generation": version, "resourceVersion": str(version)}
    return msgspec.json.encode({"metadata": metadata | meta, "spec": spec, "status": status or {}})


class Bed:
    """An adapter that wants three copies of service ``w``; the API server answers as told."""

    def __init__(self, services: dict[str, Any], *, service: str = "w", refusal: Exception | None = None) -> None:
        nothing: Any = None
        self.caches = build_caches(nothing, "", ssh_secret="")
        self.patches, self.events, self.statuses = list[Any](), list[str](), list[Any]()
        self.refusal = refusal
        self.cluster: Any = SimpleNamespace(
            client=self,
            informers=self.caches.whole,
            now=lambda: "now",
            event=lambda *said: self.events.append(said[2]),
            write_status=self._write_status,
        )
        self.adapter("g-w", service=service)
        self.caches.whole[GRAPHS].observe(stored("g", {"services": services}))
        self.reconciler = AdapterReconciler(self.cluster)

    def adapter(self, name: str, *, replicas: int = 3, graph: str = "g", service: str = "w", **meta: Any) -> None:
        spec = {"replicas": replicas, "dgdRef": {"name": graph, "serviceName": service}}
        self.caches.whole[ADAPTERS].observe(stored(name, spec, **meta))

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
    assert bed.patches == [SAME_GRAPH, {"op": "add", "path": path, "value": 3}]
    assert (bed.events, bed.statuses) == (["Scaled"], [3])


async def test_graphs_own_adapter_scales_it_only_while_it_is_asked_for() -> None:
    bed = Bed({"w": {"replicas": 1, **ASKS}})
    bed.adapter("g-w", version=2, ownerReferences=[OWNER])
    await bed.reconciler.reconcile(KEY)
    asked = {"op": "test", "path": "/spec/services/w/scalingAdapter/enabled", "value": True}
    assert bed.patches == [SAME_GRAPH, asked, {"op": "add", "path": "/spec/services/w/replicas", "value": 3}]


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


async def test_graph_does_not_exist_said_once_and_again_for_an_adapter_made_anew() -> None:
    bed = Bed({})
    bed.adapter("g-w", version=2, graph="nobody")
    for _ in range(2):
        await bed.reconciler.reconcile(KEY)
    assert (bed.events, bed.patches, bed.statuses) == (["TargetNotFound"], [], [])
    bed.caches.whole[ADAPTERS].forget(KEY, "g-w")
    await bed.reconciler.reconcile(KEY)
    bed.adapter("g-w", version=3, graph="nobody", uid="anew")
    await bed.reconciler.reconcile(KEY)
    assert bed.events == ["TargetNotFound"] * 2


async def test_adapter_that_is_switched_off_scales_nothing_any_more() -> None:
    bed = Bed({"w": {"replicas": 1, "scalingAdapter": {"enabled": False}}})
    bed.adapter("g-w", version=2, ownerReferences=[OWNER])
    await bed.reconciler.reconcile(KEY)
    assert (bed.patches, bed.events, bed.statuses) == ([], [], [])


async def test_two_adapters_for_one_service_the_second_says_so_and_takes_over_in_the_end() -> None:
    bed = Bed({"w": {"replicas": 1}})
    bed.adapter("g-w", version=2, creationTimestamp="2026-01-02T00:00:00Z")
    bed.adapter("older", replicas=1, creationTimestamp="2026-01-01T00:00:00Z")
    for _ in range(2):
        await bed.reconciler.reconcile(KEY)
        await bed.reconciler.reconcile(Key("ns", "older"))
    assert (bed.patches, bed.events) == ([], ["TargetTaken"])
    bed.caches.whole[ADAPTERS].forget(Key("ns", "older"), "older")
    await bed.reconciler.reconcile(KEY)
    assert bed.events == ["TargetTaken", "Scaled"]


async def test_service_was_taken_out_a_moment_ago_it_does_not_come_back() -> None:
    bed = Bed({"w": {"replicas": 1}}, refusal=Invalid(message="doc is missing path"))
    with pytest.raises(Invalid):
        await bed.reconciler.reconcile(KEY)
    assert (bed.events, bed.statuses) == (["UpdateFailed"], [])


def test_graph_is_made_with_the_adapters_number_before_that_has_reached_it() -> None:
    bed = Bed({"w": {"replicas": 1}, "x": {"replicas": 5}})
    bed.adapter("lost", graph="other", service="x")
    statuses: Any = SimpleNamespace(latest=lambda _, stored: stored)
    world = load_world(bed.cluster, statuses, Key("ns", "g"))
    assert world is not None
    assert {name: each["replicas"] for name, each in world.source.spec["services"].items()} == {"w": 3, "x": 5}


class Watches:
    """The mappers of the controller, over a bed with two adapters of service ``w`` and one of another."""

    def __init__(self) -> None:
        self.mappers = dict[Any, Any]()
        self.bed = Bed({"w": {}, "x": {}})
        self.bed.adapter("twin")
        self.bed.adapter("other", service="x")
        controller: Any = SimpleNamespace(
            watch=lambda informer, mapper: self.mappers.update({informer.resource: mapper})
        )
        watch_adapters(controller, self.bed.cluster)

    def woken(self, kind: Any, name: str, after: bytes | None, before: bytes | None = None) -> set[str]:
        informer = self.bed.caches.whole[kind]
        old = informer.observe(before) if before else informer.get(Key("ns", name))
        new = informer.observe(after) if after else None
        return {key.name for key in self.mappers[kind](Change(kind, Key("ns", name), old, new))}


def spec_of(service: str, replicas: int = 3) -> dict[str, Any]:
    return {"replicas": replicas, "dgdRef": {"name": "g", "serviceName": service}}


@pytest.mark.parametrize(
    ("after", "woken"),
    [
        pytest.param(None, {"g-w", "twin"}, id="it went: so is the other one of the service"),
        pytest.param(stored("g-w", spec_of("w", 4), 2), {"g-w", "twin"}, id="other number: both of the service"),
        pytest.param(stored("g-w", spec_of("x"), 2), {"g-w", "twin", "other"}, id="other service: those of both"),
        pytest.param(
            stored("g-w", spec_of("w"), 2, generation=1, ownerReferences=[OWNER]), {"g-w", "twin"}, id="owned: both"
        ),
        pytest.param(stored("g-w", spec_of("w"), 2, {"replicas": 1}, generation=1), set(), id="its status moved: none"),
    ],
)
def test_adapter_moves_who_is_woken(after: bytes | None, woken: set[str]) -> None:
    assert Watches().woken(ADAPTERS, "g-w", after) == woken


@pytest.mark.parametrize(
    ("graph", "woken"),
    [
        pytest.param(
            stored("g", {"services": {"w": {"replicas": 2}, "x": {}}}, 2), True, id="other number: its adapters"
        ),
        pytest.param(stored("g", {"services": {"w": {}}}, 2), True, id="service went: its adapters"),
        pytest.param(
            stored("g", {"services": {"w": {}, "x": {}}}, 2, {"services": {"w": {"replicas": 1}}}),
            True,
            id="other size: its adapters",
        ),
        pytest.param(stored("g", {"services": {"w": {"image": "x"}, "x": {}}}, 2), False, id="other image: none"),
        pytest.param(stored("g", {"services": {"w": ASKS, "x": {}}}, 2), True, id="asks for an adapter: its adapters"),
        pytest.param(None, True, id="it went: its adapters"),
        pytest.param(stored("h", {"services": {"w": {}}}), False, id="another graph: none"),
    ],
)
def test_graph_moves_who_is_woken(graph: bytes | None, woken: bool) -> None:
    name = "h" if graph is not None and b'"h"' in graph else "g"
    assert Watches().woken(GRAPHS, name, graph) == ({"g-w", "twin", "other"} if woken else set())
