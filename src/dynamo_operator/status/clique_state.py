"""Reading back what Grove made of a graph (specification: grove.md 9.1 and 10.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from dynamo_operator.domain.graph import ComponentState, Graph, Service
from dynamo_operator.domain.labels import RESTART_AT
from dynamo_operator.domain.manifest import Tree
from dynamo_operator.domain.names import clique_object_name, leader_clique_name
from dynamo_operator.domain.pathway import CliquesThere
from dynamo_operator.domain.trees import tree_at, trees_at


@dataclass(frozen=True, slots=True)
class GangObjects:
    """A graph's PodCliqueSet, and by name the PodCliques and PodCliqueScalingGroups; empty where there is none.

    ``leaving``: somebody deleted the PodCliqueSet, and Grove has not let go of it yet.
    """

    gang: Tree = field(default_factory=dict[str, Any])
    cliques: Mapping[str, Tree] = field(default_factory=dict[str, Tree])
    groups: Mapping[str, Tree] = field(default_factory=dict[str, Tree])
    leaving: bool = False


@dataclass(frozen=True, slots=True)
class _Kind:
    """What runs a service: kind, its word in messages, and which of its counts says how many copies work."""

    name: str
    word: str
    count: str
    adjective: str


_CLIQUE: Final = _Kind("PodClique", "podclique", "readyReplicas", "ready")
_GROUP: Final = _Kind("PodCliqueScalingGroup", "pcsg", "availableReplicas", "available")


def clique_states(graph: Graph, there: GangObjects) -> list[ComponentState]:
    """The state of each service, also of those of which nothing exists yet; what has another shape counts as absent.

    ``observed``: Grove has seen the newest PodCliqueSet, and this service is no longer being rolled to it.
    """
    return [_state(graph, service, there) for service in graph.services]


def gang_problems(graph: Graph, states: Sequence[ComponentState], there: GangObjects) -> list[str]:
    """What a graph waits for, as people read it: one message for its PodCliqueSet, or none."""
    if there.leaving:
        return [f"{graph.name}: its PodCliqueSet is being deleted, and is made anew when Grove has let go of it"]
    stale = _unprocessed(there.gang) if is_observed(there.gang) else ""
    reasons = [stale] if stale else [state.message for state in states if not state.available]
    return [f"{graph.name}: {'; '.join(reasons)}"] if reasons else []


def is_observed(found: Tree) -> bool:
    """Whether Grove has ever looked at an object."""
    return _observed_generation(found) is not None


def cliques_there(gang: Tree) -> CliquesThere:
    """What a PodCliqueSet that exists has settled."""
    templates = _templates(gang)
    minimum = {name: tree_at(template, "spec").get("minAvailable") for name, template in templates.items()}
    return CliquesThere(
        order=tuple(templates),
        minimum={name: number for name, number in minimum.items() if isinstance(number, int)},
        schedulers=frozenset(
            str(tree_at(template, "spec", "podSpec").get("schedulerName", "")) for template in templates.values()
        ),
    )


def clique_pod(gang: Tree, service: Service) -> Tree:
    """The pod spec of a service in a PodCliqueSet; empty when there is none."""
    return tree_at(_templates(gang).get(_main_clique_name(service)), "spec", "podSpec")


def _main_clique_name(service: Service) -> str:
    """The clique that speaks for a service: its only one, or its leaders."""
    return leader_clique_name(service.key) if service.nodes > 1 else service.key.lower()


def _state(graph: Graph, service: Service, there: GangObjects) -> ComponentState:
    kind = _GROUP if service.nodes > 1 else _CLIQUE
    name = clique_object_name(graph.name, service.key)
    found = (there.groups if service.nodes > 1 else there.cliques).get(name, {})
    status = tree_at(found, "status")
    reason = _unready(found, kind, service.replicas)
    template = _templates(there.gang).get(_main_clique_name(service))
    return ComponentState(
        name=name,
        service=service.key,
        observed=not _unprocessed(there.gang) and _is_newest(status, there.gang),
        available=not reason,
        message=f"{kind.word}/{name}: {reason}" if reason else "",
        replicas={
            "componentKind": kind.name,
            "componentName": name,
            **{count: _count(status, count) for count in ("replicas", "updatedReplicas", kind.count)},
        },
        restart_id=str(tree_at(template, "annotations").get(RESTART_AT, "")),
    )


def _unready(found: Tree, kind: _Kind, wanted: int | None) -> str:
    """Why a PodClique or a scaling group is not ready; empty when it is. ``wanted`` None: somebody else scales it."""
    if not found:
        return "resource not found"
    desired, status = _count(tree_at(found, "spec"), "replicas"), tree_at(found, "status")
    ready = _count(status, kind.count)
    unprocessed = _unprocessed(found)
    if unprocessed:
        return unprocessed
    if wanted is not None and wanted != desired:
        return f"desired={wanted}, {kind.adjective}={ready}"
    if desired in (0, ready):
        return _unrolled(desired, status) if desired else ""
    return f"desired={desired}, {kind.adjective}={ready}"


def _unrolled(desired: int, status: Tree) -> str:
    """What is left of a rolling update when as many copies work as there should be; empty when nothing is."""
    updated, present = _count(status, "updatedReplicas"), _count(status, "replicas")
    if updated != desired:
        return f"desired={desired}, updated={updated}"
    return "" if present == desired else f"performing rolling update: desired={desired}, replicas={present}"


def _unprocessed(found: Tree) -> str:
    """What of an object Grove has not seen yet; empty when it has seen all."""
    observed, generation = _observed_generation(found), _count(tree_at(found, "metadata"), "generation")
    if observed is None:
        return "observedGeneration is nil"
    if observed < generation:
        return f"spec not yet processed: generation={generation}, observedGeneration={observed}"
    return ""


def _observed_generation(found: Tree) -> int | None:
    observed = tree_at(found, "status").get("observedGeneration")
    return observed if isinstance(observed, int) else None


def _is_newest(status: Tree, gang: Tree) -> bool:
    """Whether all is rolled to the newest PodCliqueSet, as far as Grove tells."""
    wanted = tree_at(gang, "status").get("currentGenerationHash")
    reached = status.get("currentPodCliqueSetGenerationHash")
    return not wanted or not reached or wanted == reached


def _templates(gang: Tree) -> dict[str, Tree]:
    return {str(clique.get("name", "")): clique for clique in trees_at(gang, "spec", "template", "cliques")}


def _count(tree: Tree, name: str) -> int:
    value = tree.get(name)
    return value if isinstance(value, int) else 0
