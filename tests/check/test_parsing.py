"""Reading stored JSON of any shape."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamo_operator.check.component_deployment import check_component
from dynamo_operator.check.graph_deployment import check_graph, graph_violations
from dynamo_operator.check.parsing import is_zero, parse_spec
from dynamo_operator.domain.outcome import Rejected
from tests.support.graphs import SITE, source

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
MEMBERS = st.sampled_from(
    ["replicas", "ingress", "eppConfig", "sharedMemory", "volumeMounts", "multinode", "extraPodSpec", "envs", "labels"]
)
QUANTITIES = [
    ("nothing: zero", "", True),
    ("zero: zero", "0", True),
    ("zero of a unit: zero", "0Gi", True),
    ("zero with a fraction and a sign: zero", "-0.00", True),
    ("a number: zero", 0, True),
    ("another number: not zero", 7, False),
    ("an amount: not zero", "10Gi", False),
    ("a small amount: not zero", "0.5", False),
    ("no number at all: left to others", "big", False),
    ("a unit alone: left to others", "Gi", False),
]


@pytest.mark.parametrize(("quantity", "zero"), [q[1:] for q in QUANTITIES], ids=[q[0] for q in QUANTITIES])
def test_is_zero(quantity: str | int, zero: bool) -> None:
    assert is_zero(quantity) is zero


def test_a_member_of_another_type_is_named_by_its_path() -> None:
    with pytest.raises(Rejected) as refused:
        parse_spec({"a": 1, "b": None}, dict[str, str], "spec.x")
    (violation,) = refused.value.violations
    assert violation.message == "spec.x[...]: expected `str`, got `int`"
    assert (violation.path, violation.reason) == ("spec.x[...]", "wrong_type")


@given(spec=st.dictionaries(MEMBERS, JSON, max_size=4))
def test_whatever_is_stored_is_checked_or_refused(spec: dict[str, object]) -> None:
    graph_violations(source({"services": {"a": spec}}), SITE)
    for check, stored in ((check_graph, {"services": {"a": spec}}), (check_component, spec)):
        try:
            check(source(stored), SITE)
        except Rejected:
            continue
