"""What an API server makes of an object before it looks at it."""

from __future__ import annotations

from copy import deepcopy
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamo_operator.api.defaulting import completed
from dynamo_operator.api.schema import struct_schema
from dynamo_operator.api.v1alpha1.graph_deployment import DynamoGraphDeploymentSpec
from dynamo_operator.api.v1alpha1.graph_deployment_request import DynamoGraphDeploymentRequestSpec

GRAPH = struct_schema(DynamoGraphDeploymentSpec)
REQUEST = struct_schema(DynamoGraphDeploymentRequestSpec)

ROWS = [
    ("absent member with a default: filled in", GRAPH, {"restart": {"strategy": {}}}, {
        "restart": {"strategy": {"type": "Sequential"}}}),
    ("null member with a default: filled in", GRAPH, {"restart": {"strategy": {"type": None}}}, {
        "restart": {"strategy": {"type": "Sequential"}}}),
    ("null member without a default: dropped", GRAPH, {"restart": None}, {}),
    ("null in a map: dropped", GRAPH, {"services": {"a": None}}, {"services": {}}),
    ("null in a list: kept, for the validator to refuse", GRAPH, {"pvcs": [None]}, {"pvcs": [None]}),
    ("empty multinode: two nodes", GRAPH, {"services": {"a": {"multinode": {}}}}, {
        "services": {"a": {"multinode": {"nodeCount": 2}}}}),
    ("null among members that the schema does not know: the user's own",
     REQUEST["properties"]["profilingConfig"], {"config": {"sweep": None}}, {"config": {"sweep": None}}),
    ("list in a list: completed too", GRAPH, {"pvcs": [{"name": None}]}, {"pvcs": [{}]}),
    ("date where text belongs: text", GRAPH, {"restart": {"id": date(2024, 5, 1)}}, {"restart": {"id": "2024-05-01"}}),
    ("key that YAML reads as a number: text", GRAPH, {"services": {1: {}}}, {"services": {"1": {}}}),
    ("key that YAML reads as true: text", GRAPH, {"services": {True: {}}}, {"services": {"true": {}}}),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "value", "wanted"), [pytest.param(*row[1:], id=row[0]) for row in ROWS])
def test_completed(schema: dict[str, Any], value: object, wanted: object) -> None:
    assert completed(schema, value) == wanted


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*GRAPH["properties"], "type", "strategy", "multinode"]), inner, max_size=4)
    ),
    max_leaves=10,
)


@given(VALUES)
def test_completing_twice_is_completing_once_and_leaves_its_argument_alone(value: Any) -> None:
    before = deepcopy(value)
    once = completed(GRAPH, value)
    assert completed(GRAPH, once) == once
    assert value == before
