"""Lays what a user wrote over a default, with the rules of the Go operator's merge (workloads.md 6.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from dynamo_operator.domain.manifest import Manifest, Tree


def merge(default: Tree, override: Tree) -> Manifest:
    """The default with the override over it; neither is changed.

    Objects and maps merge key by key, lists are replaced, and what is zero (``""``, ``0``, ``false``, an empty list)
    changes nothing that the default has. Absent in the default: taken as it is.
    """
    merged = dict(default)
    for key, value in override.items():
        if value is not None:
            merged[key] = _winner(default[key], value) if key in default else value
    return merged


def _winner(default: object, override: object) -> object:
    if isinstance(default, Mapping) and isinstance(override, Mapping):
        return merge(cast("Tree", default), cast("Tree", override))
    # Only an int-or-string can meet the other type, and there the Go operator's name wins over the user's number.
    if isinstance(default, str) and isinstance(override, int):
        return default
    return cast("object", override or default)
