"""The cliques of a service: one of equal pods, or leaders and workers (specification: grove.md 4 and 6.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from dynamo_operator.domain import labels, names
from dynamo_operator.domain.component import Component, Surroundings
from dynamo_operator.domain.graph import Graph, Service
from dynamo_operator.domain.manifest import Manifest
from dynamo_operator.domain.outcome import Unrenderable
from dynamo_operator.domain.pathway import Circumstances, CliquesThere
from dynamo_operator.domain.site import Site
from dynamo_operator.render.backends.contract import Backend, Peers, Placement, Role
from dynamo_operator.render.backends.detection import backend_of
from dynamo_operator.render.pathways.clique_component import clique_annotations, clique_component, clique_labels
from dynamo_operator.render.pod import render_pod

_UNDETERMINED: Final = "failed to determine backend framework"

# Read by the kubelet, which replaces them by what Grove tells each container (grove.md 6.4).
_GROUP: Final = "$(GROVE_PCSG_NAME)-$(GROVE_PCSG_INDEX)"
_DOMAIN: Final = "$(GROVE_HEADLESS_SERVICE)"
# Read by the shell. Leaders have rank 0, so the first worker has 1.
_RANK: Final = "$((GROVE_PCLQ_POD_INDEX + 1))"


@dataclass(frozen=True, slots=True)
class CliqueRole:
    """One clique of a service: its name, what its pods are to each other, and how many there are."""

    name: str
    placement: Placement
    replicas: int


def roles_of(component: Component) -> tuple[CliqueRole, ...]:
    """The cliques of a service; on several nodes its replicas are counted in groups, and its pods in cliques."""
    service, nodes = component.service, component.nodes
    if nodes <= 1:
        return (CliqueRole(service.lower(), Placement(), wanted_replicas(component)),)
    peers = _peers(service, nodes)
    return (
        CliqueRole(names.leader_clique_name(service), Placement(Role.LEADER, nodes, peers), 1),
        CliqueRole(names.worker_clique_name(service), Placement(Role.WORKER, nodes, peers), nodes - 1),
    )


def wanted_replicas(component: Component) -> int:
    """Copies that Grove starts with. It refuses none: that comes later, by scaling."""
    return max(1, 1 if component.replicas is None else component.replicas)


def render_cliques(graph: Graph, service: Service, site: Site, circumstances: Circumstances) -> list[Manifest]:
    """The clique templates of a service, the leader's first. Raises Unrenderable."""
    component = clique_component(graph, service, site)
    backend = _backend_of(component)
    surroundings = circumstances.surroundings.get(service.key, Surroundings())
    annotations = clique_annotations(component, service, site, circumstances.restart)
    return [
        {
            "name": role.name,
            "labels": clique_labels(component),
            **({"annotations": dict(annotations)} if annotations else {}),
            "spec": {
                "roleName": role.name,
                "replicas": role.replicas,
                "minAvailable": _minimum(role, component, circumstances.cliques),
                **_start_order(role, component, backend),
                "podSpec": _render_pod(component, site, surroundings, role),
            },
        }
        for role in roles_of(component)
    ]


def _render_pod(component: Component, site: Site, surroundings: Surroundings, role: CliqueRole) -> Manifest:
    try:
        return render_pod(component, site, surroundings, placement=role.placement)
    except Unrenderable as problem:
        raise problem.within(f"failed to generate podSpec for role {component.service}") from problem


def _backend_of(component: Component) -> Backend:
    try:
        return backend_of(component)
    except Unrenderable as problem:
        cause = str(problem).removeprefix(f"{_UNDETERMINED}: ")
        raise Unrenderable(cause).within(f"{_UNDETERMINED} for service {component.service}") from problem


def _start_order(role: CliqueRole, component: Component, backend: Backend) -> dict[str, Any]:
    """A leader that logs in to its workers starts after them; any other order would wait for readiness for ever."""
    if role.placement.role is not Role.LEADER or not backend.needs_ssh:
        return {}
    return {"startsAfter": [names.worker_clique_name(component.service)]}


def _minimum(role: CliqueRole, component: Component, there: CliquesThere) -> int:
    """Pods without which a replica is no use: all nodes of one, any one of several equal pods.

    Raises Unrenderable where the stored number, which Grove never lets change, cannot be kept.
    """
    stored = there.minimum.get(role.name)
    if stored is None:
        return role.replicas if role.placement.role is Role.WORKER else 1
    if role.placement.role is Role.WORKER and stored > role.replicas:
        raise Unrenderable(
            f"spec.services[{component.service}].multinode.nodeCount: cannot go below {stored + 1}, because "
            f"minAvailable of the PodClique {role.name} is {stored} and never changes; make the graph anew"
        )
    return stored


def _peers(service: str, nodes: int) -> Peers:
    leader = f"{_GROUP}-{names.leader_clique_name(service)}-0.{_DOMAIN}"
    workers = (f"{_GROUP}-{names.worker_clique_name(service)}-{index}.{_DOMAIN}" for index in range(nodes - 1))
    return Peers(leader=leader, leader_argument=leader, workers=tuple(workers), rank=_RANK, rank_term=_RANK)


def with_queue(clique: Manifest, queue: str) -> Manifest:
    """The clique in a queue of the KAI scheduler, unless its user chose another scheduler."""
    pod = clique["spec"]["podSpec"]
    if not takes_queue(clique):
        return clique
    spec = {**clique["spec"], "podSpec": {**pod, "schedulerName": labels.KAI_SCHEDULER}}
    return {**clique, "labels": {**clique["labels"], labels.KAI_QUEUE_LABEL: queue}, "spec": spec}


def takes_queue(clique: Manifest) -> bool:
    """True unless the user chose another scheduler than KAI's."""
    return clique["spec"]["podSpec"].get("schedulerName") in (None, "", labels.KAI_SCHEDULER)
