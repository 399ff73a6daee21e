"""Copying JSON trees, so that no rendering ever changes what it was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from dynamo_operator.domain.manifest import Tree


def copied(tree: Tree) -> dict[str, Any]:
    """A deep copy of an object in which members that are null are left out."""
    return {key: _copied_value(value) for key, value in tree.items() if value is not None}


def _copied_value(value: object) -> object:
    if isinstance(value, Mapping):
        return copied(cast("Tree", value))
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_copied_value(item) for item in cast("Sequence[object]", value)]
    return value


def tree_at(tree: object, *path: str) -> Tree:
    """The object at a path of member names; empty where anything on the way is absent or no object."""
    for key in path:
        tree = cast("Tree", tree).get(key) if isinstance(tree, Mapping) else None
    return cast("Tree", tree) if isinstance(tree, Mapping) else {}


def trees_at(tree: object, *path: str) -> tuple[Tree, ...]:
    """The objects of the list at a path of member names; empty where there is no list."""
    found = tree_at(tree, *path[:-1]).get(path[-1])
    items = cast("list[object]", found) if isinstance(found, list | tuple) else []
    return tuple(cast("Tree", item) for item in items if isinstance(item, Mapping))
