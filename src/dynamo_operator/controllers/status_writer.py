"""Writes statuses behind the reconciles: newest wins, rollouts are not narrated, specs go first.

A rollout moves counters many times a second; written each time, statuses would cost more than everything else. What
people and programs act on (the verdict) is written at once, counters when they have come to rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from dynamo_operator.controllers.cluster import Cluster, Parent
from dynamo_operator.controllers.sources import tree_of
from dynamo_operator.domain.manifest import Tree
from dynamo_operator.domain.trees import tree_at, trees_at
from dynamo_operator.runtime.controller import DONE, Result
from dynamo_operator.runtime.errors import NotFound
from dynamo_operator.runtime.queue import WorkQueue
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.status import conditions

# Seconds that counters must stand still before they are written: more for each status that waits, when each costs more,
# and much more while so many objects have their children made that the API server has no time to spare.
REST: Final = 1.5
REST_EACH: Final = 0.05
REST_EACH_AMID_WORK: Final = 0.2
MUCH_WORK: Final = 8
LONGEST_REST: Final = 20.0
# Seconds after which counters are written although they still move.
PATIENCE: Final = 30.0
# Seconds that a status lets writes of children go first.
COURTESY: Final = 0.5


class Note(NamedTuple):
    """An event to record once the status that it belongs to is written."""

    type: Literal["Normal", "Warning"]
    reason: str
    message: str


def warnings_of(status: Tree) -> tuple[Note, ...]:
    """The events that go with a status which says that something went wrong."""
    return tuple(
        Note("Warning", _WARNINGS[str(said["reason"])], str(said["message"]).removeprefix(_REPEATED))
        for said in trees_at(status, "conditions")
        if said["status"] == "False" and said["reason"] in _WARNINGS
    )


_WARNINGS: Final = {
    conditions.VALIDATION_FAILED: "ValidationFailed",
    conditions.RECONCILING: "ReconcileError",
    conditions.RECONCILE_FAILED: "ReconcileError",
    conditions.FINALIZER_FAILED: "ReconcileError",
}
_REPEATED: Final = "Validation failed: "


@dataclass(slots=True)
class _Pending:
    """A status that was worked out and is not written yet; times on the monotonic clock."""

    parent: Parent
    status: Tree
    notes: tuple[Note, ...]
    since: float
    changed: float


def verdict(status: Tree) -> tuple[Any, ...]:
    """What people and programs act on in a status: states, conditions, the restart; no messages, no counters."""
    said = sorted(
        tuple(str(condition.get(part)) for part in ("type", "status", "reason", "observedGeneration"))
        for condition in trees_at(status, "conditions")
    )
    return (status.get("state"), status.get("observedGeneration"), said, dict(tree_at(status, "restart")))


def has_news(pending: _Pending, stored: Tree) -> bool:
    """Whether a status is to be written at once: a first one that says nothing but "not yet" is not."""
    if stored:
        return verdict(stored) != verdict(pending.status)
    said = trees_at(pending.status, "conditions")
    return bool(pending.notes) or all(condition.get("status") == "True" for condition in said)


class StatusWriter:
    """Holds the statuses of one kind until they are written; its ``reconcile`` is run by a controller."""

    def __init__(self, cluster: Cluster, resource: Resource, queue: WorkQueue) -> None:
        self._cluster = cluster
        self._resource = resource
        self._queue = queue
        self._pending: dict[Key, _Pending] = {}
        self._on_the_way: set[Key] = set()

    def latest(self, parent: Parent, stored: Tree) -> Tree:
        """The status as it will be: what waits to be written, else what is stored."""
        pending = self._pending.get(parent.meta.key)
        return pending.status if pending is not None and pending.parent.meta.uid == parent.meta.uid else stored

    def submit(self, parent: Parent, status: Tree, *, stored: Tree, notes: tuple[Note, ...] = ()) -> None:
        """Have a status written, in place of one that still waits; nothing happens when it is stored already."""
        key, now = parent.meta.key, self._cluster.clock.monotonic()
        # A status that is on its way will be stored after all: what is stored now has to be written again.
        if status == stored and key not in self._on_the_way:
            self._pending.pop(key, None)
            return
        before = self._pending.get(key)
        if before is not None and before.status == status:
            before.parent = parent
            return
        since = before.since if before is not None else now
        self._pending[key] = _Pending(parent, status, notes, since, now)
        self._queue.add(key)

    def forget(self, key: Key) -> None:
        """The object is gone."""
        self._pending.pop(key, None)

    async def reconcile(self, key: Key) -> Result:
        """Write the status that waits for a key, or say when it is to be written."""
        pending = self._pending.get(key)
        stored = self._stored(key)
        if pending is None or stored is None:
            self._pending.pop(key, None)
            return DONE
        wait = self._wait(pending, stored)
        if wait > 0:
            return Result(requeue_after=wait)
        await self._cluster.applier.idle(COURTESY)
        stored = self._stored(key)
        if self._pending.get(key) is not pending or stored is None:
            return Result(requeue_after=0.0)  # the world moved on meanwhile
        await self._write(key, pending, stored)
        return DONE

    def _stored(self, key: Key) -> Mapping[str, Any] | None:
        """The stored status; None when what waits was worked out for another object or spec."""
        body, pending = self._cluster.informers[self._resource].get(key), self._pending.get(key)
        if body is None or pending is None:
            return None
        meta = pending.parent.meta
        same = (body.metadata.uid, body.metadata.generation) == (meta.uid, meta.generation)
        return tree_of(body, "status") if same else None

    def _wait(self, pending: _Pending, stored: Tree) -> float:
        if has_news(pending, stored):
            return 0.0
        each = REST_EACH_AMID_WORK if self._cluster.applier.under_way >= MUCH_WORK else REST_EACH
        rest = min(LONGEST_REST, REST + each * (len(self._pending) - 1))
        due = min(pending.since + PATIENCE, pending.changed + rest)
        return due - self._cluster.clock.monotonic()

    async def _write(self, key: Key, pending: _Pending, stored: Tree) -> None:
        self._on_the_way.add(key)
        try:
            await self._cluster.applier.write_status(self._resource, key, stored, pending.status)
        except NotFound:
            notes: tuple[Note, ...] = ()  # deleted meanwhile; its event is on the way
        else:
            notes = pending.notes
        finally:
            self._on_the_way.discard(key)
        if self._pending.get(key) is pending:
            del self._pending[key]
        for note in notes:
            self._cluster.event(pending.parent, note.type, note.reason, note.message)
