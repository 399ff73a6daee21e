"""The status of a graph (specification: workloads.md 3.8, api.md 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from dynamo_operator.domain.graph import ComponentState, Graph, RestartStatus
from dynamo_operator.domain.manifest import Tree
from dynamo_operator.domain.outcome import Rejected
from dynamo_operator.domain.trees import copied, tree_at, trees_at
from dynamo_operator.status import conditions
from dynamo_operator.status.conditions import Condition, set_condition

__all__ = [
    "parse_restart_status",
    "status_of_failed_graph",
    "status_of_graph",
    "status_of_rejected_graph",
    "status_of_waiting_graph",
]


@dataclass(frozen=True, slots=True)
class _Verdict:
    state: str
    ready: Condition


def parse_restart_status(stored: object) -> RestartStatus | None:
    """``status.restart`` as it is stored; None where there is none."""
    tree = tree_at(stored)
    if not tree:
        return None
    listed = tree.get("inProgress")
    names = cast("list[object]", listed) if isinstance(listed, list) else []
    return RestartStatus(
        observed_id=str(tree.get("observedID") or ""),
        phase=str(tree.get("phase") or ""),
        in_progress=tuple(str(name) for name in names),
    )


def status_of_graph(
    graph: Graph,
    components: Sequence[ComponentState],
    restart: RestartStatus | None,
    *,
    problems: Sequence[str],
    previous: Tree,
    now: str,
) -> Tree:
    """The status of a graph whose children are in place, from what exists of its services.

    ``problems`` are messages about what it waits for; ``now`` is an RFC 3339 time.
    """
    by_service = {state.service: state for state in components}
    status = _status(_verdict(problems), previous, generation=graph.generation, now=now)
    services = {
        service.key: copied(state.replicas)
        for service in graph.services
        if (state := by_service.get(service.key)) is not None and state.replicas is not None
    }
    if services:
        status["services"] = services
    if restart is not None:
        status["restart"] = _restart_tree(restart)
    return status


def status_of_rejected_graph(rejected: Rejected, *, previous: Tree, generation: int, now: str) -> Tree:
    """The status of a graph that validation refused; what was known of its services and its restart stays."""
    ready = _not_ready(conditions.VALIDATION_FAILED, f"Validation failed: {rejected}")
    return _kept(_Verdict(conditions.FAILED, ready), previous, generation=generation, now=now)


def status_of_failed_graph(
    error: str, *, previous: Tree, generation: int, now: str, reason: str = conditions.RECONCILE_FAILED
) -> Tree:
    """The status of a graph after an error; what was known of its services and its restart stays."""
    return _kept(_Verdict(conditions.FAILED, _not_ready(reason, error)), previous, generation=generation, now=now)


def status_of_waiting_graph(problem: str, *, previous: Tree, generation: int, now: str) -> Tree:
    """The status of a graph with which nothing can be done yet; what was known of it stays."""
    return _kept(_verdict([problem]), previous, generation=generation, now=now)


def _verdict(problems: Sequence[str]) -> _Verdict:
    if problems:
        message = f"Resources not ready: {'; '.join(problems)}"
        return _Verdict(conditions.PENDING, _not_ready(conditions.SOME_NOT_READY, message))
    ready = Condition(conditions.READY, met=True, reason=conditions.ALL_READY, message="All resources are ready")
    return _Verdict(conditions.SUCCESSFUL, ready)


def _not_ready(reason: str, message: str) -> Condition:
    return Condition(conditions.READY, met=False, reason=reason, message=message)


def _status(verdict: _Verdict, previous: Tree, *, generation: int, now: str) -> dict[str, Any]:
    before = trees_at(previous, "conditions")
    return {
        "state": verdict.state,
        "conditions": set_condition(before, verdict.ready, generation=generation, now=now),
    }


def _kept(verdict: _Verdict, previous: Tree, *, generation: int, now: str) -> Tree:
    kept = {name: previous[name] for name in ("services", "restart") if name in previous}
    return {**_status(verdict, previous, generation=generation, now=now), **copied(kept)}


def _restart_tree(restart: RestartStatus) -> dict[str, Any]:
    tree: dict[str, Any] = {"observedID": restart.observed_id, "phase": restart.phase}
    return {**tree, "inProgress": list(restart.in_progress)} if restart.in_progress else tree
