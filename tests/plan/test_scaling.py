"""Which adapter says how many copies run, and what the graph looks like with them."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_operator.plan.scaling import Adapter, adapters_in_charge, replicas_of, scaled_spec

ASKS = {"replicas": 1, "scalingAdapter": {"enabled": True}}
OWN = Adapter("own", "w", 2, owner="us", created="2026-01-02T00:00:00Z")
FORMER = Adapter("former", "w", 3, owner="others", created="2026-01-01T00:00:00Z")
OLD = Adapter("old", "w", 4, created="2026-01-01T00:00:00Z")
TWIN = Adapter("twin", "w", 5, created="2026-01-01T00:00:00Z")
YOUNG = Adapter("a-young", "w", 6, created="2026-01-03T00:00:00Z")


@pytest.mark.parametrize(
    ("service", "adapters", "in_charge"),
    [
        pytest.param(ASKS, [YOUNG, OLD, OWN], "own", id="the graph's own and others: its own"),
        pytest.param(ASKS, [YOUNG, TWIN, OLD], "old", id="several made by hand: the oldest, by name if need be"),
        pytest.param(ASKS, [FORMER, YOUNG], "a-young", id="a former graph's of that name: not heard"),
        pytest.param(ASKS, [FORMER], None, id="only a former graph's: none"),
        pytest.param({"scalingAdapter": {"enabled": False}}, [OWN], None, id="switched off: none"),
        pytest.param({"scalingAdapter": {}}, [OWN, OLD], "old", id="switched off, one made by hand: that one"),
        pytest.param({}, [OLD], "old", id="never asked for, one made by hand: that one"),
        pytest.param(ASKS, [], None, id="no adapter: none"),
    ],
)
def test_adapter_in_charge(service: Any, adapters: list[Adapter], in_charge: str | None) -> None:
    spec = {"services": {"w": service, "x": {}}}
    for order in (adapters, adapters[::-1]):
        found = adapters_in_charge(spec, "us", order)
        assert [each.name for each in found.values()] == ([in_charge] if in_charge else [])
        assert found.get("w", None) is None or found["w"].service == "w"


def test_service_is_not_in_the_graph_its_adapter_decides_nothing() -> None:
    assert adapters_in_charge({"services": {"x": {}}}, "us", [OWN, OLD]) == {}
    assert adapters_in_charge({}, "us", [OLD]) == {}


def test_graph_with_its_adapters_numbers() -> None:
    spec = {"services": {"w": {**ASKS, "x": 1}, "y": {"replicas": 7}}, "envs": []}
    assert scaled_spec(spec, {"w": OWN}) == {
        "services": {"w": {**ASKS, "x": 1, "replicas": 2}, "y": {"replicas": 7}},
        "envs": [],
    }
    assert spec["services"] == {"w": {**ASKS, "x": 1}, "y": {"replicas": 7}}


@pytest.mark.parametrize(
    ("service", "wanted"),
    [
        pytest.param({"replicas": 2}, 2, id="the same number: the same graph"),
        pytest.param({}, 1, id="one, and none said: the same graph"),
    ],
)
def test_nothing_to_scale(service: dict[str, Any], wanted: int) -> None:
    spec = {"services": {"w": service}}
    assert scaled_spec(spec, {"w": Adapter("a", "w", wanted)}) is spec
    assert scaled_spec(spec, {}) is spec


def test_none_is_a_number() -> None:
    assert [replicas_of(each) for each in ({"replicas": 0}, {"replicas": 3}, {}, {"replicas": None})] == [0, 3, 1, 1]
