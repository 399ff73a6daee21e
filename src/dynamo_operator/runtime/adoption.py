"""Taking over objects from another program that stamped them with the same hash annotation.

Server-side apply removes a field only when no other manager owns it. Fields that the former operator wrote with plain
updates would therefore stay for ever; making its entry ours lets our next apply remove what we no longer want.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast


def adopted_managed_fields(
    managed_fields: Sequence[Mapping[str, Any]], field_manager: str, hash_annotation: str
) -> list[dict[str, Any]] | None:
    """``metadata.managedFields`` with the entries of the former operator made ours; None when there is none.

    The former operator is whichever manager owns the hash annotation by an update of the main resource.
    """
    former = [entry for entry in managed_fields if _is_former_operator(entry, hash_annotation)]
    if not former:
        return None
    ours = [entry for entry in managed_fields if _is_ours(entry, field_manager)]
    # The newest entry speaks for all: it has the apiVersion and time, which an apply of ours refreshes anyway.
    entry = dict(former[-1]) | {"manager": field_manager, "operation": "Apply"}
    entry["fieldsV1"] = _union([_fields(each) for each in (*ours, *former)])
    rest = [dict(each) for each in managed_fields if not any(each is one for one in (*ours, *former))]
    return [*rest, entry]


def _is_former_operator(entry: Mapping[str, Any], hash_annotation: str) -> bool:
    if entry.get("operation") != "Update" or entry.get("subresource"):
        return False
    fields: Any = _fields(entry)
    for step in ("f:metadata", "f:annotations"):
        fields = fields.get(step) or {}
    return f"f:{hash_annotation}" in fields


def _is_ours(entry: Mapping[str, Any], field_manager: str) -> bool:
    return entry.get("manager") == field_manager and entry.get("operation") == "Apply" and not entry.get("subresource")


def _fields(entry: Mapping[str, Any]) -> dict[str, Any]:
    return cast("dict[str, Any]", entry.get("fieldsV1") or {})


def _union(sets: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    union: dict[str, Any] = {}
    for fields in sets:
        for path, below in fields.items():
            union[path] = _union([union.get(path, {}), below])
    return union
