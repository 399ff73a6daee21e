"""Which claims a graph waits for."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_operator.plan.claims import claims_missing
from tests.support.graphs import graph_of

MADE = {"name": "a", "create": True, "storageClass": "s", "size": "1Gi", "volumeAccessMode": "m"}
CASES: list[tuple[str, list[dict[str, Any]], set[str], int]] = [
    ("the claim exists: nothing is missing", [{"name": "a"}], {"a"}, 0),
    ("the operator makes it: nothing is missing", [MADE], set(), 0),
    ("one entry makes what another wants: nothing is missing", [{"name": "a"}, MADE], set(), 0),
    ("nobody makes it: it is missing once", [{"name": "a"}, {"name": "a"}], {"b"}, 1),
]


@pytest.mark.parametrize(("claims", "existing", "count"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_claims_missing(claims: list[dict[str, Any]], existing: set[str], count: int) -> None:
    messages = claims_missing(graph_of({"w": {}}, pvcs=claims), frozenset(existing))
    assert len(messages) == count
    assert all(m.startswith("a: PersistentVolumeClaim ns/a of spec.pvcs[") for m in messages)
