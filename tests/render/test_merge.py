"""Laying a user's fields over defaults."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamo_operator.render.merge import merge

ROWS: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ("a scalar is given: it wins", {"a": "x", "n": 1}, {"a": "y", "n": 2}, {"a": "y", "n": 2}),
    ("an empty string is given: the default stays", {"a": "x"}, {"a": ""}, {"a": "x"}),
    ("zero is given: the default stays", {"grace": 60}, {"grace": 0}, {"grace": 60}),
    ("false is given: the default stays", {"on": True}, {"on": False}, {"on": True}),
    ("zero is given where nothing is: it is taken", {}, {"on": False, "n": 0}, {"on": False, "n": 0}),
    ("a list is given: it replaces the whole list", {"l": [1, 2]}, {"l": [3]}, {"l": [3]}),
    ("an empty list is given: the default stays", {"l": [1]}, {"l": []}, {"l": [1]}),
    ("an object is given: it merges field by field", {"o": {"a": 1, "b": 2}}, {"o": {"b": 3}}, {"o": {"a": 1, "b": 3}}),
    ("an empty object is given: the default stays", {"o": {"a": 1}}, {"o": {}}, {"o": {"a": 1}}),
    ("null is given: nothing is said", {"a": 1}, {"a": None, "b": None}, {"a": 1}),
    ("a number meets a named port: the name stays", {"port": "http"}, {"port": 8080}, {"port": "http"}),
    ("a name meets a named port: it wins", {"port": "http"}, {"port": "web"}, {"port": "web"}),
    ("a name meets a numbered port: it wins", {"port": 80}, {"port": "web"}, {"port": "web"}),
]

TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from("abc"), TREES, max_size=3)


@pytest.mark.parametrize(("title", "default", "override", "wanted"), ROWS, ids=[row[0] for row in ROWS])
def test_merge(title: str, default: dict[str, Any], override: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert merge(default, override) == wanted


@given(OBJECTS, OBJECTS)
def test_neither_side_is_changed(default: dict[str, Any], override: dict[str, Any]) -> None:
    before = copy.deepcopy((default, override))
    merge(default, override)
    assert (default, override) == before


@given(OBJECTS)
def test_nothing_given_changes_nothing(default: dict[str, Any]) -> None:
    assert merge(default, {}) == default


@given(OBJECTS, OBJECTS)
def test_merging_the_same_again_changes_nothing(default: dict[str, Any], override: dict[str, Any]) -> None:
    once = merge(default, override)
    assert merge(once, override) == once


@given(OBJECTS, OBJECTS)
def test_every_key_of_the_default_stays(default: dict[str, Any], override: dict[str, Any]) -> None:
    assert default.keys() <= merge(default, override).keys()
