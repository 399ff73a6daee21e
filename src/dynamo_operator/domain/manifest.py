"""Plain manifests: JSON trees in which absent means absent, never null."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

Manifest = dict[str, Any]
"""A Kubernetes object as it is applied: apiVersion, kind, metadata and the rest."""

Tree = Mapping[str, Any]
"""A JSON object that is only read."""


class Upkeep(Enum):
    """What happens to a child after it was made."""

    APPLY = "apply"
    """It is kept as rendered: drift is repaired, what is no longer rendered is removed."""
    CREATE = "create"
    """It is made when it is missing and never touched again."""


@dataclass(frozen=True, slots=True)
class Child:
    """One object to have: its manifest without namespace defaults left open, and how it is kept.

    ``initial``: path of a member that is only written when the object is made, and belongs to others afterwards.
    ``owned``: the parent is its controller, so it goes with the parent and is pruned when no longer rendered.
    ``shared``: every parent that renders it is one of several plain owners (model Services).
    ``recreate``: when the API server refuses a change of an immutable field, delete it and make it anew (RoleBindings).
    """

    manifest: Manifest
    upkeep: Upkeep = Upkeep.APPLY
    initial: tuple[str, ...] = ()
    owned: bool = True
    shared: bool = False
    recreate: bool = False
