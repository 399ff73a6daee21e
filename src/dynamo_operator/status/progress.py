"""How far the pods of a component are, whatever runs them."""

from __future__ import annotations

from dataclasses import dataclass

from dynamo_operator.domain.manifest import Tree
from dynamo_operator.domain.trees import trees_at
from dynamo_operator.status.conditions import AVAILABLE, TRUE, Condition


@dataclass(frozen=True, slots=True)
class Progress:
    """The condition Available, and ``status.service``, which is None when there is nothing to count."""

    available: Condition
    service: Tree | None


def count_in(tree: Tree, name: str, default: int = 0) -> int:
    """A whole number of a spec or a status."""
    value = tree.get(name)
    return value if isinstance(value, int) else default


def says_available(status: Tree) -> bool:
    """True when an object's own controller calls it available."""
    return any(c.get("type") == AVAILABLE and c.get("status") == TRUE for c in trees_at(status, "conditions"))
