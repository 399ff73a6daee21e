"""How far the LeaderWorkerSets of a component are (specification: workloads.md 5.10)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from dynamo_operator.domain.manifest import Tree
from dynamo_operator.domain.trees import tree_at
from dynamo_operator.status import conditions
from dynamo_operator.status.conditions import Condition
from dynamo_operator.status.progress import Progress, count_in, says_available

KIND: Final = "LeaderWorkerSet"
_COUNTS: Final = ("replicas", "updatedReplicas", "readyReplicas")


def progress_of_sets(name: str, objects: Iterable[Tree]) -> Progress:
    """That of all sets of a component together; with none there is nothing to wait for and nothing to count."""
    sets = list(objects)
    ready = all(map(set_ready, sets))
    available = Condition(
        conditions.AVAILABLE,
        met=ready,
        reason=conditions.SETS_READY if ready else conditions.SETS_NOT_READY,
        message="All LeaderWorkerSets are ready" if ready else "Some LeaderWorkerSets are not ready",
    )
    return Progress(available, _service(name, sets) if sets else None)


def set_ready(stored: Tree) -> bool:
    """True when a set runs its newest spec in the wanted number."""
    desired = count_in(tree_at(stored, "spec"), "replicas", default=1)
    if desired == 0:
        return True
    status = tree_at(stored, "status")
    seen = count_in(status, "observedGeneration")
    # LeaderWorkerSet says since release 0.9 which generation it has seen.
    if 0 < seen < count_in(tree_at(stored, "metadata"), "generation"):
        return False
    if min(count_in(status, "readyReplicas"), count_in(status, "updatedReplicas")) < desired:
        return False
    return says_available(status)


def _service(name: str, sets: list[Tree]) -> Tree:
    statuses = [tree_at(each, "status") for each in sets]
    counts = {each: sum(count_in(status, each) for status in statuses) for each in _COUNTS}
    return {"componentKind": KIND, "componentName": f"{name}-0", **counts}
