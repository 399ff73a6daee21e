"""Which changes of a graph or a component admission refuses (specification: api.md 12.4 and 12.6, update rules)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from dynamo_operator.api.v1alpha1.component import ComponentSpec
from dynamo_operator.check.component import node_count
from dynamo_operator.check.graph_deployment import ParsedGraph, parse_graph
from dynamo_operator.domain.outcome import Rejected, Violation
from dynamo_operator.domain.source import Source

_FRAMEWORK: Final = "spec.backendFramework"
_TRUSTED: Final = ("-dynamo-operator-controller-manager", "planner-serviceaccount")
"""Ends of the names of service accounts that may scale a service behind its adapter's back."""


@dataclass(frozen=True, slots=True)
class UpdateVerdict:
    """What is wrong with a change (nothing: it is allowed), and what to warn of."""

    violations: tuple[Violation, ...] = ()
    warnings: tuple[str, ...] = ()


def check_graph_update(old: Source, new: Source, *, user: str = "") -> UpdateVerdict:
    """The first group of update rules that a change of a graph breaks; ``user`` is who asks, empty if unknown.

    A stored graph of another shape than the API type allows any change: it can only get better.
    """
    try:
        before, after = parse_graph(old), parse_graph(new)
    except Rejected:
        return UpdateVerdict()
    fixed = check_framework_update(old, new)
    violations = (*fixed.violations, *_node_violations(before, after))
    if violations:
        return UpdateVerdict(violations, fixed.warnings)
    return UpdateVerdict(_service_set_violations(before, after) or _replica_violations(before, after, user))


def check_framework_update(old: Source, new: Source) -> UpdateVerdict:
    """The backend framework of a graph or a component never changes; absent counts as empty."""
    if (old.spec.get("backendFramework") or "") == (new.spec.get("backendFramework") or ""):
        return UpdateVerdict()
    text = f"{_FRAMEWORK} is immutable and cannot be changed after creation"
    violation = Violation(text, path=_FRAMEWORK, reason="immutable_field")
    return UpdateVerdict((violation,), (f"Changing {_FRAMEWORK} may cause unexpected behavior",))


def _node_violations(before: ParsedGraph, after: ParsedGraph) -> tuple[Violation, ...]:
    text = "cannot change node topology (between single-node and multi-node) after creation"
    return tuple(
        Violation(f"spec.services[{key}] {text}", path=f"spec.services[{key}].multinode", reason="immutable_topology")
        for key, spec in after.services.items()
        if key in before.services and (node_count(spec) > 1) != (node_count(before.services[key]) > 1)
    )


def _service_set_violations(before: ParsedGraph, after: ParsedGraph) -> tuple[Violation, ...]:
    changes = {"added": after.services.keys() - before.services, "removed": before.services.keys() - after.services}
    said = [f"services {what}: [{' '.join(sorted(keys))}]" for what, keys in changes.items() if keys]
    if not said:
        return ()
    text = f"service topology is immutable and cannot be modified after creation: {', '.join(said)}"
    return (Violation(text, path="spec.services", reason="immutable_topology"),)


def _replica_violations(before: ParsedGraph, after: ParsedGraph, user: str) -> tuple[Violation, ...]:
    if _trusted(user):
        return ()
    text = (
        "cannot be modified directly when scaling adapter is enabled; "
        "scale or update the related DynamoGraphDeploymentScalingAdapter instead"
    )
    paths = (f"spec.services[{key}].replicas" for key in _scaled(before.services, after.services))
    return tuple(Violation(f"{path} {text}", path=path, reason="protected_replicas") for path in paths)


def _scaled(before: Mapping[str, ComponentSpec], after: Mapping[str, ComponentSpec]) -> list[str]:
    return [
        key
        for key, spec in after.items()
        if spec.scaling_adapter and spec.scaling_adapter.enabled and _replicas(spec) != _replicas(before[key])
    ]


def _replicas(spec: ComponentSpec) -> int:
    return 1 if spec.replicas is None else spec.replicas


def _trusted(user: str) -> bool:
    parts = user.split(":")
    return len(parts) == 4 and parts[:2] == ["system", "serviceaccount"] and parts[3].endswith(_TRUSTED)
