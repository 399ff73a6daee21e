"""How large a YAML document becomes once its aliases are written out: a few lines can stand for billions."""

from __future__ import annotations

from typing import Final, cast

import yaml

MOST_VALUES: Final = 1_000_000
MOST_LEVELS: Final = 100


def too_large(root: yaml.Node) -> str:
    """What is too much about a document, empty when nothing is; its nodes may be nested ``MOST_LEVELS`` deep."""
    values, levels = _extent(root, {})
    if values > MOST_VALUES:
        return f"stands for more than {MOST_VALUES} values once its aliases are written out; use fewer of them"
    if levels > MOST_LEVELS:
        return f"is nested more than {MOST_LEVELS} levels deep once its aliases are written out"
    return ""


def _extent(node: yaml.Node, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """Number of values in a node and of levels, itself among them; what an alias names was measured before it."""
    if id(node) in known:
        return known[id(node)]
    known[id(node)] = (1, 1)  # what contains itself is refused elsewhere
    parts = [_extent(part, known) for part in _parts(node)]
    known[id(node)] = (1 + sum(part[0] for part in parts), 1 + max((part[1] for part in parts), default=0))
    return known[id(node)]


def _parts(node: yaml.Node) -> list[yaml.Node]:
    """The items of a list, the keys and values of a map."""
    if isinstance(node, yaml.SequenceNode):
        return cast("list[yaml.Node]", node.value)
    if isinstance(node, yaml.MappingNode):
        return [part for pair in cast("list[tuple[yaml.Node, yaml.Node]]", node.value) for part in pair]
    return []
