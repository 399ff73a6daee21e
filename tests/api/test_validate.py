"""Every fault of a document is found offline, and named as users write it."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_operator.api.crd import crds
from dynamo_operator.api.kinds import BY_NAME
from dynamo_operator.api.validate import RULES, Finding, validate_document


def graph(**spec: Any) -> dict[str, Any]:
    return document("DynamoGraphDeployment", spec)


def service(**spec: Any) -> dict[str, Any]:
    return graph(services={"Worker": spec})


def document(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": kind, "metadata": {"name": "x", "any": None}, "spec": spec}


NAME_RULE = "must be lower-case letters, digits, dashes and dots, at most 253, with a letter or digit at both ends"
NAMED = {"apiVersion": "nvidia.com/v1alpha1", "metadata": {"name": "x"}}


MAIN = "spec.services[Worker].extraPodSpec.mainContainer"

ROWS = [
    ("text for a number", service(replicas="two"), "spec.services[Worker].replicas", 'must be an integer, not "two"'),
    ("number for text: says to quote it", service(resources={"limits": {"gpu": 1}}),
     "spec.services[Worker].resources.limits.gpu", 'must be text, not 1; write it in quotes: "1"'),
    ("object for text: nothing to quote", service(envFromSecret={}), "spec.services[Worker].envFromSecret",
     "must be text, not {}"),
    ("list for an object", graph(services=[]), "spec.services", "must be an object, not []"),
    ("text for a switch", service(globalDynamoNamespace="yes"), "spec.services[Worker].globalDynamoNamespace",
     'must be true or false, not "yes"'),
    ("object for a list", graph(pvcs={}), "spec.pvcs", "must be a list, not {}"),
    ("null in a list", graph(pvcs=[None]), "spec.pvcs[0]", "must be an object, not null"),
    ("unknown choice, near a known one: suggests it", graph(backendFramework="vlm"), "spec.backendFramework",
     'must be one of sglang, vllm, trtllm, not "vlm"; did you mean vllm?'),
    ("unknown choice, near none", graph(backendFramework="onnx"), "spec.backendFramework",
     'must be one of sglang, vllm, trtllm, not "onnx"'),
    ("too few nodes", service(multinode={"nodeCount": 1}), "spec.services[Worker].multinode.nodeCount",
     "must be at least 2, not 1"),
    ("too large for the integer that Go has", service(replicas=2**31), "spec.services[Worker].replicas",
     "must be at most 2147483647, not 2147483648"),
    ("too small for the integer that Go has", document("DynamoGraphDeploymentScalingAdapter", {
        "replicas": -1, "dgdRef": {"name": "a", "serviceName": "b"}}), "spec.replicas", "must be at least 0, not -1"),
    ("empty id", graph(restart={"id": ""}), "spec.restart.id", "must not be empty"),
    ("missing member", graph(restart={}), "spec.restart.id", "is required"),
    ("too many services", graph(services={f"s{n}": {} for n in range(26)}), "spec.services",
     "must have at most 25 entries, not 26"),
    ("too many claims", graph(pvcs=[{"name": "a"}] * 101), "spec.pvcs", "must have at most 100 entries, not 101"),
    ("size that is no quantity", service(sharedMemory={"size": "much"}), "spec.services[Worker].sharedMemory.size",
     'must be a quantity such as 8Gi, 500m or 2, not "much"'),
    ("size of the wrong type", service(sharedMemory={"size": True}), "spec.services[Worker].sharedMemory.size",
     "must be an integer or text, not true"),
    ("misspelt field: suggests the known one", service(extraPodSpec={"mainContainer": {"comand": ["a"]}}),
     f"{MAIN}.comand", "is not a known field and would be dropped; did you mean command?"),
    ("field in another case: suggests the known one", service(envfromsecret="a"), "spec.services[Worker].envfromsecret",
     "is not a known field and would be dropped; did you mean envFromSecret?"),
    ("unknown field, near none", graph(zzz=1), "spec.zzz", "is not a known field and would be dropped"),
    ("variable set twice in a container", service(extraPodSpec={"mainContainer": {"env": [{"name": "A"}] * 2}}),
     f"{MAIN}.env[1]", 'repeats name "A" of an earlier entry'),
    ("port set twice, protocol left to its default", service(extraPodSpec={"mainContainer": {"ports": [
        {"containerPort": 80}, {"containerPort": 80, "protocol": "TCP"}]}}), f"{MAIN}.ports[1]",
     'repeats containerPort 80 and protocol "TCP" of an earlier entry'),
    ("exit code twice in a set", service(extraPodSpec={"mainContainer": {"restartPolicyRules": [
        {"action": "Restart", "exitCodes": {"operator": "In", "values": [1, 1]}}]}}),
     f"{MAIN}.restartPolicyRules[0].exitCodes.values[1]", "repeats 1 of an earlier entry"),
    ("claim to make without its details", graph(pvcs=[{"name": "a", "create": True}]), "spec.pvcs[0]",
     "When create is true, size, storageClass, and volumeAccessMode are required"),
    ("unknown kind, near a known one", document("DynamoModl", {}), "kind",
     f'must be one of {", ".join(BY_NAME)}, not "DynamoModl"; did you mean DynamoModel?'),
    ("other version", {"apiVersion": "nvidia.com/v1", "kind": "DynamoModel"}, "apiVersion",
     'must be nvidia.com/v1alpha1, not "nvidia.com/v1"'),
    ("adapter without spec", NAMED | {"kind": "DynamoGraphDeploymentScalingAdapter"},
     "spec", "is required"),
    ("no name", graph() | {"metadata": {}}, "metadata.name", "is required"),
    ("no metadata", graph() | {"metadata": None}, "metadata.name", "is required"),
    ("name that Kubernetes does not take", graph() | {"metadata": {"name": "My_Graph"}}, "metadata.name",
     f'{NAME_RULE}, not "My_Graph"'),
    ("kind that is no text", {"kind": ["DynamoModel"]}, "kind",
     f'must be one of {", ".join(BY_NAME)}, not ["DynamoModel"]; did you mean DynamoModel?'),
    ("namespace that Kubernetes does not take", graph() | {"metadata": {"name": "a", "namespace": "a.b"}},
     "metadata.namespace",
     'must be lower-case letters, digits and dashes, at most 63, with a letter or digit at both ends, not "a.b"'),
    ("labels that are no map", graph() | {"metadata": {"name": "a", "labels": [1]}}, "metadata.labels",
     "must be an object, not [1]"),
    ("annotation that is no text", graph() | {"metadata": {"name": "a", "annotations": {"b": 1}}},
     "metadata.annotations[b]", 'must be text, not 1; write it in quotes: "1"'),
    ("long value: shortened", graph(backendFramework="x" * 80), "spec.backendFramework",
     f'must be one of sglang, vllm, trtllm, not "{"x" * 56}...'),
]  # fmt: skip


@pytest.mark.parametrize(("value", "path", "message"), [pytest.param(*row[1:], id=row[0]) for row in ROWS])
def test_fault(value: dict[str, Any], path: str, message: str) -> None:
    assert [finding[:2] for finding in validate_document(value)] == [(path, message)]


CONDITION = {"type": "Ready", "status": "True", "reason": "Fine", "message": "", "lastTransitionTime": "2024-01-01"}

LIMITS = [
    ("reason with blanks", {"reason": "not fine"}, "status.conditions[0].reason",
     'must match ^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$, and "not fine" does not'),
    ("message too long", {"message": "x" * 32769}, "status.conditions[0].message",
     "must have at most 32768 characters, not 32769"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "path", "message"), [pytest.param(*row[1:], id=row[0]) for row in LIMITS])
def test_fault_in_a_status(change: dict[str, Any], path: str, message: str) -> None:
    value = graph() | {"status": {"conditions": [CONDITION | change]}}
    assert validate_document(value) == [Finding(path, message)]


FINE = [
    ("no spec: the webhook's rules say what is missing", NAMED | {"kind": "DynamoModel"}),
    ("empty service", service()),
    ("name that the API server makes up", graph() | {"metadata": {"generateName": "x-"}}),
    ("empty multinode: defaulted before it is checked", service(multinode={})),
    ("null members: dropped before they are checked", service(replicas=None, multinode=None)),
    ("variables of this API may repeat a name", graph(envs=[{"name": "A"}, {"name": "A"}])),
    ("claims may repeat a name", graph(pvcs=[{"name": "a"}, {"name": "a"}])),
    ("claim that exists already", graph(pvcs=[{"name": "a", "create": False}])),
    ("claim to make, with its details", graph(pvcs=[
        {"name": "a", "create": True, "size": 1, "storageClass": "", "volumeAccessMode": ""}])),
    ("sizes as numbers and text", service(sharedMemory={"size": 1024}, extraPodSpec={"mainContainer": {
        "resources": {"limits": {"cpu": 2, "memory": "8Gi"}}}})),
    ("members of inline picker settings that are not known here", service(eppConfig={"config": {
        "plugins": [{"type": "a", "parameters": {"b": [1]}}], "schedulingProfiles": [], "later": True}})),
    ("plugin parameters as text, as before", service(eppConfig={"config": {
        "plugins": [{"type": "a", "parameters": "e30="}], "schedulingProfiles": []}})),
]  # fmt: skip


@pytest.mark.parametrize("value", [pytest.param(row[1], id=row[0]) for row in FINE])
def test_nothing_to_say(value: dict[str, Any]) -> None:
    assert validate_document(value) == []


def test_only_unknown_fields_are_dropped_instead_of_refused() -> None:
    faults = validate_document(service(replicas="two", replica=2))
    assert [(fault.path.rsplit(".", 1)[-1], fault.dropped) for fault in faults] == [
        ("replica", True),
        ("replicas", False),
    ]


def test_all_faults_are_found_at_once_in_the_order_of_their_paths() -> None:
    faults = validate_document(service(replicas="two", multinode={"nodeCount": 1}, replica=2))
    assert [fault.path.rsplit(".", 1)[-1] for fault in faults] == ["nodeCount", "replica", "replicas"]


def test_entries_without_their_key_are_told_once_and_not_as_repetitions() -> None:
    faults = validate_document(service(extraPodSpec={"mainContainer": {"env": [{}, {}, 1]}}))
    assert [str(fault) for fault in faults] == [
        f"{MAIN}.env[0].name: is required",
        f"{MAIN}.env[1].name: is required",
        f"{MAIN}.env[2]: must be an object, not 1",
    ]


def test_a_finding_without_a_path_is_its_message() -> None:
    assert str(Finding("", "is wrong")) == "is wrong"


def rules(node: Any) -> set[str]:
    """Every CEL rule in a tree."""
    if isinstance(node, dict):
        own = {rule["rule"] for rule in node.get("x-kubernetes-validations", ())}
        return own.union(*(rules(value) for value in node.values()))
    return set().union(*(rules(item) for item in node)) if isinstance(node, list) else set()


def test_every_rule_of_the_crds_is_understood_offline() -> None:
    assert rules(crds()) == set(RULES)
