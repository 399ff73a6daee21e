"""Stored objects as the values that checks start from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dynamo_operator.domain.source import Source
from dynamo_operator.domain.trees import tree_at
from dynamo_operator.runtime.views import Body

GRAPH_KIND: Final = "DynamoGraphDeployment"


def source_of(body: Body) -> Source:
    """What is stored, with its spec decoded; nothing in it is trusted."""
    meta = body.metadata
    return Source(
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        generation=meta.generation,
        labels=meta.labels,
        annotations=meta.annotations,
        graph=next((owner.name for owner in meta.owner_references if owner.kind == GRAPH_KIND), ""),
        spec=tree_of(body, "spec"),
    )


def tree_of(body: Body, member: str) -> Mapping[str, Any]:
    """A member of a stored object as a JSON object; anything else stored there reads as empty."""
    return tree_at(body.tree(member))


def object_of(body: Body) -> Mapping[str, Any]:
    """Spec, status and generation of a stored object, as status functions read them."""
    return {
        "metadata": {
            "name": body.metadata.name,
            "generation": body.metadata.generation,
            "labels": body.metadata.labels,
        },
        "spec": tree_of(body, "spec"),
        "status": tree_of(body, "status"),
    }
