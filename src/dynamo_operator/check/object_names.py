"""What Kubernetes has against the names that a graph's services give to objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from dynamo_operator.api.naming import is_object_name
from dynamo_operator.domain.names import component_name
from dynamo_operator.domain.outcome import Violation

# The name is also the value of a label on every pod.
LIMIT: Final = 63


def object_name_violations(graph: str, services: Iterable[str]) -> Iterator[Violation]:
    """Keys of services that lead to objects which no API server takes; a graph without a name yet has none."""
    for key in services if graph else ():
        name, path = component_name(graph, key), f"spec.services[{key}]"
        if not is_object_name(name):
            text = f"its objects would be called {name!r}; use letters, digits and dashes for the key"
            yield Violation(f"{path}: {text}", path, "invalid_name")
        elif len(name) > LIMIT:
            text = f"the name of its objects, {name}, has {len(name)} characters, Kubernetes allows {LIMIT}"
            yield Violation(f"{path}: {text}; shorten the key or metadata.name", path, "name_too_long")
