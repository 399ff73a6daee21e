"""What Grove says of its objects, as far as anybody reads it."""

from __future__ import annotations

from cluster.grove import facts, template
from cluster.grove.facts import Gang, Seen, Tree, count

OLD_HASH = "currentPodCliqueSetGenerationHash"
_BAD_PODS = "ERR_SYNC_PODS"


def set_status(gang: Gang, parent: Seen) -> Tree:
    """Status of a PodCliqueSet."""
    newest = template.generation_hash(parent)
    children = [each for each in (*gang.groups, *gang.cliques) if not each.label(facts.SCALING_GROUP)]
    replicas = count(parent.spec, "replicas")
    updated = all(each.status.get(OLD_HASH) == newest for each in children)
    available = all(_has_enough(each) for each in children)
    return {
        **parent.status,
        "observedGeneration": parent.metadata.generation,
        "replicas": replicas,
        "updatedReplicas": replicas if updated else 0,
        "availableReplicas": replicas if available else 0,
        "currentGenerationHash": newest,
    }


def clique_status(gang: Gang, parent: Seen, clique: Seen) -> Tree:
    """Status of a PodClique."""
    pods = gang.pods_of(clique)
    current = clique.label(facts.TEMPLATE_HASH)
    updated = [pod for pod in pods if pod.label(facts.TEMPLATE_HASH) == current]
    told = {
        **clique.status,
        "replicas": len(pods),
        "readyReplicas": sum(map(facts.is_ready, pods)),
        "updatedReplicas": len(updated),
        "scheduledReplicas": sum(facts.has_condition(pod, "PodScheduled") for pod in pods),
        "scheduleGatedReplicas": sum(bool(pod.spec.get("schedulingGates")) for pod in pods),
    }
    told.pop("lastErrors", None)
    if (problem := _problem(gang, clique)) and len(pods) < count(clique.spec, "replicas"):
        # An equal entry would be another one each time if it told the time of now.
        observed = clique.metadata.creation_timestamp
        return {**told, "lastErrors": [{"code": _BAD_PODS, "description": problem, "observedAt": observed}]}
    told["observedGeneration"] = clique.metadata.generation
    if len(updated) == len(pods) and _is_newest(parent, clique):
        told |= {OLD_HASH: template.generation_hash(parent), "currentPodTemplateHash": current}
    return told


def group_status(gang: Gang, parent: Seen, group: Seen) -> Tree:
    """Status of a PodCliqueScalingGroup."""
    replicas, newest = count(group.spec, "replicas", 1), template.generation_hash(parent)
    updated = sum(_is_updated(gang, group, index, newest) for index in range(replicas))
    rolled = all(_is_newest(parent, clique) for clique in gang.members(group))
    scheduled = sum(_counts(gang, group, index, "scheduledReplicas") for index in range(replicas))
    return {
        **group.status,
        "observedGeneration": group.metadata.generation,
        "replicas": replicas,
        "scheduledReplicas": scheduled,
        "availableReplicas": sum(works(gang, group, index) for index in range(replicas)),
        "updatedReplicas": updated,
        **({OLD_HASH: newest} if rolled else {}),
    }


def works(gang: Gang, group: Seen, index: int) -> bool:
    """Whether each clique of a group's replica has as many ready pods as it needs at least."""
    return _counts(gang, group, index, "readyReplicas")


def _counts(gang: Gang, group: Seen, index: int, name: str) -> bool:
    members = _replica(gang, group, index)
    whole = len(members) == len(group.spec["cliqueNames"])
    return whole and all(count(each.status, name) >= count(each.spec, "minAvailable", 1) for each in members)


def _is_updated(gang: Gang, group: Seen, index: int, newest: str) -> bool:
    members = _replica(gang, group, index)
    return works(gang, group, index) and all(each.status.get(OLD_HASH) == newest for each in members)


def _replica(gang: Gang, group: Seen, index: int) -> list[Seen]:
    mine = [clique for clique in gang.members(group) if clique.label(facts.GROUP_INDEX) == str(index)]
    return [clique for clique in mine if not clique.metadata.deleting]


def _has_enough(child: Seen) -> bool:
    ready = max(count(child.status, "readyReplicas"), count(child.status, "availableReplicas"))
    return ready >= min(count(child.spec, "minAvailable", 1), count(child.spec, "replicas", 1))


def _is_newest(parent: Seen, clique: Seen) -> bool:
    found = template.templates_of(parent).get(clique.spec["roleName"])
    return found is not None and template.template_hash(found) == clique.label(facts.TEMPLATE_HASH)


def _problem(gang: Gang, clique: Seen) -> str:
    failing = clique.label(facts.BEHAVIOUR) == facts.FAILING
    return "pods are not made, as asked for" if failing else gang.refused.get(clique.name, "")
