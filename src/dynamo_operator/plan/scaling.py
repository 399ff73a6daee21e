"""Which scaling adapter says how many copies of a service run (specification: requests-scaling-models.md 2.2, 2.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dynamo_operator.domain.manifest import Tree
from dynamo_operator.domain.trees import tree_at


@dataclass(frozen=True, slots=True)
class Adapter:
    """A scaling adapter of a graph.

    ``owner`` is the uid of the graph that controls it, empty for one that somebody made by hand; ``created`` is an
    RFC 3339 time.
    """

    name: str
    service: str
    replicas: int
    owner: str = ""
    created: str = ""


def adapters_in_charge(graph_spec: Tree, graph_uid: str, adapters: Iterable[Adapter]) -> Mapping[str, Adapter]:
    """The adapter of each service that has one; two would undo each other's numbers for ever.

    The graph's own comes first, then the oldest. One that the graph no longer asks for, or that was a former graph's of
    the same name, is about to go and decides nothing.
    """
    in_charge: dict[str, Adapter] = {}
    for adapter in sorted(adapters, key=lambda each: (each.owner != graph_uid, each.created, each.name)):
        service = tree_at(graph_spec, "services").get(adapter.service)
        if service is not None and (not adapter.owner or (adapter.owner == graph_uid and _asks(tree_at(service)))):
            in_charge.setdefault(adapter.service, adapter)
    return in_charge


def scaled_spec(graph_spec: Tree, in_charge: Mapping[str, Adapter]) -> Tree:
    """The spec of a graph with its adapters' numbers, whether they have reached it already or not.

    Otherwise a manifest that is applied anew with its old number would stop pods before the adapter starts them again.
    """
    changed = {
        name: {**tree_at(service), "replicas": in_charge[name].replicas}
        for name, service in tree_at(graph_spec, "services").items()
        if name in in_charge and replicas_of(tree_at(service)) != in_charge[name].replicas
    }
    if not changed:
        return graph_spec
    return {**graph_spec, "services": {**tree_at(graph_spec, "services"), **changed}}


def replicas_of(service: Tree) -> int:
    """Copies that a service of a stored graph asks for; one when it does not say."""
    replicas = service.get("replicas")
    return replicas if isinstance(replicas, int) else 1


def _asks(service: Tree) -> bool:
    return tree_at(service, "scalingAdapter").get("enabled") is True
