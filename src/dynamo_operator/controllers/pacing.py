"""Holds back status writes that only move counters, so that a rollout costs two writes and not ten."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dynamo_operator.domain.manifest import Tree
from dynamo_operator.runtime.resource import Key


def verdict(status: Tree) -> tuple[Any, ...]:
    """What people and programs act on in a status: states and conditions, without messages and counters."""
    conditions: list[Mapping[str, Any]] = list(status.get("conditions") or ())
    said = sorted((c.get("type"), c.get("status"), c.get("reason"), c.get("observedGeneration")) for c in conditions)
    restart: Mapping[str, Any] = status.get("restart") or {}
    return (
        status.get("state"),
        status.get("observedGeneration"),
        tuple(said),
        restart.get("phase"),
        restart.get("observedID"),
    )


class StatusPacer:
    """Says how long a status write may wait: not at all when the verdict moves, else up to ``lag`` seconds."""

    def __init__(self, monotonic: Callable[[], float], lag: float = 2.0) -> None:
        self._monotonic = monotonic
        self._lag = lag
        self._since: dict[Key, float] = {}

    def wait_for(self, key: Key, current: Tree, wanted: Tree) -> float:
        """Seconds to wait before ``wanted`` is written over ``current``; 0 means now."""
        if not current or verdict(current) != verdict(wanted):
            return 0.0
        now = self._monotonic()
        return max(0.0, self._since.setdefault(key, now) + self._lag - now)

    def written(self, key: Key) -> None:
        """The status of ``key`` is up to date."""
        self._since.pop(key, None)
