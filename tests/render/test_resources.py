"""Resources of the main container."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamo_operator.domain.component import ResourceAmounts, Resources
from dynamo_operator.domain.outcome import Unrenderable
from dynamo_operator.render.resources import render_resources

ROWS: list[tuple[str, dict[str, Any], Resources | None, dict[str, Any]]] = [
    ("nothing is said: nothing", {}, None, {}),
    ("nothing is said in an empty block: nothing", {}, Resources(), {}),
    (
        "only the container speaks: its words",
        {"limits": {"cpu": "1"}, "claims": [{"name": "a"}]},
        Resources(),
        {"limits": {"cpu": "1"}, "claims": [{"name": "a"}]},
    ),
    (
        "both speak: the component's keys win, the others stay",
        {"limits": {"cpu": "1", "memory": "1Gi"}, "claims": [{"name": "a"}]},
        Resources(limits=ResourceAmounts(cpu="2"), claims=({"name": "b"},)),
        {"limits": {"cpu": "2", "memory": "1Gi"}, "claims": [{"name": "a"}, {"name": "b"}]},
    ),
    (
        "a GPU limit is given: NVIDIA's resource",
        {},
        Resources(limits=ResourceAmounts(gpu="2")),
        {"limits": {"nvidia.com/gpu": "2"}},
    ),
    (
        "a GPU type is given: that resource",
        {},
        Resources(limits=ResourceAmounts(gpu="2", gpu_type="gpu.example.com/xe")),
        {"limits": {"gpu.example.com/xe": "2"}},
    ),
    ("a GPU is only requested: nothing, as ever", {}, Resources(requests=ResourceAmounts(gpu="2")), {}),
    (
        "quantities in unusual units: passed as written",
        {},
        Resources(requests=ResourceAmounts(cpu="0500m", memory="1e3", custom={"x/y": "+1.50Gi"})),
        {"requests": {"cpu": "0500m", "memory": "1e3", "x/y": "+1.50Gi"}},
    ),
]

_FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

REFUSALS = [
    ("words: not the form of a quantity", Resources(limits=ResourceAmounts(memory="lots")), "limits memory", _FORMAT),
    ("two points: not the form", Resources(requests=ResourceAmounts(cpu="1.2.3")), "requests cpu", _FORMAT),
    (
        "a unit nobody knows",
        Resources(limits=ResourceAmounts(gpu="1mm")),
        "limits gpu",
        "unable to parse quantity's suffix",
    ),
    (
        "two wrong: the first by name",
        Resources(requests=ResourceAmounts(custom={"b": "x", "a": "y"})),
        "requests a",
        _FORMAT,
    ),
]


@pytest.mark.parametrize(("title", "given_", "wanted_", "result"), ROWS, ids=[row[0] for row in ROWS])
def test_resources(title: str, given_: dict[str, Any], wanted_: Resources | None, result: dict[str, Any]) -> None:
    assert render_resources(given_, wanted_) == result


@pytest.mark.parametrize(("title", "wanted", "where", "fault"), REFUSALS, ids=[row[0] for row in REFUSALS])
def test_text_that_is_no_quantity(title: str, wanted: Resources, where: str, fault: str) -> None:
    with pytest.raises(Unrenderable) as refused:
        render_resources({}, wanted)
    assert str(refused.value) == f"failed to get resources config: parse {where} quantity: {fault}"


UNITS = ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E-3", "e+10"]


@given(st.decimals(min_value=0, max_value=10**6, places=2), st.sampled_from(UNITS))
def test_every_quantity_passes_as_written(number: object, unit: str) -> None:
    limits = ResourceAmounts(cpu=f"{number}{unit}")
    assert render_resources({}, Resources(limits=limits)) == {"limits": {"cpu": f"{number}{unit}"}}
