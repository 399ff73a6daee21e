"""API types to structural OpenAPI v3 schemas, everything inline (specification: api.md 2, 11)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from inspect import cleandoc
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, cast, get_args, get_origin, get_type_hints

import msgspec

from dynamo_operator.api.markers import Absent, CoreType, Doc, Fragment, Rule, Shaped

Schema = dict[str, Any]
"""A JSON schema, or part of one."""

_SCALARS: Final[Mapping[object, str]] = {str: "string", bool: "boolean", int: "integer", float: "number"}
_LIMITS: Final = {
    "minimum": "minimum",
    "min_length": "minLength",
    "max_length": "maxLength",
    "max_items": "maxItems",
    "max_properties": "maxProperties",
    "pattern": "pattern",
}


@cache
def core_types() -> Mapping[str, Schema]:
    """Schemas of the embedded Kubernetes types by name; they refer to each other by ``$ref``."""
    return json.loads(files("dynamo_operator.api").joinpath("core_types.json").read_text("utf-8"))["types"]


def core_schema(name: str) -> Schema:
    """Schema of a Kubernetes type with everything it refers to inline."""
    return _inlined(core_types()[name])


def _inlined(node: Any) -> Any:
    if isinstance(node, dict):
        tree = cast("Schema", node)
        if "$ref" in tree:
            return core_schema(tree["$ref"])
        return {key: _inlined(value) for key, value in tree.items()}
    if isinstance(node, list):
        return [_inlined(item) for item in cast("list[Any]", node)]
    return node


def split(hint: Any) -> tuple[Any, tuple[object, ...]]:
    """A type hint without None and Annotated, and the markers that it carried, outermost last."""
    origin = get_origin(hint)
    if origin is Annotated:
        inner, markers = split(get_args(hint)[0])
        return inner, (*markers, *hint.__metadata__)
    if origin in (Union, UnionType):
        members = [arg for arg in get_args(hint) if arg is not type(None)]
        if len(members) == 1:
            return split(members[0])
    return hint, ()


def schema_of(hint: Any) -> Schema:
    """Schema of a type hint; the markers in it decide where Python's type does not say enough."""
    bare, markers = split(hint)
    schema = _given(markers) or _derived(bare)
    for marker in markers:
        if isinstance(marker, Doc):
            schema |= _said(marker)
    return schema


def _given(markers: tuple[object, ...]) -> Schema | None:
    """The schema that a marker brings along, None when it follows from the Python type."""
    for marker in reversed(markers):
        if isinstance(marker, Fragment):
            return json.loads(json.dumps(marker.schema))
        if isinstance(marker, CoreType):
            return _embedded(marker)
        if isinstance(marker, Shaped):
            schema = struct_schema(marker.struct)
            return schema | {"x-kubernetes-preserve-unknown-fields": True} if marker.open else schema
    return None


def _embedded(marker: CoreType) -> Schema:
    schema = core_schema(marker.name)
    required = [name for name in schema.pop("required", []) if name not in marker.not_required]
    if required:
        schema["required"] = required
    for name, hint in (marker.extra or {}).items():
        schema["properties"][name] = schema_of(hint)
    return schema


def _derived(bare: Any) -> Schema:
    if bare in _SCALARS:
        return {"type": _SCALARS[bare]}
    origin, args = get_origin(bare), get_args(bare)
    if origin is Literal:
        return {"type": "string", "enum": list(args)}
    if origin is tuple:
        return {"type": "array", "items": schema_of(args[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(args[1])}
    if isinstance(bare, type) and issubclass(bare, msgspec.Struct):
        return struct_schema(bare)
    raise TypeError(f"no schema for {bare!r}: use a type that schema.py knows, or a Fragment")


def _said(doc: Doc) -> Schema:
    """What a field's own words add to the schema of its type."""
    schema: Schema = {"description": doc.text}
    if doc.default is not Absent.DEFAULT:
        schema["default"] = doc.default
    for attribute, keyword in _LIMITS.items():
        if (limit := getattr(doc, attribute)) is not None:
            schema[keyword] = limit
    return schema


def fields_of(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """Type hints of a Struct's fields by their JSON names, in the order in which they are written."""
    hints = get_type_hints(struct, include_extras=True)
    return {field.encode_name: hints[field.name] for field in msgspec.structs.fields(struct)}


def doc_of(hint: Any) -> Doc:
    """The words of a field; raises LookupError when it has none."""
    for marker in reversed(split(hint)[1]):
        if isinstance(marker, Doc):
            return marker
    raise LookupError(f"{hint!r} has no Doc: say what the field means")


def description_of(struct: type[msgspec.Struct]) -> str:
    """The docstring of a Struct as one line per paragraph."""
    paragraphs = cleandoc(struct.__doc__ or "").split("\n\n")
    return "\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def struct_schema(struct: type[msgspec.Struct]) -> Schema:
    """Schema of a Struct."""
    fields = fields_of(struct)
    schema: Schema = {
        "description": description_of(struct),
        "type": "object",
        "properties": {name: schema_of(hint) for name, hint in fields.items()},
    }
    if required := [name for name, hint in fields.items() if doc_of(hint).required]:
        schema["required"] = required
    rules: tuple[Rule, ...] = getattr(struct, "rules", ())
    if rules:
        schema["x-kubernetes-validations"] = [{"rule": rule.rule, "message": rule.message} for rule in rules]
    return schema
