"""The component deployment of a service."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dynamo_operator.domain.graph import RestartState
from dynamo_operator.domain.pathway import Circumstances
from dynamo_operator.domain.site import Site
from dynamo_operator.render.graph import render_services
from tests.support.graphs import SITE, graph_of

CONFIG = "DYN_DEPLOYMENT_CONFIG"
NOTHING = RestartState()


def render(
    service: dict[str, Any], *, site: Site = SITE, restart: RestartState = NOTHING, **graph: Any
) -> dict[str, Any]:
    """The spec of the component deployment of service ``S``."""
    (child,) = render_services(graph_of({"S": service}, **graph), site, Circumstances(restart)).workloads
    return child.manifest["spec"]


def test_whole_manifest() -> None:
    graph = graph_of({"Work": {"replicas": 2}}, backendFramework="vllm")
    (child,) = render_services(graph, SITE, Circumstances()).workloads
    labels = {
        "nvidia.com/dynamo-component": "Work",
        "nvidia.com/dynamo-namespace": "ns-g",
        "nvidia.com/dynamo-graph-deployment-name": "g",
    }
    assert child.manifest == {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoComponentDeployment",
        "metadata": {"name": "g-work", "namespace": "ns", "labels": labels},
        "spec": {
            "replicas": 2,
            "serviceName": "Work",
            "dynamoNamespace": "ns-g",
            "backendFramework": "vllm",
            "labels": labels,
        },
    }


METRICS = {"nvidia.com/enable-metrics": "false", "other": "x"}
MINE = {"a": "1", "nvidia.com/enable-metrics": "true"}
RESTARTED = RestartState(id="r2", services=frozenset({"S"}), existing={"S": "r1"})
KEPT = RestartState(id="r2", existing={"S": "r1"})
ANNOTATIONS: list[tuple[str, dict[str, str], dict[str, str], RestartState, dict[str, str] | None]] = [
    ("none anywhere: none", {}, {}, NOTHING, None),
    ("the graph's steering ones win", METRICS, MINE, NOTHING, {"a": "1", "nvidia.com/enable-metrics": "false"}),
    ("restarted now: the new id", {}, {}, RESTARTED, {"nvidia.com/restartAt": "r2"}),
    ("restarted before: the old id stays", {}, {}, KEPT, {"nvidia.com/restartAt": "r1"}),
]


@pytest.mark.parametrize(
    ("graph", "mine", "restart", "wanted"), [a[1:] for a in ANNOTATIONS], ids=[a[0] for a in ANNOTATIONS]
)
def test_annotations(
    graph: dict[str, str], mine: dict[str, str], restart: RestartState, wanted: dict[str, str] | None
) -> None:
    assert (
        render({"annotations": mine} if mine else {}, restart=restart, annotations=graph).get("annotations") == wanted
    )


def test_labels_of_the_user_are_left_out_because_they_would_reach_pods() -> None:
    assert "mine" not in render({"labels": {"mine": "x"}})["labels"]


def test_planner_uses_its_account_whatever_the_user_says() -> None:
    spec = render({"componentType": "planner", "extraPodSpec": {"serviceAccountName": "mine", "nodeName": "n"}})
    assert spec["extraPodSpec"] == {"serviceAccountName": "planner-serviceaccount", "nodeName": "n"}


FULL = replace(
    SITE, ingress_class="nginx", ingress_tls_secret="t", ingress_host_suffix="x.io", virtual_service_gateway="i/g"
)
INGRESSES: list[tuple[str, dict[str, Any], Site, dict[str, Any] | None]] = [
    ("a frontend and no settings: the host only", {"componentType": "frontend"}, SITE, {"host": "g"}),
    (
        "a frontend and all settings: all of them",
        {"componentType": "frontend"},
        FULL,
        {
            "host": "g",
            "enabled": True,
            "useVirtualService": True,
            "virtualServiceGateway": "i/g",
            "ingressControllerClassName": "nginx",
            "tls": {"secretName": "t"},
            "hostSuffix": "x.io",
        },
    ),
    ("the user's own: taken as it is", {"componentType": "frontend", "ingress": {}}, FULL, {}),
    ("a worker: none", {"componentType": "worker"}, FULL, None),
]


@pytest.mark.parametrize(("service", "site", "wanted"), [i[1:] for i in INGRESSES], ids=[i[0] for i in INGRESSES])
def test_default_ingress(service: dict[str, Any], site: Site, wanted: dict[str, Any] | None) -> None:
    assert render(service, site=site).get("ingress") == wanted


B, A = {"name": "B", "value": "1"}, {"name": "A", "valueFrom": {"x": {}}}


def test_no_graph_variables_the_service_s_stay_in_order() -> None:
    assert render({"envs": [B, A]})["envs"] == [B, A]


def test_graph_variables_are_merged_by_name_and_sorted() -> None:
    base = [{"name": "A", "value": "graph"}, {"name": "DYN_X", "value": "1"}, {"name": "DYNAMO", "value": "2"}]
    assert render({"envs": [B, A]}, envs=base)["envs"] == [A, B, base[2], base[1]]


def configured(document: str, **service: Any) -> dict[str, Any]:
    return render({"envs": [{"name": CONFIG, "value": document}], **service})


def test_deployment_config_sizes_a_worker_and_keeps_its_text() -> None:
    document = '{"S": {"ServiceArgs": {"Workers": 3, "Resources": {"GPU": "2", "custom": {"a/b": "1"}}}}}'
    spec = configured(document, resources={"requests": {"cpu": "1", "gpu": "1", "custom": {"c": "1"}}})
    assert spec["replicas"] == 3
    assert spec["envs"][0]["value"] == document
    assert spec["resources"] == {
        "requests": {"cpu": "1", "gpu": "2", "custom": {"a/b": "1"}},
        "limits": {"gpu": "2", "custom": {"a/b": "1"}},
    }


def test_replicas_of_the_spec_win_over_the_deployment_config() -> None:
    assert configured('{"S": {"ServiceArgs": {"workers": 3}}}', replicas=1)["replicas"] == 1


def test_frontend_s_port_is_written_into_the_deployment_config() -> None:
    spec = configured('{"S": {"port": 1}, "B": {}}', componentType="frontend")
    assert spec["envs"] == [{"name": CONFIG, "value": '{"B":{},"S":{"port":8000}}'}]


def test_deployment_config_from_elsewhere_is_left_to_the_pods() -> None:
    env = {"name": CONFIG, "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}}
    assert render({"envs": [env], "componentType": "frontend"})["envs"] == [env]


def test_picker_s_configuration_says_the_kind_that_it_gets() -> None:
    spec = render({"componentType": "epp", "eppConfig": {"config": {"kind": "Mine", "plugins": []}}})
    assert spec["eppConfig"]["config"] == {
        "apiVersion": "inference.networking.x-k8s.io/v1alpha1",
        "kind": "EndpointPickerConfig",
        "plugins": [],
    }
