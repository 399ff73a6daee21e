"""A real API server takes our definitions, and refuses, prunes and fills in what they say."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from dynamo_operator.api.crd import crd_yaml
from dynamo_operator.api.kinds import KINDS
from tests.support.cluster import ControlPlane

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def served(control_plane: ControlPlane) -> ControlPlane:
    """The control plane with our definitions, put there the way a careless user would: by a client-side apply."""
    control_plane.kubectl("apply", "-f", "-", stdin="---\n".join(crd_yaml(kind) for kind in KINDS))
    names = [f"crd/{kind.crd_name}" for kind in KINDS]
    control_plane.kubectl("wait", "--for=condition=Established", "--timeout=30s", *names)
    return control_plane


def made(served: ControlPlane, namespace: str, kind: str, spec: dict[str, Any], *options: str) -> dict[str, Any]:
    """The object as the API server stores it; fails the test with the refusal."""
    document = {"apiVersion": "nvidia.com/v1alpha1", "kind": kind, "metadata": {"name": "x"}, "spec": spec}
    options = options or ("--validate=ignore",)
    return json.loads(
        served.kubectl("create", "-n", namespace, "-o", "json", *options, "-f", "-", stdin=yaml.safe_dump(document))
    )


def test_no_definition_breaks_a_structural_rule(served: ControlPlane) -> None:
    for kind in KINDS:
        definition = json.loads(served.kubectl("get", "crd", kind.crd_name, "-o", "json"))
        conditions = {condition["type"]: condition["status"] for condition in definition["status"]["conditions"]}
        assert conditions == {"NamesAccepted": "True", "Established": "True"}


def test_a_server_side_apply_takes_them_too(served: ControlPlane) -> None:
    for kind in KINDS:
        served.kubectl(
            "apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", "-", stdin=crd_yaml(kind)
        )


DGD = "DynamoGraphDeployment"

REFUSED = [
    ("claim to make without its details (V04)", DGD, {"services": {}, "pvcs": [{"name": "x", "create": True}]},
     "When create is true, size, storageClass, and volumeAccessMode are required"),
    ("GPU count as a number", DGD, {"services": {"a": {"resources": {"limits": {"gpu": 1}}}}}, "limits.gpu"),
    ("unknown backend", DGD, {"backendFramework": "other"}, "backendFramework"),
    ("one node", DGD, {"services": {"a": {"multinode": {"nodeCount": 1}}}}, "nodeCount"),
    ("too many services", DGD, {"services": {f"s{n}": {} for n in range(26)}}, "must have at most 25 items"),
    ("too many claims", DGD, {"pvcs": [{"name": "a"}] * 101}, "must have at most 100 items"),
    ("variable twice in a container", DGD, {"services": {"a": {"extraPodSpec": {"mainContainer": {
        "env": [{"name": "A"}, {"name": "A"}]}}}}}, "Duplicate value"),
    ("extra container without a name", DGD, {"services": {"a": {"extraPodSpec": {"containers": [{}]}}}}, "name"),
    ("empty restart id", DGD, {"restart": {"id": ""}}, "restart.id"),
    ("request without an image", "DynamoGraphDeploymentRequest", {"model": "m", "backend": "vllm",
        "profilingConfig": {}}, "profilerImage"),
    ("adapter without a target", "DynamoGraphDeploymentScalingAdapter", {"replicas": 1}, "dgdRef"),
    ("unknown type of model", "DynamoModel", {"modelName": "a", "baseModelName": "b", "modelType": "c"}, "modelType"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "spec", "complaint"), [pytest.param(*row[1:], id=row[0]) for row in REFUSED])
def test_refused(served: ControlPlane, namespace: str, kind: str, spec: dict[str, Any], complaint: str) -> None:
    with pytest.raises(AssertionError, match="is invalid") as refusal:
        made(served, namespace, kind, spec)
    assert complaint in str(refusal.value)


def test_defaults_are_filled_in_and_unknown_fields_dropped(served: ControlPlane, namespace: str) -> None:
    service = {
        "multinode": {},
        "scalingAdapter": {},
        "volumeMounts": [{"name": "v"}],
        "replica": 2,
        "extraPodSpec": {"mainContainer": {"comand": ["a"], "ports": [{"containerPort": 80}]}},
        "eppConfig": {"config": {"plugins": [{"type": "a", "parameters": {"b": 1}}], "schedulingProfiles": [], "c": 1}},
    }
    stored = made(served, namespace, DGD, {"services": {"a": service}, "restart": {"id": "1", "strategy": {}}})["spec"]
    assert stored["restart"]["strategy"] == {"type": "Sequential"}
    assert stored["services"]["a"] == {
        "multinode": {"nodeCount": 2},
        "scalingAdapter": {"enabled": False},
        "volumeMounts": [{"name": "v", "useAsCompilationCache": False}],
        "extraPodSpec": {"mainContainer": {"ports": [{"containerPort": 80, "protocol": "TCP"}]}},
        "eppConfig": service["eppConfig"],
    }


def test_a_misspelt_field_is_named_when_strictness_is_asked_for(served: ControlPlane, namespace: str) -> None:
    with pytest.raises(AssertionError, match=r'unknown field "spec\.services\.a\.replica"'):
        made(served, namespace, DGD, {"services": {"a": {"replica": 2}}}, "--validate=strict")


def test_columns_and_short_names(served: ControlPlane, namespace: str) -> None:
    made(served, namespace, "DynamoComponentDeployment", {"serviceName": "Worker", "backendFramework": "vllm"})
    made(served, namespace, "DynamoModel", {"modelName": "a", "baseModelName": "llama", "modelType": "lora"})
    header, row = served.kubectl("get", "dcd", "-n", namespace).splitlines()
    assert header.split() == ["NAME", "DYNAMOCOMPONENT", "AVAILABLE", "BACKEND", "AGE"]
    assert row.split()[:3] == ["x", "Worker", "vllm"]
    for short_name in ("dm", "dmodel"):
        assert "llama" in served.kubectl("get", short_name, "-n", namespace)


def test_an_adapter_scales_like_a_deployment(served: ControlPlane, namespace: str) -> None:
    target = {"name": "g", "serviceName": "a"}
    made(served, namespace, "DynamoGraphDeploymentScalingAdapter", {"replicas": 1, "dgdRef": target})
    served.kubectl("scale", "dgdsa/x", "-n", namespace, "--replicas=3")
    assert served.kubectl("get", "dgdsa/x", "-n", namespace, "-o", "jsonpath={.spec.replicas}") == "3"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("dgd.spec.services", "The components of the graph by name"),
        ("dgd.spec.services.envs", "a variable of the graph beats the same name"),
        ("dgd.spec.services.annotations", "nvidia.com/deployment-strategy"),
        ("dcd.spec.dynamoNamespace", "Deprecated: leave it out"),
        ("dgdr.spec.profilingConfig", "How the model is profiled"),
    ],
)
def test_explain_teaches(served: ControlPlane, path: str, text: str) -> None:
    assert text in " ".join(served.kubectl("explain", path).split())
