"""Taking over objects from another program that stamped them with the same hash annotation.

Server-side apply removes a field only when no other manager owns it. Fields that the former operator wrote with plain
updates would therefore stay for ever; making its entry ours lets our next apply remove what we no longer want.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast


def adopted_managed_fields(
    managed_fields: Sequence[Mapping[str, Any]], field_manager: str, hash_annotation: str, *, annotations: bool = True
) -> list[dict[str, Any]] | None:
    """``metadata.managedFields`` with the entries of the former operator made ours; None when there is none.

    The former operator is whichever manager owns the hash annotation by an update of the main resource. Without
    ``annotations`` it keeps those: to change an annotation of a Deployment is to change its generation.
    """
    former = [entry for entry in managed_fields if _is_former_operator(entry, hash_annotation)]
    ours = [entry for entry in managed_fields if _is_ours(entry, field_manager)]
    moved = [_fields(entry) if annotations else _without_annotations(_fields(entry)) for entry in former]
    if not any(moved):
        return None
    # The newest entry speaks for all: it has the apiVersion and time, which an apply of ours refreshes anyway.
    entry = dict(former[-1]) | {"manager": field_manager, "operation": "Apply"}
    entry["fieldsV1"] = _union([*map(_fields, ours), *moved])
    rest = [dict(each) for each in managed_fields if not any(each is one for one in (*ours, *former))]
    left = [] if annotations else [dict(each) | {"fieldsV1": _only_annotations(_fields(each))} for each in former]
    return [*rest, *left, entry]


def _only_annotations(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"f:metadata": {"f:annotations": fields["f:metadata"]["f:annotations"]}}


def _without_annotations(fields: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {path: below for path, below in fields["f:metadata"].items() if path != "f:annotations"}
    rest = {path: below for path, below in fields.items() if path != "f:metadata"}
    return rest | {"f:metadata": metadata} if metadata else rest


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
