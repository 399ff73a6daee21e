"""What is known of the objects of one kind: a map with indexes in which nothing ever goes back in time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Container, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.views import Viewed

T = TypeVar("T", bound=Viewed)

Index = Callable[[T], Iterable[Hashable]]

# Late answers belong to requests that are under way, and those are far fewer.
_GRAVES = 4096


@dataclass(frozen=True, slots=True)
class Change(Generic[T]):
    """One step of one object: ``old`` None when it appeared, ``new`` None when it vanished."""

    resource: Resource
    key: Key
    old: T | None
    new: T | None


@dataclass(frozen=True, slots=True)
class _Grave:
    """Which object is gone, the newest version known of it, and whether the server said so in a watch or list."""

    uid: str
    version: int
    final: bool


class Store(Generic[T]):
    """Objects by key and by named indexes; resource versions compare as integers.

    Watches, lists and answers to our own writes arrive in any order; an object enters only when it is newer than
    what is known, and an object that was removed does not come back from a late event or answer.
    """

    def __init__(self, resource: Resource, indexes: Mapping[str, Index[T]] | None = None) -> None:
        self._resource = resource
        self._indexes = dict(indexes or {})
        self._objects: dict[Key, T] = {}
        self._entries: dict[str, dict[Hashable, dict[Key, T]]] = {name: {} for name in self._indexes}
        self._graves: OrderedDict[Key, _Grave] = OrderedDict()

    def __len__(self) -> int:
        return len(self._objects)

    def get(self, key: Key) -> T | None:
        """The object of that key, or None."""
        return self._objects.get(key)

    def values(self) -> list[T]:
        """All objects."""
        return list(self._objects.values())

    def by(self, index: str, value: Hashable) -> list[T]:
        """The objects that the index function gave that value. Raises KeyError for an unknown index."""
        return list(self._entries[index].get(value, {}).values())

    def upsert(self, obj: T) -> Change[T] | None:
        """Take the object in when it is news, else None. Raises ValueError for a version that is no number."""
        key = obj.metadata.key
        old = self._objects.get(key)
        if old is not None and version_of(obj) <= version_of(old):
            return None
        if self._buried(key, obj):
            return None
        self._place(key, old, obj)
        self._graves.pop(key, None)
        return Change(self._resource, key, old, obj)

    def remove(self, key: Key, uid: str = "", *, version: int | None = None) -> Change[T] | None:
        """Drop the object with that uid (any, when empty); None when another or none is stored.

        ``version`` is that of a deletion seen in a watch. Without it this is a write-through of a deletion that we
        asked for: should finalizers hold the object, its next event brings it back, marked as being deleted.
        """
        old = self._objects.get(key)
        known = version_of(old) if old is not None else 0
        if old is not None and uid not in ("", old.metadata.uid) and known >= (version or 0):
            return None
        self._bury(key, _Grave(uid or (old.metadata.uid if old else ""), version or known, version is not None))
        if old is None:
            return None
        self._place(key, old, None)
        return Change(self._resource, key, old, None)

    def retain(self, seen: Container[Key], version: int) -> list[Change[T]]:
        """Drop what a list of that version did not show, except what is newer than the list."""
        vanished = [k for k, obj in self._objects.items() if k not in seen and version_of(obj) <= version]
        changes = (self.remove(key, version=version) for key in vanished)
        return [change for change in changes if change is not None]

    def clear(self) -> list[Change[T]]:
        """Forget everything, also what is gone; the disappearances."""
        gone = [Change(self._resource, key, obj, None) for key, obj in self._objects.items()]
        self._objects.clear()
        self._graves.clear()
        for entries in self._entries.values():
            entries.clear()
        return gone

    def _buried(self, key: Key, obj: T) -> bool:
        """Whether the object is an older state of one that is gone."""
        grave = self._graves.get(key)
        if grave is None:
            return False
        if version_of(obj) <= grave.version:
            return True
        return obj.metadata.uid == grave.uid and (grave.final or not obj.metadata.deleting)

    def _bury(self, key: Key, grave: _Grave) -> None:
        """Remember what is gone, for as long as late news of it may come; later knowledge wins."""
        before = self._graves.get(key)
        if before is not None and before.uid != grave.uid and before.version > grave.version:
            return
        self._graves[key] = grave
        self._graves.move_to_end(key)
        if len(self._graves) > _GRAVES:
            self._graves.popitem(last=False)

    def _place(self, key: Key, old: T | None, new: T | None) -> None:
        """Put ``new`` where ``old`` was, in all indexes; nothing changes when an index function raises."""
        entered = [] if new is None else self._marks(new)
        for name, value in [] if old is None else self._marks(old):
            _drop(self._entries[name], value, key)
        if new is None:
            self._objects.pop(key, None)
            return
        self._objects[key] = new
        for name, value in entered:
            self._entries[name].setdefault(value, {})[key] = new

    def _marks(self, obj: T) -> list[tuple[str, Hashable]]:
        """Every index and value under which the object is found."""
        return [(name, value) for name, index in self._indexes.items() for value in index(obj)]


def _drop(entries: dict[Hashable, dict[Key, T]], value: Hashable, key: Key) -> None:
    """Take the key out of one value's entries, and the value out when it has none left."""
    found = entries.get(value)
    if found is not None and found.pop(key, None) is not None and not found:
        del entries[value]


def version_of(obj: Viewed) -> int:
    """The resource version as a number; 0 when the object has none. Raises ValueError when it is no number."""
    return int(obj.metadata.resource_version or 0)
