"""What keeps components on several nodes from working although their spec is accepted, with the way out.

`validate` and a condition say it in the same words. Pods are rendered all the same wherever release 0.9 renders them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, cast

from dynamo_operator.domain import labels
from dynamo_operator.domain.component import Component, Resources
from dynamo_operator.domain.graph import Graph, Service
from dynamo_operator.domain.outcome import Doubt, Unrenderable
from dynamo_operator.domain.pathway import Pathway, pathway_of
from dynamo_operator.domain.site import Site
from dynamo_operator.render.backends.contract import GPU_FIELD, MAIN_FIELD, NODES_FIELD, Placement, Role, Start
from dynamo_operator.render.backends.detection import WORKER_TYPES, backend_of
from dynamo_operator.render.components.registry import component_type_named
from dynamo_operator.render.container import overridden_container
from dynamo_operator.render.deployment_config import VARIABLE, ServiceArguments, parse_service_arguments

# A StatefulSet of LeaderWorkerSet's is called SET-0; its pods carry that and up to ten more characters as a label.
_LONGEST_SET: Final = 63 - len("-0") - len("-0123456789")
_NO_RESOURCES: Final = Resources()


def graph_doubts(graph: Graph, site: Site) -> list[Doubt]:
    """All doubts about a graph's services on several nodes, sorted by service."""
    pathway = pathway_of(graph.annotations, site)
    doubts: list[Doubt] = []
    for service in graph.services:
        component = _sized(graph, service) if pathway is Pathway.COMPONENTS else service.component
        doubts += component_doubts(component, site, f"spec.services[{service.key}]", pathway=pathway)
    return doubts


def component_doubts(
    component: Component, site: Site, path: str = "spec", *, pathway: Pathway = Pathway.COMPONENTS
) -> list[Doubt]:
    """All doubts about a component on several nodes; ``path`` is where its spec stands."""
    if component.nodes <= 1:
        return []
    component = _readable(component)
    start = _start(component, site)
    doubts = list(_backend_doubts(start))
    if pathway is Pathway.COMPONENTS:
        doubts = [*_cluster_doubts(component, site), *_set_doubts(start), *doubts]
    return [replace(each, path=f"{path}.{each.path}") for each in doubts]


def _sized(graph: Graph, service: Service) -> Component:
    """The component with the sizes that a deployment config gives it; one that is no such document gives none."""
    envs = {env.get("name"): env for env in (*graph.envs, *service.component.envs)}
    try:
        wanted = parse_service_arguments(str(envs.get(VARIABLE, {}).get("value") or "{}"), service.key)
    except Unrenderable:
        wanted = ServiceArguments()
    component, given = service.component, service.component.resources or _NO_RESOURCES
    gpu = {"gpu": wanted.amounts["gpu"]} if "gpu" in wanted.amounts else {}
    return replace(
        component,
        replicas=wanted.workers if component.replicas is None else component.replicas,
        resources=replace(given, requests=replace(given.requests, **gpu), limits=replace(given.limits, **gpu)),
    )


def _readable(component: Component) -> Component:
    """The component without what no schema lets into a command; objects of former definitions may have it."""
    main = component.main_container
    words = {name: _texts(main[name]) for name in ("command", "args") if name in main}
    return replace(component, main_container={**main, **words})


def _texts(value: object) -> list[str]:
    listed = cast("list[object]", value) if isinstance(value, list) else []
    return [each for each in listed if isinstance(each, str)]


def _start(component: Component, site: Site) -> Start:
    """How the leader is started without the backend's say."""
    main = overridden_container(
        component_type_named(component.component_type).defaults(component), component.main_container
    )
    return Start(
        component,
        Placement(Role.LEADER, component.nodes),
        command=tuple(main["command"]),
        args=tuple(main.get("args", ())),
        ssh_secret=site.mpi_secret_name,
    )


def _cluster_doubts(component: Component, site: Site) -> Iterator[Doubt]:
    """What the cluster lacks."""
    there = {"LeaderWorkerSet": site.offers.leader_worker_sets, "Volcano": site.offers.volcano}
    missing = " and ".join(name for name, offered in there.items() if not offered)
    if not missing:
        return
    ways = [f"install {missing}"]
    if component.graph:
        ways.append(f"take the annotation {labels.ENABLE_GROVE} out" if site.offers.grove else "install Grove")
    text = f"asks for {component.nodes} nodes, and the cluster lacks {missing}"
    yield Doubt(NODES_FIELD, f"{text}; {', or '.join([*ways, 'take multinode out'])}", stops=True)


def _set_doubts(start: Start) -> Iterator[Doubt]:
    """What LeaderWorkerSets ask of a component beyond what Deployments do."""
    component = start.component
    if not start.args:
        yield Doubt(MAIN_FIELD, "on several nodes nothing is left to the image; give command and args", stops=True)
    if not (component.resources or _NO_RESOURCES).limits.gpu:
        yield Doubt(GPU_FIELD, "is required on several nodes; give the GPUs of one node", stops=True)
    copies = 1 if component.replicas is None else component.replicas
    last = f"{component.name}-{max(1, copies) - 1}"
    if len(last) > _LONGEST_SET:
        text = (
            f"the name of the LeaderWorkerSet {last} has {len(last)} characters, and beyond {_LONGEST_SET} Kubernetes"
        )
        yield Doubt(NODES_FIELD, f"{text} may refuse its pods; shorten the name of the graph or of the service")


def _backend_doubts(start: Start) -> Iterator[Doubt]:
    """What keeps the nodes from working together."""
    component = start.component
    if component.component_type not in WORKER_TYPES:
        text = f"each of the {component.nodes} nodes runs all of it by itself, as only workers are spread over nodes"
        yield Doubt(NODES_FIELD, f"{text}; take multinode out, or set componentType to worker")
        return
    try:
        backend = backend_of(component)
    except Unrenderable as refused:
        yield Doubt(MAIN_FIELD, f"{refused}; start one backend, and name the same in backendFramework", stops=True)
        return
    yield from backend.doubts(start)
