"""What is wrong, or probably not meant, in a document: schema, rules and warnings, each with its line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from enum import Enum
from functools import reduce
from typing import Any, cast

from dynamo_operator.api.validate import validate_document
from dynamo_operator.check.component_deployment import (
    check_component,
    component_deployment_violations,
    component_deployment_warnings,
)
from dynamo_operator.check.graph_deployment import check_graph, graph_violations, graph_warnings
from dynamo_operator.domain.labels import GRAPH_NAME
from dynamo_operator.domain.manifest import Manifest, Tree
from dynamo_operator.domain.outcome import Doubt, Rejected, Violation
from dynamo_operator.domain.site import Site
from dynamo_operator.domain.source import Source
from dynamo_operator.offline.amounts import amount_violations
from dynamo_operator.offline.documents import Document, Flaw, segments
from dynamo_operator.offline.refusals import refusals
from dynamo_operator.offline.rendering import COMPONENT, GRAPH
from dynamo_operator.offline.repetitions import repetitions
from dynamo_operator.offline.sources import source_of
from dynamo_operator.render.several_nodes import component_doubts, graph_doubts


class Severity(Enum):
    """How bad a finding is."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """One message about one place; ``subject`` is kind/name, empty for a flaw of the file itself."""

    origin: str
    line: int
    subject: str
    path: str
    message: str
    severity: Severity = Severity.ERROR

    @property
    def text(self) -> str:
        """The message with its field path in front, unless it starts with it."""
        return self.message if not self.path or self.message.startswith(self.path) else f"{self.path}: {self.message}"


def find_all(documents: Sequence[Document], flaws: Iterable[Flaw], site: Site, *, namespace: str) -> list[Finding]:
    """Everything about all documents of ours, file by file in line order; other documents are passed over."""
    findings = [Finding(flaw.origin, flaw.line, "", flaw.path, flaw.message) for flaw in flaws]
    for document, again in zip(documents, repetitions(documents, namespace=namespace), strict=True):
        if again:
            findings.append(_finding(document, "metadata.name", again))
        if document.ours:
            findings += findings_of(document, site, namespace=namespace)
    order = {one.origin: index for index, one in reversed(list(enumerate(findings)))}
    return sorted(findings, key=lambda one: (order[one.origin], one.line))


def findings_of(document: Document, site: Site, *, namespace: str) -> list[Finding]:
    """Everything about one document: what its schema refuses, what our rules refuse, what is said in vain."""
    wrong = [(found.path, found.message) for found in validate_document(document.manifest)]
    paths = {path for path, _ in wrong}
    source = source_of(_sound_part(document.manifest, paths), namespace)
    rules = [(one.path, one.message) for one in _violations(document.kind, source, site) if one.path not in paths]
    amounts = [(one.path, one.message) for one in amount_violations(document.kind, source.spec)]
    errors = [_finding(document, path, message) for path, message in wrong + rules + amounts]
    return errors if wrong or rules else [*errors, *_further(document, source, site, errors)]


def _further(document: Document, source: Source, site: Site, errors: Sequence[Finding]) -> Iterator[Finding]:
    """What is said of a document that passed the checks, of the given errors in amounts apart."""
    told = [one.path for one in errors]
    doubts = [one for one in _doubts(document.kind, source, site) if one.path not in told]
    stops = [_finding(document, one.path, one.message) for one in doubts if one.stops]
    yield from stops
    yield from _refusals(document, source, site, [*told, *(one.path for one in stops)])
    for message in _warnings(document.kind, source, site):
        yield _finding(document, "", message, Severity.WARNING)
    for doubt in doubts:
        if not doubt.stops:
            yield _finding(document, doubt.path, doubt.message, Severity.WARNING)


def refusals_of(document: Document, site: Site, *, namespace: str) -> list[Finding]:
    """Why nothing is rendered for a document that fits its schema: everything that the operator has against it."""
    source = source_of(document.manifest, namespace)
    rules = [*_violations(document.kind, source, site), *amount_violations(document.kind, source.spec)]
    found = [_finding(document, one.path, one.message) for one in rules]
    return [*found, *_refusals(document, source, site, [one.path for one in found])]


def _refusals(document: Document, source: Source, site: Site, told: Iterable[str]) -> Iterator[Finding]:
    """What rendering refuses in those services, or in that component, of which nothing is told yet."""
    known = {_part(path) for path in told}
    try:
        found = refusals(document.kind, source, site)
    except Rejected:
        return  # the rules have said why
    yield from (_finding(document, one.path, one.message) for one in found if _part(one.path) not in known)


def _part(path: str) -> tuple[str, ...]:
    """What a field belongs to: one service, or the whole object."""
    keys = segments(path)
    return tuple(keys[:3]) if keys[:2] == ["spec", "services"] else ()


def _sound_part(manifest: Manifest, paths: Iterable[str]) -> Manifest:
    """A manifest without the members that its schema refuses, so that they do not hide what the rules refuse."""
    sound = deepcopy(manifest)
    for path in paths:
        *above, last = segments(path) or [""]
        holder = reduce(_member, above, cast("object", sound))
        if isinstance(holder, dict):
            cast("dict[str, Any]", holder).pop(last, None)
    return sound


def _member(holder: object, key: str) -> object:
    """The member of a map or a list, None when there is no such member."""
    if isinstance(holder, list):
        items = cast("list[object]", holder)
        return items[int(key)] if key.isdigit() and int(key) < len(items) else None
    return cast("dict[str, object]", holder).get(key) if isinstance(holder, dict) else None


def _violations(kind: str, source: Source, site: Site) -> Sequence[Violation]:
    """What the rules beyond the schema refuse."""
    if kind == GRAPH:
        return _graph_violations(source, site)
    return component_deployment_violations(source) if kind == COMPONENT else ()


def _graph_violations(source: Source, site: Site) -> Sequence[Violation]:
    """What the rules refuse in any part of a graph; admission stops at the first part, so each is asked alone too."""
    services: object = source.spec.get("services")
    parts: list[dict[str, Any]] = [
        dict(source.spec),
        _without(source.spec, "pvcs"),
        _without(source.spec, "pvcs", "restart"),
    ]
    if isinstance(services, dict):
        given = {key: spec for key, spec in cast("dict[str, object]", services).items() if spec is not None}
        parts += [{"services": {key: spec}} for key, spec in given.items()]
    found = [one for part in parts for one in graph_violations(replace(source, spec=part), site)]
    return list(dict.fromkeys(found))


def _without(spec: Tree, *members: str) -> dict[str, Any]:
    """A spec without some of its members."""
    return {key: value for key, value in spec.items() if key not in members}


def _warnings(kind: str, source: Source, site: Site) -> Sequence[str]:
    """What a valid object says in vain."""
    if kind == GRAPH:
        return graph_warnings(source, site)
    if kind != COMPONENT:
        return []
    # A component that was rendered for a graph has no owner yet, and all the same says what its graph made it say.
    return component_deployment_warnings(replace(source, graph=source.graph or source.labels.get(GRAPH_NAME, "")))


def _doubts(kind: str, source: Source, site: Site) -> Sequence[Doubt]:
    """What of a valid object cannot work."""
    if kind == GRAPH:
        return graph_doubts(check_graph(source, site), site)
    return component_doubts(check_component(source, site), site) if kind == COMPONENT else ()


def _finding(document: Document, path: str, message: str, severity: Severity = Severity.ERROR) -> Finding:
    """A finding at the line of its field; a message without a path often starts with one."""
    place = path or (message.split(" ", 1)[0].rstrip(":") if message.startswith(("spec", "metadata")) else "")
    subject = f"{document.kind or 'object'}/{_short(document.name)}" if document.name else document.kind
    return Finding(document.origin, document.line(place), subject, path or place, message, severity)


def _short(name: str) -> str:
    """A name, shortened where it is longer than any that Kubernetes takes."""
    return name if len(name) <= 253 else f"{name[:57]}..."
