"""Which changes are worth another look; our own writes are not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from dynamo_operator.controllers.cluster import Cluster
from dynamo_operator.runtime.informer import Change
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.views import Body


def intent_moved(change: Change[Body], steering: Sequence[str], finalizer: str) -> bool:
    """The user's wish changed: spec, a steering annotation, deletion, or our finalizer is on the object."""
    old, new = change.old, change.new
    if old is None or new is None:
        return True
    before, after = old.metadata, new.metadata
    return (
        before.generation != after.generation
        or before.uid != after.uid
        or before.deleting != after.deleting
        or before.labels != after.labels
        or (finalizer in after.finalizers) != (finalizer in before.finalizers)
        or any(before.annotations.get(key) != after.annotations.get(key) for key in steering)
    )


def child_moved(
    cluster: Cluster, parent: Resource, owner: Callable[[Change[Body]], Iterable[Key]], *, status: bool
) -> Callable[[Change[Body]], Iterable[Key]]:
    """Mapper for children: wake the owner when a child vanishes, drifted, or (``status``) its status changed.

    An object that is nobody's child may have had the name of one: whoever of kind ``parent`` waits for it is woken.
    """

    def mapper(change: Change[Body]) -> Iterable[Key]:
        # Most objects of a shared kind are nobody's child: that is cheaper to see than a drift.
        owners = tuple(owner(change))
        if not owners:
            return () if change.new is not None else cluster.waiting_for(change, parent)
        old, new = change.old, change.new
        drifted = new is None or not cluster.applier.settled(change.resource, new)
        told = status and (old is None or new is None or bytes(old.status) != bytes(new.status))
        leaving = old is not None and new is not None and old.metadata.deleting != new.metadata.deleting
        return owners if drifted or told or leaving else ()

    return mapper
