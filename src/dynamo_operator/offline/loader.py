"""YAML as Kubernetes reads it: what comes out is JSON, without dates and without numbers in base 60."""

from __future__ import annotations

import re
from typing import Any, cast

import yaml

_TAG = "tag:yaml.org,2002:"
_REPLACED = {f"{_TAG}timestamp", f"{_TAG}int", f"{_TAG}float"}
_INTEGER = re.compile(r"[-+]?(?:0b[01_]+|0[0-7_]+|0x[0-9a-fA-F_]+|0|[1-9][0-9_]*)$")
_FLOAT = re.compile(
    r"[-+]?(?:(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?|[0-9][0-9_]*[eE][-+]?[0-9]+)$"
)


class Loader(yaml.CSafeLoader):
    """The C loader with Kubernetes' idea of scalars."""


def _resolvers() -> dict[Any, Any]:
    """First character -> tag and pattern of the scalars that are no strings."""
    standard = cast("dict[str, list[tuple[str, Any]]]", yaml.CSafeLoader.yaml_implicit_resolvers)
    kept = {first: [one for one in rules if one[0] not in _REPLACED] for first, rules in standard.items()}
    for first in "-+.0123456789":
        kept.setdefault(first, []).extend([(f"{_TAG}int", _INTEGER), (f"{_TAG}float", _FLOAT)])
    return kept


Loader.yaml_implicit_resolvers = _resolvers()


def plain(loader: Loader, node: yaml.Node) -> object:
    """The JSON value of a node that does not contain itself; keys become strings as in Kubernetes' own reading."""
    build = cast("Any", loader)
    return _json(build.construct_document(node))


def _json(value: object) -> object:
    """The same with strings for keys and for everything that JSON does not have."""
    if isinstance(value, dict):
        return {_key(key): _json(member) for key, member in cast("dict[object, object]", value).items()}
    if isinstance(value, list):
        return [_json(member) for member in cast("list[object]", value)]
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _key(key: object) -> str:
    """A map key as text, booleans in JSON's words."""
    return str(key).lower() if isinstance(key, bool) else str(key)
