"""Reading back what exists of a component deployment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dynamo_operator.domain.graph import ComponentState, Graph
from dynamo_operator.domain.labels import RESTART_AT
from dynamo_operator.domain.manifest import Tree
from dynamo_operator.domain.names import component_name
from dynamo_operator.domain.trees import tree_at, trees_at
from dynamo_operator.status.conditions import AVAILABLE, TRUE

_ABSENT: Final[Tree] = {}
_NOT_READY: Final = "Component deployment not ready - Available condition not true"


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


def component_problems(graph: Graph, states: Sequence[ComponentState]) -> list[str]:
    """What a graph waits for, as people read it: one message for each component that is not ready, by its name.

    A component whose spec was just changed still shows what became of the old one.
    """
    ready = {state.service for state in states if state.observed and state.available}
    waiting = sorted(component_name(graph.name, each.key) for each in graph.services if each.key not in ready)
    return [f"{name}: {_NOT_READY}" for name in waiting]


def _text(tree: Tree, name: str) -> str:
    value = tree.get(name)
    return value if isinstance(value, str) else ""


def _whole_number(tree: Tree, name: str) -> int:
    value = tree.get(name)
    return value if isinstance(value, int) else 0
