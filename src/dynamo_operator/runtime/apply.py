"""Make the cluster say what we want, with as few requests as possible (specification: workloads.md 4).

One server-side apply per object that differs; none for an object that is as we left it, also after a restart.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar, cast
from weakref import WeakValueDictionary

import msgspec

from dynamo_operator.runtime.adoption import adopted_managed_fields
from dynamo_operator.runtime.client import Client
from dynamo_operator.runtime.comparison import merge_patch
from dynamo_operator.runtime.errors import AlreadyExists, Conflict, Invalid, NotFound
from dynamo_operator.runtime.informer import Informer
from dynamo_operator.runtime.owner import CONTROLLER_UID
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.store import Change
from dynamo_operator.runtime.views import Body, OwnerReference
from dynamo_operator.runtime.wanted import (
    Action,
    Applied,
    Foreign,
    Stamped,
    Wanted,
    check_not_foreign,
    counts_annotations,
    fingerprint,
    of_another_operator,
    satisfies,
    stamp,
    without_annotations,
)

__all__ = ["Action", "Applied", "Applier", "Foreign", "OnAction", "Wanted"]

OnAction = Callable[[Wanted, Action], None]
"""Told of every object that was created or updated, not of those left alone."""

_ADOPTION_TRIES: Final = 5

R = TypeVar("R")


@dataclass(slots=True)
class _Record:
    """What an object was like when it last did what was wanted."""

    hash: str
    live: Body
    fingerprint: bytes


class _ManagedMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    managed_fields: list[dict[str, Any]] = []


class _Managed(msgspec.Struct):
    metadata: _ManagedMeta = msgspec.field(default_factory=_ManagedMeta)


class Applier:
    """Applies, prunes and releases objects; the informers are its picture of the cluster.

    Informers of kinds that are pruned need the index ``owner.CONTROLLER_UID``. A kind without informer is read
    before each write.
    """

    def __init__(
        self,
        client: Client,
        informers: Mapping[Resource, Informer[Any]],
        *,
        field_manager: str,
        hash_annotation: str,
        concurrency: int = 32,
    ) -> None:
        self._client = client
        self._informers = informers
        self._field_manager = field_manager
        self._hash_annotation = hash_annotation
        self._slots = asyncio.Semaphore(concurrency)
        self._busy = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._records: dict[tuple[Resource, Key], dict[str, _Record]] = {}
        self._locks: WeakValueDictionary[tuple[Resource, Key], asyncio.Lock] = WeakValueDictionary()
        for informer in informers.values():
            informer.subscribe(self._forget_vanished)

    async def apply_each(
        self, owner: OwnerReference | None, wanted: Sequence[Wanted], *, on_action: OnAction | None = None
    ) -> list[Applied | BaseException]:
        """Bring all wanted objects about, concurrently; the outcomes in the same order.

        A failure stops no other object. Errors stand in the places of the objects that could not be brought about: an
        ApiError, or Foreign for a name that somebody else holds.
        """
        stamps = [stamp(each, owner, hash_annotation=self._hash_annotation) for each in wanted]
        outcomes: list[Applied | BaseException | None] = [self._unchanged(each) for each in stamps]
        open_ones = [place for place, outcome in enumerate(outcomes) if outcome is None]
        work = [partial(self._apply_one, stamps[place], on_action) for place in open_ones]
        for place, outcome in zip(open_ones, await self._all_of(work), strict=True):
            outcomes[place] = outcome
        return cast("list[Applied | BaseException]", outcomes)

    def settled(self, resource: Resource, body: Body) -> bool:
        """Whether an object is as it was when it last did what is wanted, so that nobody need look at it."""
        records = self._records.get((resource, body.metadata.key))
        if not records:
            return False
        # Each owner of a shared object has a record, the newest comes last; the owners before see another object.
        last = next(reversed(records.values()))
        return last.live is body or last.fingerprint == fingerprint(body)

    async def prune(
        self, owner_uid: str, resources: Sequence[Resource], keep: set[tuple[Resource, Key]]
    ) -> list[tuple[Resource, Key]]:
        """Delete what the owner controls and nobody wants any more; what was deleted.

        An object that was replaced by another of the same name meanwhile is left alone.
        """
        doomed = [
            (resource, body)
            for resource in resources
            for body in cast("list[Body]", self._informers[resource].by(CONTROLLER_UID, owner_uid))
            if (resource, body.metadata.key) not in keep and not body.metadata.deleting
        ]
        deleted = _results(await self._all_of([partial(self._delete, resource, body) for resource, body in doomed]))
        return [(resource, body.metadata.key) for (resource, body), gone in zip(doomed, deleted, strict=True) if gone]

    async def release_shared(self, resource: Resource, key: Key, owner_uid: str) -> None:
        """Take one owner off a shared object, and delete the object when that was the last."""
        # Another owner may be putting itself on the object right now.
        async with self._lock(resource, key):
            await self._release_alone(resource, key, owner_uid)

    async def _release_alone(self, resource: Resource, key: Key, owner_uid: str) -> None:
        live = await self._live(resource, key)
        if live is None or owner_uid not in {each.uid for each in live.metadata.owner_references}:
            return
        self._records.pop((resource, key), None)
        if all(each.uid == owner_uid for each in live.metadata.owner_references):
            await self._delete(resource, live)
            return
        nothing = {
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "metadata": {"name": key.name} | ({"namespace": key.namespace} if resource.namespaced else {}),
        }
        manager = self._manager_of(owner_uid)
        # An adopted object names its owner in the former operator's entry, which therefore becomes ours first.
        await self._adopt(resource, key, manager, annotations=True)
        self._observe(resource, await self._client.apply(resource, key, nothing, field_manager=manager))

    async def write_status(
        self, resource: Resource, key: Key, current: Mapping[str, Any] | None, wanted: Mapping[str, Any]
    ) -> Any | None:
        """Send the difference between two statuses; the object as its informer sees it, None when nothing differs."""
        patch = merge_patch(current or {}, wanted)
        if patch is None:
            return None
        answer = await self._client.merge_patch(
            resource, key, {"status": patch}, field_manager=self._field_manager, subresource="status"
        )
        return self._observe(resource, answer)

    def _unchanged(self, stamped: Stamped) -> Applied | None:
        """The outcome for an object that is as it was when it last did what is wanted; this path must stay cheap."""
        record = self._record_of(stamped)
        if record is None or record.hash != stamped.hash:
            return None
        informer = self._informers.get(stamped.wanted.resource)
        live = cast("Body | None", informer.get(stamped.key)) if informer is not None else None
        if live is None:
            return None
        if live is not record.live:
            if fingerprint(live) != record.fingerprint:
                return None
            record.live = live
        return Applied(stamped.wanted, live, "unchanged")

    async def _apply_one(self, stamped: Stamped, on_action: OnAction | None) -> Applied:
        # Two parents that want the same name must see each other's object, not both find none.
        async with self._lock(stamped.wanted.resource, stamped.key):
            return await self._apply_alone(stamped, on_action)

    def _lock(self, resource: Resource, key: Key) -> asyncio.Lock:
        """What keeps two parents from changing one object at the same time; it lives as long as somebody uses it."""
        return self._locks.setdefault((resource, key), asyncio.Lock())

    @property
    def under_way(self) -> int:
        """How many calls are applying something now."""
        return self._busy

    async def idle(self, seconds: float) -> None:
        """Wait until no object is being applied, for so many seconds at most."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._idle.wait()

    async def _apply_alone(self, stamped: Stamped, on_action: OnAction | None) -> Applied:
        live = await self._live(stamped.wanted.resource, stamped.key)
        if stamped.wanted.create_only:
            body = live or await self._create(stamped)
            action: Action = "unchanged" if live is not None else "created"
        else:
            body = await self._converge(stamped, live)
            action = _action(live, body)
        if on_action is not None and action != "unchanged":
            on_action(stamped.wanted, action)
        return Applied(stamped.wanted, body, action)

    async def _create(self, stamped: Stamped) -> Body:
        resource, key = stamped.wanted.resource, stamped.key
        made = None if stamped.wanted.create_only else partial(self._record, stamped)
        try:
            answer = await self._client.create(
                resource, key.namespace, stamped.first, field_manager=self._field_manager
            )
        except AlreadyExists:
            answer, made = await self._client.get(resource, key), None
        return self._observe(resource, answer, before=made)

    async def _converge(self, stamped: Stamped, live: Body | None) -> Body:
        resource, key = stamped.wanted.resource, stamped.key
        if live is None and (stamped.wanted.initial or self._sees_only_some(resource)):
            live = await self._create(stamped)
        if live is None:
            try:
                # Without force: should the object exist after all, it may be somebody else's.
                return await self._send(stamped, force=False)
            except Conflict:
                live = cast("Body", self._observe(resource, await self._client.get(resource, key)))
        check_not_foreign(live, stamped, hash_annotation=self._hash_annotation)
        # To take over the fields of an object that belongs to others in part would be to remove what is theirs.
        if of_another_operator(live, self._hash_annotation) and not stamped.wanted.initial:
            return await self._take_over(stamped, live)
        if live.metadata.annotations.get(self._hash_annotation) == stamped.hash and satisfies(live, stamped):
            self._record(stamped, live)
            return live
        return await self._replace(stamped, live)

    async def _take_over(self, stamped: Stamped, live: Body) -> Body:
        """Make an object of a former operator ours.

        A Deployment that is as wanted keeps its annotations, the former hash among them: they do no harm, and to
        change them is to change its generation. So they stay until something else of it changes.
        """
        resource, manager = stamped.wanted.resource, self._manager(stamped)
        quiet = without_annotations(stamped)
        if not counts_annotations(resource) or not satisfies(live, quiet) or self._changed_since(stamped, live):
            await self._adopt(resource, stamped.key, manager, annotations=True)
            return await self._replace(stamped, live)
        if live.metadata.applied_by(manager):
            self._record(stamped, live)
            return live
        await self._adopt(resource, stamped.key, manager, annotations=False)
        return await self._send(quiet, force=True)

    def _changed_since(self, stamped: Stamped, live: Body) -> bool:
        """Whether something else is wanted than when we took the object over; what went away shows nowhere else."""
        record = self._record_of(stamped)
        if record is not None:
            return record.hash != stamped.hash
        return stamped.wanted.renewed and live.metadata.applied_by(self._manager(stamped))

    def _sees_only_some(self, resource: Resource) -> bool:
        """Whether an object may exist though its informer knows none: to apply would be to merge with a stranger's."""
        informer = self._informers.get(resource)
        return informer is not None and informer.selective

    async def _replace(self, stamped: Stamped, live: Body) -> Body:
        manager = self._manager(stamped)
        if self._sees_only_some(stamped.wanted.resource) and not live.metadata.applied_by(manager):
            # Made by a plain create, which holds fields apart from what is applied.
            await self._adopt(stamped.wanted.resource, stamped.key, manager, annotations=True)
        try:
            return await self._send(stamped, force=True)
        except Invalid:
            if not stamped.wanted.recreate:
                raise
            await self._delete(stamped.wanted.resource, live)
            return await self._send(stamped, force=True)

    async def _send(self, stamped: Stamped, *, force: bool) -> Body:
        resource = stamped.wanted.resource
        answer = await self._client.apply(
            resource, stamped.key, stamped.manifest, field_manager=self._manager(stamped), force=force
        )
        # Recorded before any listener hears of it: our own write is no news to the controller that made it.
        return self._observe(resource, answer, before=partial(self._record, stamped))

    def _record(self, stamped: Stamped, body: Body) -> None:
        records = self._records.setdefault((stamped.wanted.resource, stamped.key), {})
        owners = {each.uid for each in body.metadata.owner_references}
        for gone in records.keys() - owners:
            del records[gone]
        records.pop(_owner_uid(stamped), None)
        records[_owner_uid(stamped)] = _Record(stamped.hash, body, fingerprint(body))

    async def _adopt(self, resource: Resource, key: Key, manager: str, *, annotations: bool) -> None:
        """Make the field ownership of a former operator ours, where there was one."""
        for tries_left in reversed(range(_ADOPTION_TRIES)):
            meta = msgspec.json.decode(await self._client.get(resource, key), type=_Managed).metadata
            adopted = adopted_managed_fields(
                meta.managed_fields, manager, self._hash_annotation, annotations=annotations
            )
            if adopted is None:
                return
            operations = [
                {"op": "replace", "path": "/metadata/managedFields", "value": adopted},
                # A replaced version is a precondition: the API server answers 409 when it is not the newest.
                {"op": "replace", "path": "/metadata/resourceVersion", "value": meta.resource_version},
            ]
            try:
                answer = await self._client.json_patch(resource, key, operations, field_manager=manager)
            except Conflict:
                if not tries_left:
                    raise
                continue
            self._observe(resource, answer)
            return

    async def _delete(self, resource: Resource, body: Body) -> bool:
        meta = body.metadata
        try:
            await self._client.delete(resource, meta.key, uid=meta.uid)
        except (Conflict, NotFound):
            return False
        self._records.pop((resource, meta.key), None)
        informer = self._informers.get(resource)
        if informer is not None:
            informer.forget(meta.key, meta.uid)
        return True

    async def _live(self, resource: Resource, key: Key) -> Body | None:
        informer = self._informers.get(resource)
        if informer is not None:
            return cast("Body | None", informer.get(key))
        try:
            return msgspec.json.decode(await self._client.get(resource, key), type=Body)
        except NotFound:
            return None

    def _observe(self, resource: Resource, answer: bytes, *, before: Callable[[Body], None] | None = None) -> Any:
        informer = self._informers.get(resource)
        if informer is not None:
            return informer.observe(answer, before=before)
        body = msgspec.json.decode(answer, type=Body)
        if before is not None:
            before(body)
        return body

    def _record_of(self, stamped: Stamped) -> _Record | None:
        records = self._records.get((stamped.wanted.resource, stamped.key))
        return None if records is None else records.get(_owner_uid(stamped))

    def _forget_vanished(self, change: Change[Any]) -> None:
        if change.new is None:
            self._records.pop((change.resource, change.key), None)

    def _manager(self, stamped: Stamped) -> str:
        shared = stamped.wanted.shared and stamped.owner is not None
        return self._manager_of(_owner_uid(stamped)) if shared else self._field_manager

    def _manager_of(self, owner_uid: str) -> str:
        return f"{self._field_manager}-{owner_uid}"

    async def _all_of(self, work: Sequence[Callable[[], Awaitable[R]]]) -> list[R | BaseException]:
        """Do all the work, some of it at a time; errors are outcomes."""

        async def one(piece: Callable[[], Awaitable[R]]) -> R:
            async with self._slots:
                return await piece()

        if not work:
            return []
        self._busy += 1
        self._idle.clear()
        try:
            return await asyncio.gather(*(one(piece) for piece in work), return_exceptions=True)
        finally:
            self._busy -= 1
            if not self._busy:
                self._idle.set()


def _owner_uid(stamped: Stamped) -> str:
    return "" if stamped.owner is None else stamped.owner.uid


def _action(before: Body | None, after: Body) -> Action:
    if before is None:
        return "created"
    return "unchanged" if before.metadata.resource_version == after.metadata.resource_version else "updated"


def _results(outcomes: Sequence[R | BaseException | None]) -> list[R]:
    """All outcomes, or the first error among them raised."""
    error = next((outcome for outcome in outcomes if isinstance(outcome, BaseException)), None)
    if error is not None:
        raise error
    return cast("list[R]", outcomes)
