"""Amounts of resources that are no quantities; the operator learns of them only when it makes pods."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final, cast

from dynamo_operator.domain.manifest import Tree
from dynamo_operator.domain.outcome import Violation
from dynamo_operator.domain.trees import tree_at
from dynamo_operator.offline.rendering import COMPONENT, GRAPH
from dynamo_operator.render.resources import quantity_fault

_SUCH: Final = {"cpu": "4 or 500m", "memory": "32Gi or 500M", "gpu": "8"}
_SUCH_OTHERS: Final = "8Gi, 500m or 2"


def amount_violations(kind: str, spec: Tree) -> list[Violation]:
    """Every text in the resources of a graph's services, or of a component, that is no quantity."""
    return [
        violation
        for path, part in _parts(kind, spec)
        for side in ("limits", "requests")
        for violation in _side_violations(tree_at(part, "resources", side), f"{path}.resources.{side}")
    ]


def _parts(kind: str, spec: Tree) -> Iterator[tuple[str, object]]:
    """Path and spec of everything that asks for resources."""
    if kind == COMPONENT:
        yield "spec", spec
    if kind == GRAPH:
        for key, part in tree_at(spec, "services").items():
            yield f"spec.services[{key}]", part


def _side_violations(amounts: Tree, path: str) -> Iterator[Violation]:
    # No pod gets requests.gpu, so it may be anything.
    names = ("cpu", "memory", "gpu") if path.endswith("limits") else ("cpu", "memory")
    given = {f"{path}.{name}": (amounts.get(name), _SUCH[name]) for name in names}
    custom = {f"{path}.custom[{name}]": (text, _SUCH_OTHERS) for name, text in tree_at(amounts, "custom").items()}
    for place, (text, such) in cast("dict[str, tuple[object, str]]", {**given, **custom}).items():
        if isinstance(text, str) and text and quantity_fault(text):
            yield Violation(f"must be a quantity such as {such}, not {_shown(text)}", place)


def _shown(text: str) -> str:
    """A text in a message: in quotes, shortened."""
    quoted = json.dumps(text, ensure_ascii=False)
    return quoted if len(quoted) <= 60 else f"{quoted[:57]}..."
