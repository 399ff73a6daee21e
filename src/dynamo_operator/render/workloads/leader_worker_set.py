"""Runs a component on several nodes per replica (specification: workloads.md 5.9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dynamo_operator.domain import labels
from dynamo_operator.domain.component import Component, Resources, Surroundings
from dynamo_operator.domain.manifest import Child, Manifest, Tree
from dynamo_operator.domain.outcome import Unrenderable
from dynamo_operator.domain.site import Site
from dynamo_operator.render.backends.contract import Peers, Placement, Role
from dynamo_operator.render.metadata import object_labels
from dynamo_operator.render.pod import Variant, render_pod_template

# Put into every container by LeaderWorkerSet's webhook; the workers' names are the leader's with their index.
_LEADER: Final = "LWS_LEADER_ADDRESS"
_INDEX: Final = "LWS_WORKER_INDEX"

_NO_RESOURCES: Final = Resources()

_CHECKS: Final = {
    Role.LEADER: "generateLeaderPodTemplateSpec: failed to check main container",
    Role.WORKER: "generateWorkerPodTemplateSpec: failed to check LWS worker main container",
}


@dataclass(frozen=True, slots=True)
class LeaderWorkerSet:
    """A set of pods for each replica, with a group of its own so that its pods are placed together."""

    kind: str = "LeaderWorkerSet"

    def render(self, component: Component, site: Site, surroundings: Surroundings, /) -> list[Child]:
        """PodGroup and LeaderWorkerSet of each replica in turn."""
        names = [f"{component.name}-{index}" for index in range(_replicas(component))]
        if not names:
            return []
        groups = [_pod_group(component, name, index) for index, name in enumerate(names)]
        try:
            templates = _templates(component, site, surroundings)
        except Unrenderable as refused:
            raise refused.within("failed to sync the LeaderWorkerSet", "generateLeaderWorkerSet").after(
                groups[:1]
            ) from refused
        sets = [_set(component, name, index, templates) for index, name in enumerate(names)]
        return [child for pair in zip(groups, sets, strict=True) for child in pair]


@dataclass(frozen=True, slots=True)
class _Templates:
    leader: Manifest
    worker: Manifest


def _replicas(component: Component) -> int:
    return 1 if component.replicas is None else component.replicas


def _pod_group(component: Component, name: str, index: int) -> Child:
    metadata = {"name": name, "namespace": component.namespace, "labels": {labels.INSTANCE_ID: str(index)}}
    return Child(
        {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "PodGroup",
            "metadata": metadata,
            "spec": {"minMember": component.nodes},
        }
    )


def _set(component: Component, name: str, index: int, templates: _Templates) -> Child:
    own_labels = {**object_labels(component), labels.INSTANCE_ID: str(index)}
    return Child(
        {
            "apiVersion": "leaderworkerset.x-k8s.io/v1",
            "kind": "LeaderWorkerSet",
            "metadata": {"name": name, "namespace": component.namespace, "labels": own_labels},
            "spec": {
                "replicas": 1,
                "startupPolicy": "LeaderCreated",
                "leaderWorkerTemplate": {
                    "size": component.nodes,
                    "leaderTemplate": _of_set(templates.leader, name, {**own_labels, labels.ROLE: "leader"}),
                    "workerTemplate": _of_set(templates.worker, name, {**own_labels, labels.ROLE: "worker"}),
                },
            },
        }
    )


def _of_set(template: Tree, group: str, own_labels: Tree) -> Manifest:
    """The template of pods of one set: what tells its sets apart wins over the user's labels and annotations."""
    metadata = template["metadata"]
    # A set finds its pods by labels of its own.
    told = {key: value for key, value in {**metadata["labels"], **own_labels}.items() if key != labels.SELECTOR}
    annotations = {**metadata.get("annotations", {}), labels.POD_GROUP: group}
    return {
        "metadata": {"labels": told, "annotations": annotations},
        "spec": {**template["spec"], "schedulerName": labels.VOLCANO},
    }


def _templates(component: Component, site: Site, surroundings: Surroundings) -> _Templates:
    leader = _template(component, site, surroundings, role=Role.LEADER)
    return _Templates(leader, _template(component, site, surroundings, role=Role.WORKER))


def _template(component: Component, site: Site, surroundings: Surroundings, *, role: Role) -> Manifest:
    try:
        template = _rendered(component, site, surroundings, role=role)
        _check_main(template, _CHECKS[role])
        if role is Role.WORKER:
            _check_gpus(component)
    except Unrenderable as refused:
        raise refused.within(f"failed to generate {role.value} pod template") from refused
    return template


def _rendered(component: Component, site: Site, surroundings: Surroundings, *, role: Role) -> Manifest:
    place = Placement(role, component.nodes, _peers(component.nodes))
    try:
        return render_pod_template(component, site, surroundings, variant=Variant(component.name, place))
    except Unrenderable as refused:
        texts = (f"failed to generate {role.value} pod template", "failed to generate base pod spec")
        raise refused.within(*texts) from refused


def _check_main(template: Tree, context: str) -> None:
    """Raises Unrenderable for a main container that leaves its start to the image."""
    main = next(each for each in template["spec"]["containers"] if each["name"] == labels.MAIN_CONTAINER)
    if not main.get("command"):
        raise Unrenderable(f"{context}: container Command cannot be nil for LWS pod")
    if not main.get("args"):
        raise Unrenderable(f"{context}: container Args cannot be empty for LWS pod")


def _check_gpus(component: Component) -> None:
    if not (component.resources or _NO_RESOURCES).limits.gpu:
        raise Unrenderable("generateWorkerPodTemplateSpec: GPU limit is not set for LWS worker pod")


def _peers(nodes: int) -> Peers:
    """The host of worker i is the leader's with -i before its first dot."""
    return Peers(
        leader=f"${_LEADER}",
        leader_argument=f"$({_LEADER})",
        workers=tuple(rf"""$(echo "${_LEADER}" | sed 's/\./-{index}\./')""" for index in range(1, nodes)),
        rank=f"$({_INDEX})",
        rank_term=_INDEX,
        awaits_names=True,
    )
