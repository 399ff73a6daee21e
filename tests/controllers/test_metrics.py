"""What the operator counts of its own kinds."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from prometheus_client import CollectorRegistry, generate_latest

from dynamo_operator.controllers.caches import build_caches
from dynamo_operator.controllers.metrics import Inventory, OperatorMetrics
from dynamo_operator.controllers.resources import ADAPTERS, COMPONENTS, GRAPHS
from dynamo_operator.runtime.controller import DONE, Result
from dynamo_operator.runtime.errors import Forbidden
from dynamo_operator.runtime.resource import Key, Resource

A, B = Key("blue", "a"), Key("blue", "b")


class Bed:
    """The families over caches without a cluster."""

    def __init__(self) -> None:
        nothing: Any = None
        self.caches = build_caches(nothing, "", ssh_secret="").whole
        self.registry = CollectorRegistry()
        self.metrics = OperatorMetrics(self.registry, self.caches, mode="cluster-wide")
        self.registry.register(Inventory(self.caches))
        self.ends: list[Result | Exception] = []

    def exists(self, resource: Resource, key: Key, status: Any = None) -> None:
        tree = {"metadata": {"namespace": key.namespace, "name": key.name, "uid": key.name, "resourceVersion": "1"}}
        self.caches[resource].observe(msgspec.json.encode({**tree, "status": status or {}}))

    async def reconciled(self, key: Key, *ends: Result | Exception) -> None:
        async def reconcile(_: Key) -> Result:
            end = self.ends.pop(0)
            if isinstance(end, Exception):
                raise end
            return end

        for end in ends:
            self.ends.append(end)
            try:
                await self.metrics.counted(GRAPHS, reconcile)(key)
            except Forbidden:
                continue

    def series(self, family: str) -> dict[str, float]:
        lines = generate_latest(self.registry).decode().splitlines()
        found = (line.removeprefix(family).rsplit(" ", 1) for line in lines if line.startswith(family))
        return {labels: float(value) for labels, value in found}


def labels(**members: str) -> str:
    return "{" + ",".join(f'{key}="{value}"' for key, value in members.items()) + "}"


async def test_reconciles_are_counted_by_result_and_error() -> None:
    bed = Bed()
    bed.exists(GRAPHS, A)
    await bed.reconciled(A, DONE, DONE, Result(requeue_after=1.0), Forbidden(message="no"))
    counts = bed.series("dynamo_operator_reconcile_total")
    assert counts == {
        labels(namespace="blue", resource_type=GRAPHS.kind, result=result): count
        for result, count in {"success": 2, "requeue": 1, "error": 1}.items()
    }
    assert list(bed.series("dynamo_operator_reconcile_errors_total").values()) == [1]
    assert len(bed.series("dynamo_operator_reconcile_duration_seconds_count")) == len(counts)


async def test_last_object_of_a_namespace_goes_its_series_go() -> None:
    bed = Bed()
    bed.exists(GRAPHS, A)
    bed.exists(GRAPHS, B)
    await bed.reconciled(A, DONE)
    bed.caches[GRAPHS].forget(A, "a")
    await bed.reconciled(A, DONE, Forbidden(message="no"))
    assert sum(bed.series("dynamo_operator_reconcile_total").values()) == 3
    bed.caches[GRAPHS].forget(B, "b")
    await bed.reconciled(B, DONE)
    assert bed.series("dynamo_operator_reconcile_") == {}


@pytest.mark.parametrize(
    ("resource", "status", "state"),
    [
        pytest.param(GRAPHS, {"state": "successful"}, "successful", id="graph: its state"),
        pytest.param(GRAPHS, {}, "unknown", id="graph without a state: unknown"),
        pytest.param(
            COMPONENTS, {"conditions": [{"type": "Available", "status": "True"}]}, "ready", id="available: ready"
        ),
        pytest.param(
            COMPONENTS, {"conditions": [{"type": "Available", "status": "False"}]}, "not_ready", id="not: not"
        ),
        pytest.param(ADAPTERS, {"selector": "x", "replicas": 2}, "ready", id="adapter: ready"),
        pytest.param(ADAPTERS, {"selector": "x", "replicas": 0}, "not_ready", id="scaled to zero: not ready"),
        pytest.param(ADAPTERS, {}, "not_ready", id="adapter that points nowhere: not ready"),
    ],
)
def test_objects_are_counted_by_state(resource: Resource, status: dict[str, Any], state: str) -> None:
    bed = Bed()
    bed.exists(resource, A, status)
    counted = labels(namespace="blue", resource_type=resource.kind, status=state)
    assert bed.series("dynamo_operator_resources_total") == {counted: 1}
