"""How far a Deployment is (specification: workloads.md 5.10)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from dynamo_operator.domain.manifest import Tree
from dynamo_operator.domain.trees import tree_at
from dynamo_operator.status import conditions
from dynamo_operator.status.conditions import Condition
from dynamo_operator.status.progress import Progress, count_in, says_available

KIND: Final = "Deployment"
_COUNTS: Final = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
_NONE: Final[Tree] = {}


def progress_of_deployment(name: str, objects: Iterable[Tree]) -> Progress:
    """That of the Deployment of that name; one with a debugger beside it does not count."""
    deployment = next((each for each in objects if tree_at(each, "metadata").get("name") == name), _NONE)
    ready = deployment_ready(deployment)
    available = Condition(
        conditions.AVAILABLE,
        met=ready,
        reason=conditions.DEPLOYMENT_READY if ready else conditions.DEPLOYMENT_NOT_READY,
        message="Deployment is ready" if ready else "Deployment is not ready",
    )
    counts = tree_at(deployment, "status")
    service = {"componentKind": KIND, "componentName": name, **{each: count_in(counts, each) for each in _COUNTS}}
    return Progress(available, service)


def deployment_ready(deployment: Tree) -> bool:
    """True when a Deployment runs its newest spec in the wanted number."""
    spec, status = tree_at(deployment, "spec"), tree_at(deployment, "status")
    if not deployment or spec.get("paused"):
        return False
    # The API server writes the default, yet a Deployment may come without it.
    desired = count_in(spec, "replicas", default=1)
    if desired == 0:
        return True
    if count_in(status, "observedGeneration") < count_in(tree_at(deployment, "metadata"), "generation"):
        return False
    if count_in(status, "replicas") != desired:
        return False
    if min(count_in(status, "updatedReplicas"), count_in(status, "availableReplicas")) < desired:
        return False
    return says_available(status)
