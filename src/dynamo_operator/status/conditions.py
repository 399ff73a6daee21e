"""All condition types, reasons and states that the operator writes, and how a condition changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from dynamo_operator.domain.manifest import Tree

TRUE: Final = "True"
FALSE: Final = "False"

# Condition types. Ready: printer column of graphs, `kubectl wait`; Available: printer column of components, graphs.
READY: Final = "Ready"
AVAILABLE: Final = "Available"
VALID: Final = "Valid"
# There only while there is something to say; read by people.
NEEDS_ATTENTION: Final = "NeedsAttention"

# States of a graph; read by the request controller, by metrics and by people's scripts.
PENDING: Final = "pending"
SUCCESSFUL: Final = "successful"
FAILED: Final = "failed"

# Reasons of Ready on a graph; people match on them, hence the odd spelling.
ALL_READY: Final = "all_resources_are_ready"
SOME_NOT_READY: Final = "some_resources_are_not_ready"
RECONCILE_FAILED: Final = "failed_to_reconcile_the_resources"
FINALIZER_FAILED: Final = "failed_to_handle_the_finalizer"

# Reasons of Valid on a component, and of Ready on a refused graph.
VALIDATION_PASSED: Final = "ValidationPassed"
VALIDATION_FAILED: Final = "ValidationFailed"

# Reasons of Available on a component.
DEPLOYMENT_READY: Final = "DeploymentReady"
DEPLOYMENT_NOT_READY: Final = "DeploymentNotReady"
SETS_READY: Final = "AllLeaderWorkerSetsReady"
SETS_NOT_READY: Final = "SomeLeaderWorkerSetsNotReady"
RECONCILING: Final = "Reconciling"

# Reason of NeedsAttention.
SPEC_DOUBTFUL: Final = "SpecDoubtful"


# What every condition has; the API server refuses a status with one that lacks any.
_PARTS: Final = ("type", "status", "reason", "message", "lastTransitionTime")


@dataclass(frozen=True, slots=True)
class Condition:
    """What a condition says now, apart from when it began to say so."""

    type: str
    met: bool
    reason: str
    message: str


def set_condition(previous: Sequence[Tree], wanted: Condition, *, generation: int, now: str) -> list[dict[str, Any]]:
    """All conditions with one of them replaced or added; its transition time moves only when its status changes.

    ``now`` is an RFC 3339 time. The place in the list stays, so that an unchanged status compares equal. What is no
    condition is left out.
    """
    previous = [each for each in previous if all(isinstance(each.get(part), str) for part in _PARTS)]
    status = TRUE if wanted.met else FALSE
    before = next((c for c in previous if c.get("type") == wanted.type), None)
    since = before.get("lastTransitionTime") if before is not None and before.get("status") == status else None
    condition: dict[str, Any] = {
        "type": wanted.type,
        "status": status,
        "reason": wanted.reason,
        "message": wanted.message,
        "lastTransitionTime": since or now,
        "observedGeneration": generation,
    }
    if before is None:
        return [*map(dict, previous), condition]
    return [condition if c.get("type") == wanted.type else dict(c) for c in previous]
