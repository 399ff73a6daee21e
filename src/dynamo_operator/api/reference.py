"""The API reference for people, from the same types as the CRDs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, Literal, get_args, get_origin

import msgspec

from dynamo_operator.api.kinds import GROUP, KINDS, VERSION, Kind
from dynamo_operator.api.markers import Absent, CoreType, Doc, Fragment, Shaped
from dynamo_operator.api.schema import description_of, doc_of, fields_of, split

_TITLE: Final = f"""# API reference

All kinds belong to `{GROUP}/{VERSION}` and are namespaced. The same text is in `kubectl explain`, for example
`kubectl explain dgd.spec.services`. This page is generated from `src/dynamo_operator/api` by `tools/generate.py`.

Names in bold are required wherever their parent is given. Types of Kubernetes itself (`EnvVar`, `PodSpec` and others)
are those of Kubernetes 1.34.
"""

_SCALARS: Final[dict[object, str]] = {str: "string", bool: "boolean", int: "integer", float: "number"}
_LIMITS: Final = (
    ("minimum", "at least {}"),
    ("min_length", "at least {} characters"),
    ("max_length", "at most {} characters"),
    ("max_items", "at most {} entries"),
    ("max_properties", "at most {} entries"),
)


def reference_markdown() -> str:
    """The whole reference."""
    structs: dict[str, type[msgspec.Struct]] = {}
    for kind in KINDS:
        for struct in (kind.spec, kind.status):
            if struct is not None:
                _gather(struct, structs)
    index = "".join(f"- [{kind.name}](#{kind.singular}): {kind.description}\n" for kind in KINDS)
    kinds = "\n".join(_kind_section(kind) for kind in KINDS)
    types = "\n".join(_struct_section(structs[name]) for name in sorted(structs))
    return f"{_TITLE}\n{index}\n## Kinds\n\n{kinds}\n## Types\n\n{types}"


def _gather(struct: type[msgspec.Struct], known: dict[str, type[msgspec.Struct]]) -> None:
    """Add a Struct, and those that its fields lead to, by name."""
    if struct.__name__ not in known:
        known[struct.__name__] = struct
        for hint in fields_of(struct).values():
            for inner in _structs_in(hint):
                _gather(inner, known)


def _structs_in(hint: Any) -> Iterator[type[msgspec.Struct]]:
    bare, markers = split(hint)
    yield from (marker.struct for marker in markers if isinstance(marker, Shaped))
    for part in (bare, *get_args(bare)):
        inner = split(part)[0]
        if isinstance(inner, type) and issubclass(inner, msgspec.Struct):
            yield inner


def _kind_section(kind: Kind) -> str:
    names = ", ".join(f"`{name}`" for name in (kind.plural, *kind.short_names))
    members = [("spec", kind.spec)] if kind.status is None else [("spec", kind.spec), ("status", kind.status)]
    rows = "".join(f"| `{name}` | {_link(struct)} | {description_of(struct)} |\n" for name, struct in members)
    header = _table("Field | Type | Meaning")
    return f"### {kind.name}\n\n{kind.description}\n\nNames for `kubectl`: {names}.\n\n{header}{rows}"


def _struct_section(struct: type[msgspec.Struct]) -> str:
    rows = "".join(_row(name, hint) for name, hint in fields_of(struct).items())
    rules = "".join(f"\nRule: {rule.message}.\n" for rule in getattr(struct, "rules", ()))
    header = _table("Field | Type | Default | Meaning")
    return f"### {struct.__name__}\n\n{description_of(struct)}\n\n{header}{rows}{rules}"


def _table(titles: str) -> str:
    return f"| {titles} |\n|{'---|' * len(titles.split('|'))}\n"


def _row(name: str, hint: Any) -> str:
    doc = doc_of(hint)
    label = f"**`{name}`**" if doc.required else f"`{name}`"
    default = "" if doc.default is Absent.DEFAULT else f"`{json.dumps(doc.default)}`"
    return f"| {label} | {_type(hint)} | {default} | {doc.text}{_limits(doc)} |\n"


def _limits(doc: Doc) -> str:
    said = [text.format(value) for name, text in _LIMITS if (value := getattr(doc, name)) is not None]
    return f" ({', '.join(said)})" if said else ""


def _type(hint: Any) -> str:
    bare, markers = split(hint)
    for marker in reversed(markers):
        if isinstance(marker, Fragment):
            return marker.word
        if isinstance(marker, CoreType):
            return f"Kubernetes `{marker.name.rsplit('.', 1)[-1]}`"
        if isinstance(marker, Shaped):
            return _link(marker.struct)
    return _bare_type(bare)


def _bare_type(bare: Any) -> str:
    origin, args = get_origin(bare), get_args(bare)
    if origin is Literal:
        return ", ".join(f"`{choice}`" for choice in args)
    if origin is tuple:
        return f"list of {_type(args[0])}"
    if origin is dict:
        return f"map of {_type(args[1])}"
    return _SCALARS.get(bare) or _link(bare)


def _link(struct: type[msgspec.Struct]) -> str:
    return f"[{struct.__name__}](#{struct.__name__.lower()})"
