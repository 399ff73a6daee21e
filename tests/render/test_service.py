"""Services of a component."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dynamo_operator.domain import labels
from tests.support.components import SITE, component, rendered, rendered_manifest

STEALING = {labels.STEALING_TRAFFIC: "true"}


def tcp(name: str, port: int, target: object, **more: str) -> dict[str, Any]:
    return {"name": name, "port": port, "targetPort": target, "protocol": "TCP", **more}


PORTS = [
    ("a frontend: HTTP", "frontend", tcp("http", 8000, "http")),
    ("a worker: the system port", "worker", tcp("system", 9090, "system")),
    ("a planner: its metrics", "planner", tcp("metrics", 9085, "metrics")),
    ("an endpoint picker: gRPC over HTTP/2", "epp", tcp("grpc", 9002, 9002, appProtocol="http2")),
    ("an unknown type: the system port", "gadget", tcp("system", 9090, "system")),
]


@pytest.mark.parametrize(("title", "role", "port"), PORTS, ids=[row[0] for row in PORTS])
def test_port(title: str, role: str, port: dict[str, Any]) -> None:
    assert rendered_manifest("Service/llm-decode", component(component_type=role))["spec"]["ports"] == [port]


ALL = {labels.COMPONENT: "Decode", labels.COMPONENT_TYPE: "worker", labels.DYNAMO_NAMESPACE: "demo-llm"}

SELECTORS: list[tuple[str, dict[str, Any], dict[str, str]]] = [
    ("a service of a graph: its type, its key, its Dynamo namespace", {}, ALL),
    ("no type: not selected on", {"component_type": ""}, {k: v for k, v in ALL.items() if k != labels.COMPONENT_TYPE}),
    ("pods without the key: not selected on", {"labels": {}}, {k: v for k, v in ALL.items() if k != labels.COMPONENT}),
    ("pods with another key: that one", {"pod_labels": {labels.COMPONENT: "x"}}, {**ALL, labels.COMPONENT: "x"}),
]


@pytest.mark.parametrize(("title", "changes", "wanted"), SELECTORS, ids=[row[0] for row in SELECTORS])
def test_selector(title: str, changes: dict[str, Any], wanted: dict[str, str]) -> None:
    assert rendered_manifest("Service/llm-decode", component(**changes))["spec"]["selector"] == wanted


BACKEND = {labels.DISCOVERY_BACKEND: "kubernetes"}

DISCOVERY: list[tuple[str, str, str, dict[str, str]]] = [
    (
        "a worker under Kubernetes discovery: to be found",
        "worker",
        "kubernetes",
        {**BACKEND, labels.DISCOVERY_ENABLED: "true"},
    ),
    ("a frontend under Kubernetes discovery: it is the one that looks", "frontend", "kubernetes", BACKEND),
    ("another backend: no labels", "worker", "etcd", {}),
]


@pytest.mark.parametrize(("title", "role", "backend", "wanted"), DISCOVERY, ids=[row[0] for row in DISCOVERY])
def test_discovery_labels(title: str, role: str, backend: str, wanted: dict[str, str]) -> None:
    site = replace(SITE, discovery_backend=backend)
    found = rendered_manifest("Service/llm-decode", component(component_type=role), site)["metadata"]["labels"]
    assert {key: value for key, value in found.items() if "discovery" in key} == wanted


def test_no_debugging_and_there_is_one_service() -> None:
    assert [name for name in rendered(component()) if name.startswith("Service/")] == ["Service/llm-decode"]


def test_debugging_steals_traffic_and_production_and_debug_pods_have_services() -> None:
    found = rendered(component(annotations=STEALING))
    assert [name for name in found if name.startswith("Service/")] == [
        "Service/llm-decode",
        "Service/llm-decode-p",
        "Service/llm-decode-d",
    ]
    debug = found["Service/llm-decode-d"].manifest["spec"]["selector"]
    assert debug == {**ALL, labels.DEPLOYMENT_TARGET: "debug"}
    assert found["Service/llm-decode-p"].manifest["spec"]["selector"] == ALL


def test_a_model_is_served_and_a_headless_service_of_all_who_serve_it_finds_the_pods() -> None:
    child = rendered(component(model="Qwen/Qwen3-0.6B"))["Service/dynamo-model-fb68f5a6"]
    assert (child.shared, child.owned) == (True, False)
    assert child.manifest["metadata"]["labels"] == {
        labels.BASE_MODEL_HASH: "fb68f5a6",
        labels.MANAGED_BY: "dynamo-operator",
    }
    assert child.manifest["metadata"]["annotations"] == {labels.BASE_MODEL: "Qwen/Qwen3-0.6B"}
    assert child.manifest["spec"] == {
        "clusterIP": "None",
        "selector": {labels.BASE_MODEL_HASH: "fb68f5a6"},
        "ports": [tcp("system", 9090, 9090)],
    }
