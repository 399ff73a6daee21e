"""What autoscalers read about an adapter."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_operator.status.graph_deployment_scaling_adapter import status_of_adapter
from tests.support.graphs import EARLIER, NOW

SPEC = {"replicas": 5, "dgdRef": {"name": "g", "serviceName": "W"}}
SELECTOR = "nvidia.com/dynamo-graph-deployment-name=g,nvidia.com/dynamo-component=W"
SCALED = {"lastScaleTime": EARLIER}
RUNNING = {"services": {"W": {"replicas": 3}}}
CASES: list[tuple[str, dict[str, Any], dict[str, Any], str | None, dict[str, Any]]] = [
    ("the graph says nothing: the wanted number", {}, {}, None, {"replicas": 5}),
    ("the graph counts: what it counts", RUNNING, {}, None, {"replicas": 3}),
    ("scaled now: the time is set", {}, SCALED, NOW, {"replicas": 5, "lastScaleTime": NOW}),
    ("scaled before: the time stays", {}, SCALED, None, {"replicas": 5, "lastScaleTime": EARLIER}),
]


@pytest.mark.parametrize(
    ("graph", "previous", "scaled_at", "wanted"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_status(graph: dict[str, Any], previous: dict[str, Any], scaled_at: str | None, wanted: dict[str, Any]) -> None:
    status = status_of_adapter(SPEC, graph_status=graph, previous=previous, scaled_at=scaled_at)
    assert status == {"selector": SELECTOR, **wanted}
