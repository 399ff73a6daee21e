"""The status of a component deployment (specification: workloads.md 5.2 and 5.10, api.md 5.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from dynamo_operator.domain.component import Component
from dynamo_operator.domain.manifest import Tree
from dynamo_operator.domain.outcome import Rejected
from dynamo_operator.domain.trees import copied, trees_at
from dynamo_operator.status import conditions, deployment, leader_worker_set
from dynamo_operator.status.conditions import Condition, set_condition
from dynamo_operator.status.progress import Progress

_VALID = Condition(
    conditions.VALID,
    met=True,
    reason=conditions.VALIDATION_PASSED,
    message="DynamoComponentDeployment spec is valid",
)

_PROGRESS: Final[Mapping[str, Callable[[str, Sequence[Tree]], Progress]]] = {
    deployment.KIND: deployment.progress_of_deployment,
    leader_worker_set.KIND: leader_worker_set.progress_of_sets,
}


def status_of_component(
    component: Component, objects: Sequence[Tree], *, kind: str, previous: Tree, generation: int, now: str
) -> Tree:
    """The status of a component whose children are in place; ``now`` is an RFC 3339 time.

    ``objects`` are those of its workload's ``kind``. Raises KeyError for a kind of which nobody knows when it is ready.
    """
    progress = _PROGRESS[kind](component.name, objects)
    status = _status((_VALID, progress.available), previous, generation=generation, now=now)
    status.pop("service", None)
    if progress.service is not None:
        status["service"] = progress.service
    return {**status, "observedGeneration": generation}


def status_of_rejected_component(rejected: Rejected, *, previous: Tree, generation: int, now: str) -> Tree:
    """The status of a component that validation refused; what was known of its workload stays."""
    invalid = Condition(
        conditions.VALID,
        met=False,
        reason=conditions.VALIDATION_FAILED,
        message=f"Validation failed: {rejected}",
    )
    return _status((invalid,), previous, generation=generation, now=now)


def status_of_failed_component(error: str, *, previous: Tree, generation: int, now: str) -> Tree:
    """The status of a component after an error; it has not seen its generation, what was known of it stays."""
    failed = Condition(
        conditions.AVAILABLE,
        met=False,
        reason=conditions.RECONCILING,
        message=f"Failed to reconcile DynamoComponentDeployment: {error}",
    )
    return _status((_VALID, failed), previous, generation=generation, now=now)


def _status(changed: tuple[Condition, ...], previous: Tree, *, generation: int, now: str) -> dict[str, Any]:
    listed = [dict(c) for c in trees_at(previous, "conditions")]
    for condition in changed:
        listed = set_condition(listed, condition, generation=generation, now=now)
    return {**copied(previous), "conditions": listed}
