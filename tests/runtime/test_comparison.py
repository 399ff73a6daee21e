"""Comparison of live and desired trees."""

import copy
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamo_operator.runtime.comparison import covers, merge_patch, parse_quantity

LIMITS = "limits"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("0.5", Fraction(1, 2)),
        (".5", Fraction(1, 2)),
        ("5.", 5),
        ("-3", -3),
        ("500m", Fraction(1, 2)),
        ("2k", 2000),
        ("1Ki", 1024),
        ("1.5Gi", 1536 * 1024**2),
        ("1E", 10**18),
        ("1e3", 1000),
        ("12E-1", Fraction(6, 5)),
        ("1e999", None),
        ("1K", None),
        ("h100", None),
        ("", None),
        ("1" * 65, None),
    ],
)
def test_quantity(text: str, value: Any) -> None:
    assert parse_quantity(text) == value


@pytest.mark.parametrize(
    ("live", "desired", "expected"),
    [
        pytest.param({"a": 1, "b": 2}, {"a": 1}, True, id="a default was added: covered"),
        pytest.param({"a": 1}, {"a": 1, "b": 2}, False, id="a member is missing: not covered"),
        pytest.param({"a": 2}, {"a": 1}, False, id="a value differs: not covered"),
        pytest.param({"a": True}, {"a": 1}, False, id="true is not 1: not covered"),
        pytest.param({"a": 1.0}, {"a": 1}, True, id="1.0 is 1: covered"),
        pytest.param({}, {"a": {}, "b": [], "c": "", "d": None, "e": False, "f": 0}, True, id="empty and absent"),
        pytest.param({}, {"a": {"b": {"c": ""}}}, True, id="objects of empty values and absent: covered"),
        pytest.param({}, {"a": [{}]}, False, id="a list with an element and absent: not covered"),
        pytest.param({"a": [1]}, {"a": []}, False, id="an empty list is wanted, there are elements: not covered"),
        pytest.param({"a": "x"}, {"a": ""}, False, id="an empty text is wanted, there is one: not covered"),
        pytest.param({"a": {"x": 1}}, {"a": {}}, True, id="an empty object is wanted: defaults in it are fine"),
        pytest.param({"a": []}, {"a": {"b": 1}}, False, id="a list for an object: not covered"),
        pytest.param({"a": {}}, {"a": [1]}, False, id="an object for a list: not covered"),
        pytest.param([{"n": 1, "x": 0}], [{"n": 1}], True, id="list elements have defaults: covered"),
        pytest.param([1, 2], [2, 1], False, id="another order: not covered"),
        pytest.param([1, 2], [1], False, id="an element too many: not covered"),
        pytest.param({LIMITS: {"cpu": "1"}}, {LIMITS: {"cpu": "1000m"}}, True, id="equal amounts: covered"),
        pytest.param({LIMITS: {"cpu": "500m"}}, {LIMITS: {"cpu": 0.5}}, True, id="amount as a number: covered"),
        pytest.param({LIMITS: {"cpu": "1"}}, {LIMITS: {"cpu": "2"}}, False, id="other amounts: not covered"),
        pytest.param({LIMITS: {"cpu": "1"}}, {LIMITS: {"cpu": True}}, False, id="true is no amount: not covered"),
        pytest.param({LIMITS: {"x": "a"}}, {LIMITS: {"x": "b"}}, False, id="texts that are no amounts: not covered"),
        pytest.param({LIMITS: {"x": {}}}, {LIMITS: {"x": "1"}}, False, id="an object for an amount: not covered"),
        pytest.param({"arg": "1"}, {"arg": "1000m"}, False, id="amounts elsewhere are texts: not covered"),
        pytest.param({"sizeLimit": "1Gi"}, {"sizeLimit": "1024Mi"}, True, id="an amount of its own: covered"),
        pytest.param(
            {"ownerReferences": [{"uid": "1"}, {"uid": "2"}]},
            {"ownerReferences": [{"uid": "2"}]},
            True,
            id="an owner more: covered",
        ),
        pytest.param({}, {"finalizers": ["f"]}, False, id="a finalizer is missing: not covered"),
    ],
)
def test_covers(live: Any, desired: Any, *, expected: bool) -> None:
    assert covers(live, desired) is expected


SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "a", "1Gi", "1024Mi"])
TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "limits", "finalizers"]), inner, max_size=3)
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.sampled_from("abcd"), TREES, max_size=4)


@given(TREES)
def test_every_tree_covers_itself(tree: Any) -> None:
    assert covers(copy.deepcopy(tree), tree)


@given(OBJECTS, TREES)
def test_more_members_never_uncover(tree: dict[str, Any], extra: Any) -> None:
    assert covers({**tree, "another": extra}, tree)


def patched(target: Any, patch: Any) -> Any:
    """JSON merge patch as RFC 7386 words it."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = patched(result.get(name), value)
    return result


def without_nulls(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {name: without_nulls(value) for name, value in tree.items() if value is not None}
    return tree


@given(OBJECTS, OBJECTS)
def test_patch_turns_one_tree_into_the_other(current: dict[str, Any], wanted: dict[str, Any]) -> None:
    current = without_nulls(current)
    after = patched(current, merge_patch(current, wanted) or {})
    assert after == without_nulls(wanted)
    assert merge_patch(after, wanted) is None


@pytest.mark.parametrize(
    ("current", "wanted", "patch"),
    [
        pytest.param({"a": 1}, {"a": 1}, None, id="equal: no patch"),
        pytest.param({"a": 1, "b": 2}, {"a": 1}, {"b": None}, id="a member vanished: null"),
        pytest.param({"a": {"b": 1, "c": 2}}, {"a": {"b": 3, "c": 2}}, {"a": {"b": 3}}, id="below: only that"),
        pytest.param({"a": [1, 2]}, {"a": [1, 2, 3]}, {"a": [1, 2, 3]}, id="lists: whole"),
        pytest.param({"a": [{"x": True}]}, {"a": [{"x": 1}]}, {"a": [{"x": 1}]}, id="true became 1: told"),
        pytest.param({"a": [{"x": 1}]}, {"a": [{"x": 1}]}, None, id="equal lists: no patch"),
        pytest.param({}, {"a": {}}, {"a": {}}, id="an empty object appears: told"),
        pytest.param({"a": None}, {"a": None}, None, id="nulls: no patch"),
    ],
)
def test_merge_patch(current: dict[str, Any], wanted: dict[str, Any], patch: Any) -> None:
    assert merge_patch(current, wanted) == patch
