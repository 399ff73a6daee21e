"""Reading back what exists of a component deployment."""

from __future__ import annotations

from typing import Final

from dynamo_operator.domain.graph import ComponentState
from dynamo_operator.domain.labels import RESTART_AT
from dynamo_operator.domain.manifest import Tree
from dynamo_operator.domain.trees import tree_at, trees_at
from dynamo_operator.status.conditions import AVAILABLE, TRUE

_ABSENT: Final[Tree] = {}


def component_state_of(deployment: Tree) -> ComponentState:
    """The state of a stored DynamoComponentDeployment; what is absent or of another shape counts as not there yet."""
    metadata, spec, status = (tree_at(deployment, part) for part in ("metadata", "spec", "status"))
    available: Tree = next((c for c in trees_at(status, "conditions") if c.get("type") == AVAILABLE), _ABSENT)
    return ComponentState(
        name=_text(metadata, "name"),
        service=_text(spec, "serviceName"),
        observed=_whole_number(status, "observedGeneration") >= max(1, _whole_number(metadata, "generation")),
        available=available.get("status") == TRUE,
        message=_text(available, "message"),
        replicas=tree_at(status, "service") or None,
        restart_id=_text(tree_at(spec, "annotations"), RESTART_AT),
    )


def _text(tree: Tree, name: str) -> str:
    value = tree.get(name)
    return value if isinstance(value, str) else ""


def _whole_number(tree: Tree, name: str) -> int:
    value = tree.get(name)
    return value if isinstance(value, int) else 0
