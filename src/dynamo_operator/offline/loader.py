"""YAML as Kubernetes reads it: what comes out is JSON, without dates and without numbers in base 60."""

from __future__ import annotations

import re
from typing import Any, cast

import yaml

from dynamo_operator.offline.extent import MOST_LEVELS

_TAG = "tag:yaml.org,2002:"
_REPLACED = {f"{_TAG}timestamp", f"{_TAG}int", f"{_TAG}float"}
# More than any number in a manifest has; Python writes out only some thousand digits.
_BITS = 1024
_INTEGER = re.compile(r"[-+]?(?:0b[01_]+|0[0-7_]+|0x[0-9a-fA-F_]+|0|[1-9][0-9_]*)$")
_FLOAT = re.compile(
    r"[-+]?(?:(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?|[0-9][0-9_]*[eE][-+]?[0-9]+)$"
)


class Loader(yaml.CSafeLoader):
    """The C loader with Kubernetes' idea of scalars; it refuses what is nested too deep for the stack."""

    level = 0

    def descend_resolver(self, current_node: Any, current_index: Any) -> None:
        """Called before each node is read."""
        self.level += 1
        if self.level > MOST_LEVELS:
            mark = getattr(current_node, "start_mark", None)
            raise yaml.constructor.ConstructorError(None, None, f"nested more than {MOST_LEVELS} levels deep", mark)
        cast("Any", super()).descend_resolver(current_node, current_index)

    def ascend_resolver(self) -> None:
        """Called after each node is read."""
        self.level -= 1
        super().ascend_resolver()

    def construct_object(self, node: Any, deep: Any = False) -> Any:
        """A node's value; one that its tag does not fit, or a number beyond all bounds, is refused with its line."""
        try:
            value = cast("Any", super()).construct_object(node, deep)
            usable = not isinstance(value, int) or value.bit_length() <= _BITS
        except (ValueError, KeyError, AttributeError, TypeError):
            value, usable = None, False
        if not usable:
            what = str(node.tag).rpartition(":")[2]
            raise yaml.constructor.ConstructorError(None, None, f"this is no usable {what}", node.start_mark)
        return value


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
    if isinstance(value, set):
        return {_key(key): None for key in sorted(cast("set[object]", value), key=_key)}
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _key(key: object) -> str:
    """A map key as text, booleans in JSON's words."""
    return str(key).lower() if isinstance(key, bool) else str(key)
