"""Which services of a graph restart now, and how far a restart has come (specification: workloads.md 3.9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dynamo_operator.domain.graph import (
    RESTART_COMPLETED,
    RESTART_FAILED,
    RESTART_PENDING,
    RESTARTING,
    ComponentState,
    Graph,
    Restart,
    RestartState,
    RestartStatus,
)

Components = Mapping[str, ComponentState]
"""What exists, by service key."""

_FINISHED = frozenset({RESTART_COMPLETED, RESTART_FAILED})


def next_restart_status(graph: Graph, previous: RestartStatus | None, components: Components) -> RestartStatus | None:
    """The restart status that follows from what is asked for, what was recorded and what exists (step A)."""
    asked = graph.restart
    if asked is None or not asked.id:
        return previous if previous is not None and previous.phase in _FINISHED else None
    if previous is None or previous.observed_id != asked.id:
        previous = RestartStatus()
    elif previous.phase in _FINISHED:
        return previous
    if asked.parallel:
        return _next_parallel(graph, asked, previous, components)
    return _next_sequential(graph, asked, previous, components)


def _next_parallel(graph: Graph, asked: Restart, previous: RestartStatus, components: Components) -> RestartStatus:
    keys = [service.key for service in graph.services]
    checked = previous.in_progress or keys
    # A service that has left the graph never becomes ready again; waiting for it would block the restart for ever.
    left = tuple(key for key in checked if key in keys and not _restarted(asked, key, components))
    return _restarting(asked.id, left)


def _next_sequential(graph: Graph, asked: Restart, previous: RestartStatus, components: Components) -> RestartStatus:
    order = _order(graph)
    if not previous.in_progress:
        return _restarting(asked.id, order[:1])
    current = previous.in_progress[0]
    if current not in order:
        # The service vanished, and its place in the order with it: go on with the first that was not reached.
        waiting = [key for key in order if key not in components or components[key].restart_id != asked.id]
        return _restarting(asked.id, waiting[:1])
    if not _restarted(asked, current, components):
        return _restarting(asked.id, [current])
    following = order.index(current) + 1
    return _restarting(asked.id, order[following : following + 1])


def _restarting(restart_id: str, services: Sequence[str]) -> RestartStatus:
    phase = RESTARTING if services else RESTART_COMPLETED
    return RestartStatus(observed_id=restart_id, phase=phase, in_progress=tuple(services))


def _order(graph: Graph) -> tuple[str, ...]:
    keys = tuple(service.key for service in graph.services)
    return (graph.restart.order if graph.restart else ()) or keys


def _restarted(asked: Restart, service: str, components: Components) -> bool:
    """A service that has not been told of the restart still shows its pods of before."""
    state = components.get(service)
    return state is not None and state.restart_id == asked.id and state.observed and state.available


def restart_state(graph: Graph, status: RestartStatus | None, components: Components) -> RestartState:
    """Which services carry which restart id, and what the others carry already (steps B and C)."""
    existing = {key: state.restart_id for key, state in components.items() if state.restart_id}
    if status is None or not status.observed_id:
        return RestartState(existing=existing)
    return RestartState(id=status.observed_id, services=frozenset(_reached(graph, status)), existing=existing)


def _reached(graph: Graph, status: RestartStatus) -> Sequence[str]:
    order = _order(graph)
    if status.phase == RESTART_COMPLETED or graph.restart is None or not graph.restart.id or graph.restart.parallel:
        return order
    places = [order.index(key) for key in status.in_progress if key in order]
    if status.phase == RESTART_PENDING or not places:
        return order[:1]
    return order[: max(places) + 1]
