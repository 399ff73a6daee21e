"""One component deployment per service of a graph (specification: workloads.md 3.7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dynamo_operator.domain.graph import Graph, RestartState, Service
from dynamo_operator.domain.labels import (
    API_VERSION,
    COMPONENT,
    DISCOVERY_BACKEND,
    DYNAMO_NAMESPACE,
    ENABLE_METRICS,
    GRAPH_NAME,
    PLANNER_ACCOUNT,
    RESTART_AT,
)
from dynamo_operator.domain.manifest import Child, Manifest, Tree
from dynamo_operator.domain.names import component_name
from dynamo_operator.domain.site import Site
from dynamo_operator.domain.trees import copied, tree_at, trees_at
from dynamo_operator.render.account_rbac import EPP
from dynamo_operator.render.deployment_config import (
    VARIABLE,
    ServiceArguments,
    parse_service_arguments,
    with_frontend_port,
)
from dynamo_operator.render.endpoint_picker import picker_config
from dynamo_operator.render.exposure import default_exposure, exposure_spec

FRONTEND = "frontend"
PLANNER = "planner"


def render_component_deployment(graph: Graph, service: Service, site: Site, restart: RestartState) -> Child:
    """The component deployment of a service.

    Labels that the user gave a service are left out: they would reach the pod template, where the Go operator has
    none, and taking over would restart every such pod.
    Raises Unrenderable for a deployment config that is no such document.
    """
    labels = {
        COMPONENT: service.key,
        DYNAMO_NAMESPACE: service.dynamo_namespace,
        GRAPH_NAME: graph.name,
    }
    manifest: Manifest = {
        "apiVersion": API_VERSION,
        "kind": "DynamoComponentDeployment",
        "metadata": {
            "name": component_name(graph.name, service.key),
            "namespace": graph.namespace,
            "labels": labels,
        },
        "spec": {**_spec(graph, service, site, restart), "labels": dict(labels)},
    }
    return Child(manifest)


def _spec(graph: Graph, service: Service, site: Site, restart: RestartState) -> dict[str, Any]:
    spec = copied(service.spec)
    spec |= {"serviceName": service.key, "dynamoNamespace": service.dynamo_namespace}
    if graph.backend_framework:
        spec["backendFramework"] = graph.backend_framework
    annotations = _annotations(graph, service, restart)
    if annotations:
        spec["annotations"] = annotations
    if service.component_type == PLANNER:
        spec["extraPodSpec"] = {**tree_at(spec, "extraPodSpec"), "serviceAccountName": PLANNER_ACCOUNT}
    if service.component_type == FRONTEND and "ingress" not in spec:
        spec["ingress"] = exposure_spec(default_exposure(graph, site))
    if service.component_type == EPP and service.endpoint_picker and service.endpoint_picker.inline is not None:
        spec["eppConfig"] = {"config": picker_config(service.endpoint_picker)}
    if graph.envs:
        spec["envs"] = merged_envs(graph.envs, trees_at(spec, "envs"))
    return _configured(spec, service)


def _annotations(graph: Graph, service: Service, restart: RestartState) -> dict[str, Any]:
    inherited = {key: graph.annotations[key] for key in (ENABLE_METRICS, DISCOVERY_BACKEND) if key in graph.annotations}
    restart_id = restart.id if service.key in restart.services else restart.existing.get(service.key, "")
    restarted = {RESTART_AT: restart_id} if restart_id else {}
    return {**tree_at(service.spec, "annotations"), **inherited, **restarted}


def merged_envs(base: Sequence[Tree], specific: Sequence[Tree]) -> list[dict[str, Any]]:
    """Both lists by name, whole entries of the second replacing those of the first, sorted by name."""
    by_name = {str(entry.get("name", "")): entry for entry in (*base, *specific)}
    return [copied(by_name[name]) for name in sorted(by_name)]


def _configured(spec: dict[str, Any], service: Service) -> dict[str, Any]:
    envs = trees_at(spec, "envs")
    place = next((i for i, env in enumerate(envs) if env.get("name") == VARIABLE), None)
    # A value that comes from elsewhere is not known here; the pods read it themselves.
    if place is None or "valueFrom" in envs[place]:
        return spec
    document = str(envs[place].get("value", ""))
    if service.component_type == FRONTEND:
        document = with_frontend_port(document, service.key)
        spec["envs"] = [*envs[:place], {**envs[place], "value": document}, *envs[place + 1 :]]
    return _sized(spec, parse_service_arguments(document, service.key), service)


def _sized(spec: dict[str, Any], wanted: ServiceArguments, service: Service) -> dict[str, Any]:
    if wanted.workers is not None and service.replicas is None:
        spec["replicas"] = wanted.workers
    said: dict[str, Any] = dict(wanted.amounts)
    if wanted.custom is not None:
        said["custom"] = wanted.custom
    if said:
        resources = tree_at(spec, "resources")
        spec["resources"] = {**resources, **{side: _side(resources, side, said) for side in ("requests", "limits")}}
    return spec


def _side(resources: Tree, side: str, said: Mapping[str, Any]) -> dict[str, Any]:
    return {**tree_at(resources, side), **copied(said)}
