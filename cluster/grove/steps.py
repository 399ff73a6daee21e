"""What is to be done next for one PodCliqueSet; a step depends on those before it being done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from cluster.grove import facts, status, template
from cluster.grove.facts import Gang, Seen, Tree, count
from cluster.grove.template import Wanted
from dynamo_operator.runtime.resource import Resource


@dataclass(frozen=True, slots=True)
class Create:
    """Make an object; ``clique`` is the PodClique that it is a pod of."""

    resource: Resource
    manifest: Tree
    clique: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """A JSON patch of an object."""

    resource: Resource
    target: Seen
    operations: Sequence[Tree]


@dataclass(frozen=True, slots=True)
class Report:
    """A new status of an object."""

    resource: Resource
    target: Seen
    status: Tree


@dataclass(frozen=True, slots=True)
class Delete:
    """Ask for the deletion of an object."""

    resource: Resource
    target: Seen


Step = Create | Change | Report | Delete


def next_steps(gang: Gang, now: datetime) -> list[Step]:
    """What can be done at the same time now; nothing when all is as it should be."""
    parent = gang.parent
    if parent is None or parent.metadata.deleting:
        return [*_farewell(gang), *_releases(gang)]
    phases: tuple[Callable[[Gang, Seen, datetime], Iterable[Step]], ...] = (
        _claims,
        _children,
        _set_reports,
        _pods,
        _openings,
        _clique_reports,
        _group_reports,
    )
    for phase in phases:
        if steps := list(phase(gang, parent, now)):
            return steps
    return []


def waits_for(gang: Gang, now: datetime) -> float | None:
    """Seconds until a slow clique is due; None where nothing is waited for."""
    parent = gang.parent
    if parent is None or parent.metadata.deleting:
        return None
    delays = [wait for each in template.templates_of(parent).values() if (wait := _wait(parent, each, now)) > 0]
    return min(delays, default=None)


def _claims(_gang: Gang, parent: Seen, _now: datetime) -> Iterable[Step]:
    if facts.FINALIZERS[facts.SETS] not in parent.metadata.finalizers:
        held = [*parent.metadata.finalizers, facts.FINALIZERS[facts.SETS]]
        yield Change(facts.SETS, parent, [{"op": "add", "path": "/metadata/finalizers", "value": held}])


def _children(gang: Gang, parent: Seen, now: datetime) -> Iterable[Step]:
    yield from _missing(facts.SERVICES, template.wanted_services(parent), gang.services)
    due = lambda each: all(_wait(parent, one, now) <= 0 for one in each.templates)  # noqa: E731
    yield from _missing(facts.GROUPS, filter(due, template.wanted_groups(parent)), gang.groups)
    cliques = template.wanted_cliques(gang, parent)
    yield from _missing(facts.CLIQUES, filter(due, cliques), gang.cliques)
    yield from _surplus(gang, {each.name for each in cliques})
    yield from _outdated(gang, cliques)
    yield from _releases(gang)


def _missing(kind: Resource, wanted: Iterable[Wanted], there: Sequence[Seen]) -> Iterable[Step]:
    names = {each.name for each in there}
    return (Create(kind, each.manifest) for each in wanted if each.name not in names)


def _surplus(gang: Gang, wanted: set[str]) -> Iterable[Step]:
    for clique in gang.cliques:
        if clique.name not in wanted and not clique.metadata.deleting:
            yield Delete(facts.CLIQUES, clique)


def _outdated(gang: Gang, wanted: Sequence[Wanted]) -> Iterable[Step]:
    """A clique by itself takes its new template over; those of a group are made anew, replica by replica."""
    by_name = {each.name: each.manifest for each in wanted}
    old = [
        clique
        for clique in gang.cliques
        if clique.name in by_name
        and not clique.metadata.deleting
        and clique.label(facts.TEMPLATE_HASH) != by_name[clique.name]["metadata"]["labels"][facts.TEMPLATE_HASH]
    ]
    for clique in old:
        if not clique.label(facts.SCALING_GROUP):
            yield _taken_over(clique, by_name[clique.name])
    for group in gang.groups:
        yield from _next_replica(gang, group, [clique for clique in gang.members(group) if clique in old])


def _taken_over(clique: Seen, manifest: Tree) -> Step:
    metadata = manifest["metadata"]
    operations = [
        {"op": "add", "path": "/metadata/labels", "value": metadata["labels"]},
        {"op": "add", "path": "/metadata/annotations", "value": metadata["annotations"]},
        {"op": "replace", "path": "/spec/podSpec", "value": manifest["spec"]["podSpec"]},
    ]
    return Change(facts.CLIQUES, clique, operations)


def _next_replica(gang: Gang, group: Seen, old: Sequence[Seen]) -> Iterable[Step]:
    """Replicas that do not work go at once; of the others one at a time, when all else works."""
    indexes = sorted({int(clique.label(facts.GROUP_INDEX)) for clique in old})
    broken = [index for index in indexes if not status.works(gang, group, index)]
    whole = all(status.works(gang, group, index) for index in range(count(group.spec, "replicas", 1)))
    chosen = broken or (indexes[:1] if whole else [])
    for clique in gang.members(group):
        if int(clique.label(facts.GROUP_INDEX)) in chosen and not clique.metadata.deleting:
            yield Delete(facts.CLIQUES, clique)


def _pods(gang: Gang, parent: Seen, _now: datetime) -> Iterable[Step]:
    for clique in gang.cliques:
        if clique.metadata.deleting or clique.name in gang.refused:
            continue
        pods = gang.pods_of(clique)
        missing = count(clique.spec, "replicas") - len(pods)
        yield from _new_pods(parent, clique, pods, missing)
        yield from (Delete(facts.PODS, pod) for pod in _unwanted(clique, pods, -missing))


def _new_pods(parent: Seen, clique: Seen, pods: Sequence[Seen], missing: int) -> Iterable[Step]:
    if clique.label(facts.BEHAVIOUR) == facts.FAILING:
        return
    taken = {pod.spec.get("hostname") for pod in pods}
    free = (index for index in range(len(pods) + max(missing, 0)) if f"{clique.name}-{index}" not in taken)
    for _, index in zip(range(missing), free, strict=False):
        yield Create(facts.PODS, template.pod_manifest(parent, clique, index), clique.name)


def _unwanted(clique: Seen, pods: Sequence[Seen], surplus: int) -> Sequence[Seen]:
    """Surplus pods, those that do not work first; else old ones, of working pods one at a time."""
    if surplus > 0:
        return sorted(pods, key=lambda pod: (facts.is_ready(pod), pod.spec.get("hostname")))[:surplus]
    current = clique.label(facts.TEMPLATE_HASH)
    old = [pod for pod in pods if pod.label(facts.TEMPLATE_HASH) != current]
    idle = [pod for pod in old if not facts.is_ready(pod)]
    if idle or surplus < 0:
        return idle
    return old[:1] if all(map(facts.is_ready, pods)) else ()


def _openings(gang: Gang, _parent: Seen, _now: datetime) -> Iterable[Step]:
    """The scheduler gets the pods of a gang when all of them are made."""
    short = {
        clique.label(facts.GANG)
        for clique in gang.cliques
        if clique.metadata.deleting or len(gang.pods_of(clique)) < count(clique.spec, "replicas")
    }
    for pod in gang.pods:
        if pod.spec.get("schedulingGates") and not pod.metadata.deleting and pod.label(facts.GANG) not in short:
            yield Change(facts.PODS, pod, [{"op": "remove", "path": "/spec/schedulingGates"}])


def _set_reports(gang: Gang, parent: Seen, _now: datetime) -> Iterable[Step]:
    return _news(facts.SETS, parent, status.set_status(gang, parent))


def _clique_reports(gang: Gang, parent: Seen, _now: datetime) -> Iterable[Step]:
    for clique in gang.cliques:
        if not clique.metadata.deleting:
            yield from _news(facts.CLIQUES, clique, status.clique_status(gang, parent, clique))


def _group_reports(gang: Gang, parent: Seen, _now: datetime) -> Iterable[Step]:
    for group in gang.groups:
        if not group.metadata.deleting:
            yield from _news(facts.GROUPS, group, status.group_status(gang, parent, group))


def _news(kind: Resource, target: Seen, told: Tree) -> Iterable[Step]:
    if target.status != told:
        yield Report(kind, target, told)


def _farewell(gang: Gang) -> Iterable[Step]:
    """All that is left of a set goes, and then the set."""
    for kind, children in ((facts.GROUPS, gang.groups), (facts.CLIQUES, gang.cliques)):
        yield from (Delete(kind, each) for each in children if not each.metadata.deleting)
    if gang.parent is not None and not gang.cliques and not gang.groups:
        yield from _let_go(facts.SETS, gang.parent)


def _releases(gang: Gang) -> Iterable[Step]:
    """PodCliques that are on their way out lose their pods and then go; so do scaling groups without members."""
    for clique in gang.cliques:
        if clique.metadata.deleting:
            pods = [pod for pod in gang.pods if pod.label(facts.CLIQUE) == clique.name]
            yield from (Delete(facts.PODS, pod) for pod in pods if not pod.metadata.deleting)
            yield from () if pods else _let_go(facts.CLIQUES, clique)
    for group in gang.groups:
        if group.metadata.deleting and not gang.members(group):
            yield from _let_go(facts.GROUPS, group)


def _let_go(kind: Resource, target: Seen) -> Iterable[Step]:
    if facts.FINALIZERS[kind] in target.metadata.finalizers:
        kept = [each for each in target.metadata.finalizers if each != facts.FINALIZERS[kind]]
        yield Change(kind, target, [{"op": "replace", "path": "/metadata/finalizers", "value": kept}])


def _wait(parent: Seen, clique: Tree, now: datetime) -> float:
    """Seconds until a clique is made."""
    if (clique.get("labels") or {}).get(facts.BEHAVIOUR) != facts.SLOW:
        return 0.0
    delay = float((clique.get("annotations") or {}).get(facts.DELAY, "5"))
    age = now - datetime.fromisoformat(parent.metadata.creation_timestamp)
    return delay - age.total_seconds()
