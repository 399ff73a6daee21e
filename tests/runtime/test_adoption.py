"""Field ownership taken over from a former operator."""

from typing import Any

import pytest

from dynamo_operator.runtime.adoption import adopted_managed_fields

HASH = "example.com/hash"


def entry(manager: str, operation: str, fields: dict[str, Any], *, subresource: str = "") -> dict[str, Any]:
    extra = {"subresource": subresource} if subresource else {}
    return {"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsV1": fields, **extra}


STAMP: dict[str, Any] = {"f:metadata": {"f:annotations": {".": {}, f"f:{HASH}": {}}}}
FORMER = entry("manager", "Update", {**STAMP, "f:spec": {"f:replicas": {}, "f:paused": {}}})
STATUS = entry("manager", "Update", STAMP, subresource="status")
OTHER = entry("kubectl-edit", "Update", {"f:spec": {"f:minReadySeconds": {}}})
OURS = entry("us", "Apply", {"f:spec": {"f:replicas": {}, "f:template": {"f:x": {}}}})


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param([], id="nobody owns anything: nothing to move"),
        pytest.param([OTHER, OURS, STATUS], id="the stamp has no owner by update: nothing to move"),
        pytest.param([entry("x", "Update", {"f:metadata": {}})], id="metadata without annotations: nothing to move"),
        pytest.param([{"manager": "x", "operation": "Update"}], id="an entry without fields: nothing to move"),
        pytest.param([entry("us", "Apply", STAMP)], id="the stamp is ours: nothing to move"),
    ],
)
def test_nothing_to_move(fields: list[dict[str, Any]]) -> None:
    assert adopted_managed_fields(fields, "us", HASH) is None


def test_former_operator_owns_the_stamp_its_entry_becomes_ours_and_others_stay() -> None:
    moved = adopted_managed_fields([STATUS, FORMER, OTHER], "us", HASH)
    assert moved == [STATUS, OTHER, {**FORMER, "manager": "us", "operation": "Apply"}]


def test_we_own_fields_already_the_sets_are_united() -> None:
    moved = adopted_managed_fields([OURS, FORMER], "us", HASH)
    assert moved is not None
    assert [(each["manager"], each["operation"]) for each in moved] == [("us", "Apply")]
    assert moved[0]["fieldsV1"]["f:spec"] == {"f:replicas": {}, "f:paused": {}, "f:template": {"f:x": {}}}
    assert FORMER["manager"] == "manager"
