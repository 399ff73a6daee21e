"""Defaults of the component types."""

from __future__ import annotations

import pytest

from dynamo_operator.domain.component import EndpointPicker
from dynamo_operator.render.components.registry import component_type_named
from tests.support.components import component, rendered_main, rendered_pod

PORTS = [
    ("frontend", [("http", 8000)]),
    ("worker", [("system", 9090)]),
    ("prefill", [("system", 9090)]),
    ("decode", [("system", 9090)]),
    ("planner", [("metrics", 9085)]),
    ("epp", [("grpc", 9002), ("grpc-health", 9003), ("metrics", 9090)]),
    ("gadget", []),
    ("", []),
]


@pytest.mark.parametrize(("role", "ports"), PORTS, ids=[row[0] for row in PORTS])
def test_ports(role: str, ports: list[tuple[str, int]]) -> None:
    found = rendered_main(component(component_type=role)).get("ports", [])
    assert [(port["name"], port["containerPort"]) for port in found] == ports


VARIABLES = [
    ("frontend", {"DYNAMO_PORT": "8000", "DYN_HTTP_PORT": "8000"}),
    (
        "worker",
        {
            "DYN_SYSTEM_ENABLED": "true",
            "DYN_SYSTEM_PORT": "9090",
            "DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS": '["generate"]',
            "DYN_HEALTH_CHECK_ENABLED": "false",
        },
    ),
    ("planner", {"PLANNER_PROMETHEUS_PORT": "9085"}),
    (
        "epp",
        {
            "DYN_KV_BLOCK_SIZE": "16",
            "DYN_DISCOVERY_TIMEOUT_SEC": "300",
            "USE_STREAMING": "true",
            "RUST_LOG": "debug,dynamo_llm::kv_router=trace",
        },
    ),
    ("gadget", {}),
]


@pytest.mark.parametrize(("role", "wanted"), VARIABLES, ids=[row[0] for row in VARIABLES])
def test_variables(role: str, wanted: dict[str, str]) -> None:
    assert component_type_named(role).defaults(component()).environment == wanted


def test_defaults_are_changed_by_somebody_and_the_next_ones_are_as_before() -> None:
    kind = component_type_named("frontend")
    kind.defaults(component()).container["livenessProbe"]["httpGet"]["path"] = "/broken"
    assert kind.defaults(component()).container["livenessProbe"]["httpGet"]["path"] == "/live"


def test_an_endpoint_picker_runs_its_image_with_our_arguments() -> None:
    main = rendered_main(component(component_type="epp"))
    assert "command" not in main
    assert main["args"] == [
        *("-pool-name", "llm-pool", "-pool-namespace", "demo"),
        *("-pool-group", "inference.networking.k8s.io", "-v", "4", "--zap-encoder", "json"),
        *("-grpc-port", "9002", "-grpc-health-port", "9003", "-config-file", "/etc/epp/epp-config-dynamo.yaml"),
    ]


def test_an_endpoint_picker_has_its_own_account_and_time_to_finish() -> None:
    pod = rendered_pod(component(component_type="epp"))
    assert (pod["serviceAccountName"], pod["terminationGracePeriodSeconds"]) == ("epp-serviceaccount", 130)


CONFIGURATIONS = [
    (
        "inline: the graph's ConfigMap",
        EndpointPicker(inline={"plugins": []}),
        "llm-epp-config",
        "epp-config-dynamo.yaml",
    ),
    ("none: the graph's ConfigMap", None, "llm-epp-config", "epp-config-dynamo.yaml"),
    ("the user's: that ConfigMap and key", EndpointPicker("own", "c.yaml"), "own", "c.yaml"),
    ("the user's without a key: our key", EndpointPicker("own"), "own", "epp-config-dynamo.yaml"),
]


@pytest.mark.parametrize(("title", "picker", "name", "key"), CONFIGURATIONS, ids=[row[0] for row in CONFIGURATIONS])
def test_configuration_of_an_endpoint_picker(title: str, picker: EndpointPicker | None, name: str, key: str) -> None:
    volume = rendered_pod(component(component_type="epp", endpoint_picker=picker))["volumes"][0]
    item = {"key": key, "path": "epp-config-dynamo.yaml"}
    assert volume == {"name": "epp-config", "configMap": {"name": name, "items": [item]}}
