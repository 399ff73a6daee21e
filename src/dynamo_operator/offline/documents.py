"""YAML documents with the line of every field, so that a message can say where to look."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

import yaml

from dynamo_operator.api.kinds import BY_NAME
from dynamo_operator.domain.labels import API_VERSION
from dynamo_operator.domain.manifest import Manifest
from dynamo_operator.offline.extent import too_large
from dynamo_operator.offline.loader import Loader, plain

_GROUP = API_VERSION.partition("/")[0]
_SEGMENT = re.compile(r"\[([^\]]*)\]|([^.\[\]]+)")


@dataclass(frozen=True, slots=True)
class Flaw:
    """Something wrong in a file before its content matters: broken YAML, a key given twice."""

    origin: str
    line: int
    message: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """One object of a file; ``origin`` is the file's name as the user gave it."""

    origin: str
    manifest: Manifest
    node: yaml.Node

    @property
    def kind(self) -> str:
        """The object's kind, empty when it says none."""
        return _text(self.manifest.get("kind"))

    @property
    def ours(self) -> bool:
        """True for the kinds that this operator serves, also where their group is missing or misspelt."""
        return _text(self.manifest.get("apiVersion")).partition("/")[0] == _GROUP or self.kind in BY_NAME

    @property
    def name(self) -> str:
        """``metadata.name``, empty when absent."""
        metadata: object = self.manifest.get("metadata")
        return _text(cast("Mapping[str, object]", metadata).get("name")) if isinstance(metadata, dict) else ""

    def line(self, path: str) -> int:
        """The line (from 1) of a field path such as ``spec.services[Worker].replicas``, or of what is there of it."""
        line, node = self.node.start_mark.line, self.node
        for segment in segments(path):
            found = _member(node, segment)
            if found is None:
                break
            line, node = found
        return line + 1


def segments(path: str) -> list[str]:
    """The keys and indices of a field path; keys with dots stand in brackets."""
    return [match[1] if match[1] is not None else match[2] for match in _SEGMENT.finditer(path)]


def parse_documents(text: str, origin: str) -> tuple[list[Document], list[Flaw]]:
    """The objects of a file in order, members of a List one by one, and what is wrong with the file itself."""
    documents: list[Document] = []
    flaws: list[Flaw] = []
    loader = Loader(text)
    try:
        while loader.check_node():
            node = cast("yaml.Node", loader.get_node())
            twice, endless = _oddities(node)
            flaws += [_duplicate(origin, *one) for one in twice]
            if endless is not None:
                flaws.append(Flaw(origin, endless + 1, "an alias contains itself"))
                continue
            if excess := too_large(node):
                flaws.append(Flaw(origin, node.start_mark.line + 1, excess))
                continue
            documents += _objects(origin, plain(loader, node), node, flaws)
    except yaml.MarkedYAMLError as error:
        flaws.append(_broken(origin, error))
    except yaml.reader.ReaderError as error:
        line = text.encode()[: error.position].count(b"\n") + 1
        flaws.append(Flaw(origin, line, f"not valid YAML: character #x{error.character:04x} is not allowed"))
    finally:
        loader.dispose()
    return documents, flaws


def _objects(origin: str, value: object, node: yaml.Node, flaws: list[Flaw]) -> Iterator[Document]:
    """The objects that one YAML document holds."""
    if value is None:
        return
    if not isinstance(value, dict):
        flaws.append(Flaw(origin, node.start_mark.line + 1, "a document must be a map with apiVersion and kind"))
        return
    manifest = cast("Manifest", value)
    items: object = manifest.get("items")
    if manifest.get("kind") != "List" or items is None:
        yield Document(origin, manifest, node)
        return
    if not isinstance(items, list):
        flaws.append(Flaw(origin, node.start_mark.line + 1, "must be a list", "items"))
        return
    nodes = cast("tuple[int, yaml.SequenceNode]", _member(node, "items"))[1].value
    for item, item_node in zip(cast("list[object]", items), cast("list[yaml.Node]", nodes), strict=True):
        if isinstance(item, dict):
            yield Document(origin, cast("Manifest", item), item_node)
        else:
            flaws.append(Flaw(origin, item_node.start_mark.line + 1, "an item of a List must be a map", "items"))


def _member(node: yaml.Node, segment: str) -> tuple[int, yaml.Node] | None:
    """Line (from 0) and value of a key or an index, None when there is no such member."""
    if isinstance(node, yaml.MappingNode):
        for key, value in reversed(cast("list[tuple[yaml.Node, yaml.Node]]", node.value)):
            if key.value == segment:
                return key.start_mark.line, value
    if isinstance(node, yaml.SequenceNode) and segment.isdigit() and int(segment) < len(node.value):
        value = cast("list[yaml.Node]", node.value)[int(segment)]
        return value.start_mark.line, value
    return None


def _oddities(root: yaml.Node) -> tuple[list[tuple[str, int, int]], int | None]:
    """Keys that a map holds twice (path and both lines), and the line of a node that contains itself; lines from 0."""
    twice: list[tuple[str, int, int]] = []
    finished: set[int] = set()
    ahead: list[tuple[str, yaml.Node, tuple[int, ...]]] = [("", root, ())]
    while ahead:
        path, node, above = ahead.pop()
        if id(node) in above:
            return twice, node.start_mark.line
        if id(node) in finished or isinstance(node, yaml.ScalarNode):
            continue
        finished.add(id(node))
        twice += _repeated_keys(path, node)
        ahead += [(member, value, (*above, id(node))) for member, value in _members(path, node)]
    return sorted(twice, key=lambda one: one[1]), None


def _members(path: str, node: yaml.Node) -> Iterator[tuple[str, yaml.Node]]:
    """Path and value of everything in a map or a list."""
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(cast("list[yaml.Node]", node.value)):
            yield f"{path}[{index}]", item
    if isinstance(node, yaml.MappingNode):
        for key, value in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
            yield _join(path, str(key.value)), value


def _repeated_keys(path: str, node: yaml.Node) -> Iterator[tuple[str, int, int]]:
    """The keys that stand more than once in one map."""
    seen: dict[str, int] = {}
    if isinstance(node, yaml.MappingNode):
        for key, _ in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
            name, line = str(key.value), key.start_mark.line
            if name in seen:
                yield _join(path, name), line, seen[name]
            seen.setdefault(name, line)


def _join(path: str, key: str) -> str:
    """A field path with one more key, in brackets where it holds a dot or a slash."""
    if "." in key or "/" in key:
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else key


def _duplicate(origin: str, path: str, line: int, first: int) -> Flaw:
    """The flaw of a key given twice."""
    return Flaw(origin, line + 1, f"is given twice, first in line {first + 1}; remove one", path)


def _broken(origin: str, error: yaml.MarkedYAMLError) -> Flaw:
    """The flaw of a file that is no YAML."""
    mark = error.problem_mark or error.context_mark
    said = ", ".join(part for part in (error.context, error.problem) if part)
    return Flaw(origin, mark.line + 1 if mark else 1, f"not valid YAML: {said}")


def _text(value: object) -> str:
    """A string member, empty when it is absent or of another type."""
    return value if isinstance(value, str) else ""
