"""The claims that a graph asks to have made (specification: workloads.md 3.5)."""

from __future__ import annotations

from dynamo_operator.domain.graph import Claim, Graph
from dynamo_operator.domain.manifest import Child, Manifest, Upkeep


def render_claims(graph: Graph) -> list[Child]:
    """One claim per name with ``create``; existing ones are left alone, those no longer asked for stay."""
    wanted: dict[str, Claim] = {}
    for claim in graph.claims:
        if claim.create:
            wanted.setdefault(claim.name, claim)
    return [Child(_claim(graph, claim), upkeep=Upkeep.CREATE) for claim in wanted.values()]


def _claim(graph: Graph, claim: Claim) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": claim.name, "namespace": graph.namespace},
        "spec": {
            "accessModes": [claim.access_mode],
            "storageClassName": claim.storage_class,
            "resources": {"requests": {"storage": claim.size}},
        },
    }
