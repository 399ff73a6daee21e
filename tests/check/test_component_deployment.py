"""What a stored component deployment must be, and what is read from it."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_operator.check.component_deployment import (
    check_component,
    component_deployment_violations,
    component_deployment_warnings,
)
from dynamo_operator.domain.component import (
    EndpointPicker,
    Exposure,
    ResourceAmounts,
    Resources,
    SharedMemory,
    VolumeMount,
)
from dynamo_operator.domain.outcome import Rejected
from tests.support.graphs import SITE, source

FULL: dict[str, Any] = {
    "serviceName": "W",
    "backendFramework": "vllm",
    "dynamoNamespace": "old",
    "multinode": {"nodeCount": 2},
    "resources": {"limits": {"gpu": "1", "gpuType": "x/y", "custom": {"a": "1"}}, "claims": [{"name": "c"}]},
    "volumeMounts": [{"name": "v", "mountPoint": "/v"}],
    "ingress": {"enabled": True, "host": "h", "hostSuffix": "s", "tls": {"secretName": "t"}},
    "modelRef": {"name": "m"},
    "sharedMemory": {"size": "1Gi"},
    "extraPodMetadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
    "extraPodSpec": {"nodeName": "n", "mainContainer": {"image": "i"}},
    "eppConfig": {"configMapRef": {"name": "cm", "key": "k"}},
}


def test_every_field_arrives() -> None:
    component = check_component(source(FULL, graph="dgd", labels={"l": "1"}), SITE)
    assert (component.service, component.graph, component.nodes, component.model) == ("W", "dgd", 2, "m")
    assert (component.dynamo_namespace, component.declared_namespace) == ("ns-dgd", "old")
    assert component.object_labels == {"l": "1"}
    assert component.resources == Resources(
        limits=ResourceAmounts(gpu="1", gpu_type="x/y", custom={"a": "1"}), claims=({"name": "c"},)
    )
    assert component.volume_mounts == (VolumeMount("v", "/v"),)
    assert component.exposure == Exposure(enabled=True, host="h", host_suffix="s", tls_secret="t")
    assert component.shared_memory == SharedMemory(size="1Gi")
    assert (component.pod_labels, component.pod_annotations) == ({"a": "b"}, {"c": "d"})
    assert (component.pod_spec, component.main_container) == ({"nodeName": "n"}, {"image": "i"})
    assert component.endpoint_picker == EndpointPicker(config_map="cm", key="k")


def test_nothing_given_nothing_invented() -> None:
    component = check_component(source({"ingress": {}}), SITE)
    assert component.exposure == Exposure()
    assert (component.replicas, component.nodes, component.resources, component.shared_memory) == (None, 1, None, None)
    assert (component.pod_spec, component.main_container, component.endpoint_picker) == ({}, {}, None)


ETCD = {"annotations": {"nvidia.com/dynamo-discovery-backend": "etcd"}}
NAMESPACES: list[tuple[str, str, dict[str, Any], str]] = [
    ("of a graph: computed from it", "dgd", {"dynamoNamespace": "mine"}, "ns-dgd"),
    ("shared: the one of all", "", {"dynamoNamespace": "mine", "globalDynamoNamespace": True}, "dynamo"),
    ("alone where upstream makes no pod: the declared one", "", {"dynamoNamespace": "mine"}, "mine"),
    ("alone under etcd: upstream's, so that pods stay", "", {"dynamoNamespace": "mine", **ETCD}, "ns-"),
    (
        "alone with an account: upstream's, so that pods stay",
        "",
        {"dynamoNamespace": "mine", "extraPodSpec": {"serviceAccountName": "a"}},
        "ns-",
    ),
    (
        "a planner alone has an account: upstream's, so that pods stay",
        "",
        {"dynamoNamespace": "mine", "componentType": "planner"},
        "ns-",
    ),
    ("alone and nothing declared: upstream's", "", {}, "ns-"),
]


@pytest.mark.parametrize(("graph", "spec", "wanted"), [n[1:] for n in NAMESPACES], ids=[n[0] for n in NAMESPACES])
def test_dynamo_namespace(graph: str, spec: dict[str, Any], wanted: str) -> None:
    assert check_component(source(spec, graph=graph), SITE).dynamo_namespace == wanted


VIOLATIONS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("a good one: nothing against it", {"componentType": "epp", "eppConfig": {"config": {}}}, []),
    (
        "a broken rule: the path is spec",
        {"sharedMemory": {}},
        ["spec.sharedMemory.size is required when disabled is false"],
    ),
    ("another shape: the path is named", {"replicas": "2"}, ["spec.replicas: expected `int | null`, got `str`"]),
]


@pytest.mark.parametrize(("spec", "texts"), [v[1:] for v in VIOLATIONS], ids=[v[0] for v in VIOLATIONS])
def test_violations(spec: dict[str, Any], texts: list[str]) -> None:
    assert [v.message for v in component_deployment_violations(source(spec))] == texts
    if texts:
        with pytest.raises(Rejected, match="spec"):
            check_component(source(spec), SITE)


def test_the_operator_s_own_namespace_is_no_news_another_is() -> None:
    assert component_deployment_warnings(source({"dynamoNamespace": "ns-dgd"}, graph="dgd")) == []
    (warning,) = component_deployment_warnings(source({"dynamoNamespace": "abc"}))
    assert warning.startswith("spec.dynamoNamespace is deprecated and ignored. Value 'abc' will be replaced with 'ns-'")
