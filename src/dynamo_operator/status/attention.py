"""What people should look at although nothing failed: a condition that is there only while it has something to say."""

from __future__ import annotations

from collections.abc import Sequence

from dynamo_operator.domain.manifest import Tree
from dynamo_operator.domain.outcome import Doubt
from dynamo_operator.domain.trees import trees_at
from dynamo_operator.status.conditions import NEEDS_ATTENTION, SPEC_DOUBTFUL, Condition, set_condition


def with_doubts(status: Tree, doubts: Sequence[Doubt], *, generation: int, now: str) -> Tree:
    """The status with these doubts, one a line, in place of those of before; ``now`` is an RFC 3339 time."""
    said = trees_at(status, "conditions")
    if doubts:
        message = "\n".join(doubt.message for doubt in doubts)
        wanted = Condition(NEEDS_ATTENTION, met=True, reason=SPEC_DOUBTFUL, message=message)
        return {**status, "conditions": set_condition(said, wanted, generation=generation, now=now)}
    kept = [each for each in said if each.get("type") != NEEDS_ATTENTION]
    return status if len(kept) == len(said) else {**status, "conditions": kept}
