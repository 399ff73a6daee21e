"""Which claims a graph waits for (specification: workloads.md 3.5)."""

from __future__ import annotations

from dynamo_operator.domain.graph import Graph


def claims_missing(graph: Graph, existing: frozenset[str]) -> tuple[str, ...]:
    """One message for each claim that neither exists nor is made by the operator, in the order of ``spec.pvcs``."""
    made = {claim.name for claim in graph.claims if claim.create}
    missing = {
        claim.name: f"{claim.name}: PersistentVolumeClaim {graph.namespace}/{claim.name} of spec.pvcs[{index}] "
        "does not exist, create it or set create to true"
        for index, claim in enumerate(graph.claims)
        if claim.name not in made | existing
    }
    return tuple(missing.values())
