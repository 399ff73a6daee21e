"""From a changed object to the keys of those who care: its controller, its owners."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from dynamo_operator.runtime.resource import Key
from dynamo_operator.runtime.store import Change
from dynamo_operator.runtime.views import OwnerReference, Viewed

Mapper = Callable[[Change[Any]], Iterable[Key]]
"""Tells which keys a change concerns."""

CONTROLLER_UID: Final = "controller-uid"
"""Name of the index that pruning reads; informers of children carry it with ``controller_uid``."""


def controller_uid(obj: Viewed) -> Iterable[str]:
    """Index function: the uid of the owner that controls the object."""
    controller = obj.metadata.controller
    return () if controller is None else (controller.uid,)


def controller_owner(kind: str, group: str) -> Mapper:
    """Mapper from a child to its controller of that kind, the former and the present one."""
    return _owners(kind, group, lambda reference: reference.controller)


def plain_owner(kind: str, group: str) -> Mapper:
    """Mapper from an object to all owners of that kind, controllers or not."""
    return _owners(kind, group, lambda _: True)


def is_of(reference: OwnerReference, kind: str, group: str) -> bool:
    """Whether a reference is to that kind, in any version of its group."""
    return reference.kind == kind and reference.api_version.rpartition("/")[0] == group


def _owners(kind: str, group: str, counts: Callable[[OwnerReference], bool]) -> Mapper:
    def mapper(change: Change[Any]) -> Iterable[Key]:
        # A child that changes hands concerns the one who lost it too.
        states = [state.metadata for state in (change.old, change.new) if state is not None]
        references = [reference for metadata in states for reference in metadata.owner_references]
        names = {each.name: None for each in references if is_of(each, kind, group) and counts(each)}
        return [Key(change.key.namespace, name) for name in names]

    return mapper
