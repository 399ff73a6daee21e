"""The status of a component deployment (specification: workloads.md 5.2 and 5.10, api.md 5.2)."""

from __future__ import annotations

from typing import Any

from dynamo_operator.domain.component import Component
from dynamo_operator.domain.manifest import Tree
from dynamo_operator.domain.outcome import Rejected
from dynamo_operator.domain.trees import copied, tree_at, trees_at
from dynamo_operator.status import conditions
from dynamo_operator.status.conditions import Condition, set_condition

_VALID = Condition(
    conditions.VALID,
    met=True,
    reason=conditions.VALIDATION_PASSED,
    message="DynamoComponentDeployment spec is valid",
)

_COUNTS = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")


def deployment_ready(deployment: Tree) -> bool:
    """True when a Deployment runs its newest spec in the wanted number (specification: workloads.md 5.10)."""
    spec, status = tree_at(deployment, "spec"), tree_at(deployment, "status")
    if not deployment or spec.get("paused"):
        return False
    desired = _wanted(spec)
    if desired == 0:
        return True
    if _count(status, "observedGeneration") < _count(tree_at(deployment, "metadata"), "generation"):
        return False
    if _count(status, "replicas") != desired:
        return False
    if min(_count(status, "updatedReplicas"), _count(status, "availableReplicas")) < desired:
        return False
    return any(c.get("type") == "Available" and c.get("status") == "True" for c in trees_at(status, "conditions"))


def status_of_component(component: Component, deployment: Tree, *, previous: Tree, generation: int, now: str) -> Tree:
    """The status of a component whose children are in place, from its Deployment; ``now`` is an RFC 3339 time."""
    ready = deployment_ready(deployment)
    available = Condition(
        conditions.AVAILABLE,
        met=ready,
        reason=conditions.DEPLOYMENT_READY if ready else conditions.DEPLOYMENT_NOT_READY,
        message="Deployment is ready" if ready else "Deployment is not ready",
    )
    status = _status((_VALID, available), previous, generation=generation, now=now)
    counts = tree_at(deployment, "status")
    service = {
        "componentKind": "Deployment",
        "componentName": component.name,
        **{name: _count(counts, name) for name in _COUNTS},
    }
    return {**status, "service": service, "observedGeneration": generation}


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


def _wanted(spec: Tree) -> int:
    # The API server writes the default, yet a Deployment may come without it.
    return 1 if spec.get("replicas") is None else _count(spec, "replicas")


def _count(tree: Tree, name: str) -> int:
    value = tree.get(name)
    return value if isinstance(value, int) else 0
