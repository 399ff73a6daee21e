"""What Grove has against the names of a graph and its services (specification: grove.md 3.1 and 6.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from dynamo_operator.api.v1alpha1.component import ComponentSpec
from dynamo_operator.check.component import node_count
from dynamo_operator.domain.names import leader_clique_name, worker_clique_name
from dynamo_operator.domain.outcome import Violation

# Grove's limit for all names that become part of a pod's name, without separators.
LIMIT: Final = 45
# Grove calls its own headless Service GRAPH-0, as a service of that key would be called.
RESERVED: Final = "0"


def clique_name_violations(graph: str, services: Mapping[str, ComponentSpec]) -> Iterator[Violation]:
    """Names with which Grove would refuse the graph, or never get it to run."""
    seen: dict[str, str] = {}
    for key, spec in services.items():
        path = f"spec.services[{key}]"
        length = _length(graph, key, spec)
        if length > LIMIT:
            text = f"the names that make up its pods' names have {length} characters, Grove allows {LIMIT}"
            yield Violation(f"{path}: {text}; shorten the key or metadata.name", path, "name_too_long")
        if key == RESERVED:
            text = f"its Service would have the name of Grove's own, {graph}-{RESERVED}; rename it"
            yield Violation(f"{path}: {text}", path, "reserved_name")
        if key.lower() in seen:
            text = f"differs only in case from {seen[key.lower()]}, which makes one PodClique of both; rename it"
            yield Violation(f"{path}: {text}", path, "duplicate_name")
        seen.setdefault(key.lower(), key)
    yield from _role_violations(services)


def _role_violations(services: Mapping[str, ComponentSpec]) -> Iterator[Violation]:
    """Keys that are what a service on several nodes calls its leaders or workers."""
    roles = {
        name: key
        for key, spec in services.items()
        if node_count(spec) > 1
        for name in (leader_clique_name(key), worker_clique_name(key))
    }
    for key, spec in services.items():
        if node_count(spec) <= 1 and key.lower() in roles:
            path = f"spec.services[{key}]"
            text = f"is what the service {roles[key.lower()]} on several nodes calls one of its PodCliques; rename it"
            yield Violation(f"{path}: {text}", path, "duplicate_name")


def clique_name_warnings(services: Mapping[str, ComponentSpec]) -> list[str]:
    """Keys that end in another one: Grove finds the template of a PodClique by the end of its name."""
    return [
        f"spec.services[{key}]: ends in the name of the service {other}; Grove may take one for the other and never "
        "call the graph updated, rename one of them"
        for key in services
        for other in services
        if key != other and key.lower().endswith(other.lower())
    ]


def _length(graph: str, key: str, spec: ComponentSpec) -> int:
    group = len(key) + len(leader_clique_name(key)) if node_count(spec) > 1 else len(key)
    return len(graph) + group
