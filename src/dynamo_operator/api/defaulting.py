"""What an API server makes of an object first: nulls dropped, defaults filled in (specification: api.md 2.4)."""

from __future__ import annotations

from copy import deepcopy
from datetime import date
from typing import Any, cast

from dynamo_operator.api.schema import Schema


def completed(schema: Schema, value: Any) -> Any:
    """The value as an API server would store it, the argument untouched.

    YAML's own types become what JSON has: dates and keys that are not text become text.
    """
    if isinstance(value, dict):
        return _completed_object(schema, cast("dict[Any, Any]", value))
    if isinstance(value, list):
        items: Schema = schema.get("items", {})
        return [completed(items, item) for item in cast("list[Any]", value)]
    return value.isoformat() if isinstance(value, date) else value


def _completed_object(schema: Schema, value: dict[Any, Any]) -> dict[str, Any]:
    properties: dict[str, Schema] = schema.get("properties", {})
    others: Schema = schema.get("additionalProperties", {})
    open_ended = bool(schema.get("x-kubernetes-preserve-unknown-fields"))
    result: dict[str, Any] = {}
    for key, member in ((_text(key), member) for key, member in value.items()):
        # A null that no schema speaks of is the user's own.
        if member is not None or (open_ended and key not in properties):
            result[key] = completed(properties.get(key, others), member)
    for name, member in properties.items():
        if "default" in member and name not in result:
            result[name] = completed(member, deepcopy(member["default"]))
    return result


def _text(key: object) -> str:
    return str(key).lower() if isinstance(key, bool) else str(key)
