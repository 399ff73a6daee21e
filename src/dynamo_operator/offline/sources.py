"""Manifests as the checks want them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from dynamo_operator.domain.manifest import Manifest, Tree
from dynamo_operator.domain.source import Source


def source_of(manifest: Manifest, namespace: str) -> Source:
    """The source of a manifest; ``namespace`` is used where the manifest names none. Never raises."""
    metadata = _map(manifest.get("metadata"))
    return Source(
        namespace=_text(metadata.get("namespace")) or namespace,
        name=_text(metadata.get("name")),
        generation=1,
        labels=_strings(metadata.get("labels")),
        annotations=_strings(metadata.get("annotations")),
        graph=_owning_graph(metadata),
        spec=_map(manifest.get("spec")),
    )


def _owning_graph(metadata: Tree) -> str:
    """The graph named in the owner references, empty without one."""
    references: object = metadata.get("ownerReferences")
    for reference in cast("list[object]", references) if isinstance(references, list) else []:
        owner = _map(reference)
        if owner.get("kind") == "DynamoGraphDeployment":
            return _text(owner.get("name"))
    return ""


def _map(value: object) -> Mapping[str, Any]:
    """A map, empty when it is absent or something else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _strings(value: object) -> dict[str, str]:
    """The members of a map that are text."""
    return {key: member for key, member in _map(value).items() if isinstance(member, str)}


def _text(value: object) -> str:
    """Text, empty when it is absent or something else."""
    return value if isinstance(value, str) else ""
