"""The condition that is there only while it has something to say."""

from __future__ import annotations

from typing import Any

from dynamo_operator.domain.outcome import Doubt
from dynamo_operator.status.attention import with_doubts
from tests.support.graphs import EARLIER, NOW

READY = {"type": "Ready", "status": "True", "reason": "r", "message": "m", "lastTransitionTime": EARLIER}
SAID = {
    "type": "NeedsAttention",
    "status": "True",
    "reason": "SpecDoubtful",
    "message": "spec.a: b\nspec.c: d",
    "lastTransitionTime": NOW,
    "observedGeneration": 3,
}
DOUBTS = [Doubt("spec.a", "b"), Doubt("spec.c", "d")]


def told(status: dict[str, Any], doubts: list[Doubt]) -> Any:
    return with_doubts(status, doubts, generation=3, now=NOW)["conditions"]


def test_doubts_are_told_one_a_line_beside_what_is_told_already() -> None:
    assert told({"conditions": [READY]}, DOUBTS) == [READY, SAID]


def test_doubts_that_last_keep_their_time() -> None:
    (since,) = told({"conditions": [{**SAID, "lastTransitionTime": EARLIER}]}, DOUBTS[:1])
    assert (since["message"], since["lastTransitionTime"]) == ("spec.a: b", EARLIER)


def test_doubts_that_are_settled_are_not_told_any_more() -> None:
    assert told({"conditions": [READY, SAID]}, []) == [READY]


def test_a_status_without_doubts_stays_as_it_is() -> None:
    status = {"state": "successful", "conditions": [READY]}
    assert with_doubts(status, [], generation=3, now=NOW) is status
