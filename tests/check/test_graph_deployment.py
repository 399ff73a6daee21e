"""What a stored graph must be."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_operator.check.graph_deployment import check_graph, graph_violations, graph_warnings
from dynamo_operator.domain.component import EndpointPicker
from dynamo_operator.domain.graph import Claim, Restart
from dynamo_operator.domain.outcome import Rejected
from dynamo_operator.domain.site import Site
from tests.support.graphs import SITE, graph_of, source

WORKER: dict[str, Any] = {"main": {}}
NO_CREATE = "is required when create is true"
ORDER = "spec.restart.strategy.order"
PODS = "spec.services[main].multinode.nodeCount: times replicas makes"
EPP: dict[str, Any] = {"componentType": "epp"}


def ordered(order: list[str], kind: str = "Sequential") -> dict[str, Any]:
    strategy = {"type": kind, "order": order}
    return {"services": {"a": {}, "b": {}}, "restart": {"id": "1", "strategy": strategy}}


def one(spec: dict[str, Any]) -> dict[str, Any]:
    return {"services": {"main": spec}}


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("no spec: a service is asked for", {}, "spec.services must have at least one service"),
    (
        "a null service: it counts as absent",
        {"services": {"a": None}},
        "spec.services must have at least one service",
    ),
    (
        "an empty claim: all its problems at once",
        {"services": WORKER, "pvcs": [{"name": "", "create": True, "storageClass": "", "size": "0"}]},
        (
            f"spec.pvcs[0].name is required\nspec.pvcs[0].storageClass {NO_CREATE}\nspec.pvcs[0].size {NO_CREATE}\n"
            f"spec.pvcs[0].volumeAccessMode {NO_CREATE}"
        ),
    ),
    (
        "two bad claims: the first one is named",
        {"services": WORKER, "pvcs": [{"name": "x"}, {}, {}]},
        "spec.pvcs[1].name is required",
    ),
    ("a restart without id: refused", {"services": WORKER, "restart": {"id": ""}}, "spec.restart.id is required"),
    (
        "an order in parallel: refused",
        ordered(["a"], "Parallel"),
        f"{ORDER} cannot be specified when strategy is parallel",
    ),
    (
        "a name twice and a stranger: both said",
        ordered(["a", "a", "c"]),
        f"{ORDER} must be unique\n{ORDER} contains unknown service: c",
    ),
    (
        "an order that leaves one out: refused",
        ordered(["a"]),
        f"{ORDER} must have the same number of unique services as the deployment",
    ),
    ("fewer than no replicas: refused", one({"replicas": -1}), "spec.services[main].replicas must be non-negative"),
    (
        "an ingress without host: refused",
        one({"ingress": {"enabled": True}}),
        "spec.services[main].ingress.host is required when ingress is enabled",
    ),
    (
        "a mount without a path: refused by its index",
        one({"volumeMounts": [{"name": "v", "mountPoint": "/v"}, {"name": "w"}]}),
        "spec.services[main].volumeMounts[1].mountPoint is required when useAsCompilationCache is false",
    ),
    (
        "shared memory without size: refused",
        one({"sharedMemory": {}}),
        "spec.services[main].sharedMemory.size is required when disabled is false",
    ),
    (
        "two bad services: the first by key is named",
        {"services": {"b": {"replicas": -1}, "a": {"replicas": -2}}},
        "spec.services[a].replicas must be non-negative",
    ),
    (
        "a copy on a thousand million nodes: refused",
        one({"multinode": {"nodeCount": 10**9}}),
        f"{PODS} 1000000000 pods, at most 10000 are allowed; lower one of the two",
    ),
    (
        "copies on several nodes that an adapter has raised without end: refused",
        one({"multinode": {"nodeCount": 2}, "replicas": 2**31 - 1}),
        f"{PODS} 4294967294 pods, at most 10000 are allowed; lower one of the two",
    ),
    (
        "a picker on several nodes: refused",
        one(EPP | {"multinode": {}}),
        "spec.services[main]: EPP component cannot be multinode (multinode field must be nil or nodeCount must be 1)",
    ),
    (
        "two pickers of a service: refused",
        one(EPP | {"replicas": 2}),
        "spec.services[main]: EPP component must have exactly 1 replica (found 2 replicas)",
    ),
    (
        "a picker without configuration: refused",
        one(EPP),
        "spec.services[main].eppConfig is required for EPP components",
    ),
    (
        "a picker with an empty configuration: refused",
        one(EPP | {"eppConfig": {}}),
        (
            "spec.services[main].eppConfig: either configMapRef or config must be specified "
            "(no default configuration provided)"
        ),
    ),
    (
        "a picker with two configurations: refused",
        one(EPP | {"eppConfig": {"configMapRef": {"name": "n"}, "config": {}}}),
        "spec.services[main].eppConfig: configMapRef and config are mutually exclusive, only one can be specified",
    ),
    (
        "a picker's nameless ConfigMap: refused",
        one(EPP | {"eppConfig": {"configMapRef": {"key": "k"}}}),
        "spec.services[main].eppConfig.configMapRef.name is required",
    ),
    (
        "a number where text belongs: the service and the field are named",
        one({"resources": {"limits": {"gpu": 1}}}),
        "spec.services[main].resources.limits.gpu: expected `str`, got `int`",
    ),
    ("services that are a list: the field is named", {"services": []}, "spec.services: expected `object`, got `array`"),
    ("text for a list of claims: the field is named", {"pvcs": "x"}, "spec.pvcs: expected `array`, got `str`"),
]


@pytest.mark.parametrize(("spec", "text"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_refused(spec: dict[str, Any], text: str) -> None:
    with pytest.raises(Rejected) as refused:
        check_graph(source(spec), SITE)
    assert str(refused.value) == text
    assert graph_violations(source(spec), SITE) == refused.value.violations


ACCEPTED: list[tuple[str, dict[str, Any]]] = [
    ("an empty service: accepted", one({})),
    ("as many pods as may be: accepted", one({"multinode": {"nodeCount": 2}, "replicas": 5000})),
    ("any number of copies on one node: accepted", one({"replicas": 2**31 - 1})),
    ("a claim named twice: accepted", {"services": WORKER, "pvcs": [{"name": "x"}, {"name": "x"}]}),
    ("an ingress that is off: accepted", one({"ingress": {"enabled": False}})),
    (
        "a compilation cache without a path: accepted",
        one({"volumeMounts": [{"name": "v", "useAsCompilationCache": True}]}),
    ),
    ("shared memory that is off: accepted", one({"sharedMemory": {"disabled": True}})),
    ("a worker's strange picker configuration: ignored", one({"componentType": "worker", "eppConfig": {}})),
    ("parallel without order: accepted", ordered([], "Parallel")),
    ("a restart without strategy: accepted", {"services": WORKER, "restart": {"id": "1"}}),
    ("an order that names all: accepted", ordered(["b", "a"])),
    ("a null member: it counts as absent", one({"annotations": None})),
]


@pytest.mark.parametrize("spec", [row[1] for row in ACCEPTED], ids=[row[0] for row in ACCEPTED])
def test_accepted(spec: dict[str, Any]) -> None:
    assert graph_violations(source(spec), SITE) == ()


def test_no_inference_pools_in_the_cluster_admission_refuses_a_picker_and_the_controller_does_not() -> None:
    spec = one(EPP | {"eppConfig": {"config": {}}})
    (violation,) = graph_violations(source(spec), Site())
    assert violation.message.startswith("spec.services[main]: cannot deploy EPP component: InferencePool API group")
    assert check_graph(source(spec), Site()).services[0].endpoint_picker == EndpointPicker(inline={})


def test_graph_values_are_complete_and_services_sorted() -> None:
    graph = graph_of(
        {"b": {"replicas": 0, "multinode": {"nodeCount": 3}}, "A": {"scalingAdapter": {"enabled": True}}},
        pvcs=[{"name": "c", "create": True, "storageClass": "s", "size": 5, "volumeAccessMode": "m"}, {"name": "d"}],
        restart={"id": "r", "strategy": {"type": "Parallel"}},
        envs=[{"name": "X", "value": "1"}],
        backendFramework="vllm",
    )
    assert [(s.key, s.replicas, s.nodes, s.scaling_adapter) for s in graph.services] == [
        ("A", None, 1, True),
        ("b", 0, 3, False),
    ]
    assert graph.claims == (Claim("c", create=True, storage_class="s", size="5", access_mode="m"), Claim("d"))
    assert graph.restart == Restart("r", parallel=True)
    assert (graph.backend_framework, graph.generation, graph.uid) == ("vllm", 3, "u")
    assert graph.envs == ({"name": "X", "value": "1"},)


def test_shared_dynamo_namespace_is_computed_not_taken() -> None:
    graph = graph_of({"a": {"globalDynamoNamespace": True}, "b": {"dynamoNamespace": "mine"}})
    assert [s.dynamo_namespace for s in graph.services] == ["dynamo", "ns-g"]


DEPRECATED = "is deprecated and ignored. Value 'abc' will be replaced with"
WARNINGS: list[tuple[str, dict[str, Any], list[str]]] = [
    (
        "a Dynamo namespace: what replaces it is said",
        {"dynamoNamespace": "abc"},
        [f"spec.services[main].dynamoNamespace {DEPRECATED} 'ns-g'. Remove this field from your configuration"],
    ),
    (
        "a Dynamo namespace of a shared service: the shared one is said",
        {"dynamoNamespace": "abc", "globalDynamoNamespace": True},
        [f"spec.services[main].dynamoNamespace {DEPRECATED} 'dynamo'. Remove this field from your configuration"],
    ),
    ("an empty Dynamo namespace: nothing to say", {"dynamoNamespace": ""}, []),
    (
        "autoscaling, even empty: what to use instead is said",
        {"autoscaling": {}},
        [
            (
                "spec.services[main].autoscaling is deprecated and ignored. Use DynamoGraphDeploymentScalingAdapter "
                "with HPA, KEDA, or Planner for autoscaling instead. See docs/kubernetes/autoscaling.md"
            )
        ],
    ),
]


@pytest.mark.parametrize(("spec", "warnings"), [row[1:] for row in WARNINGS], ids=[row[0] for row in WARNINGS])
def test_warnings(spec: dict[str, Any], warnings: list[str]) -> None:
    assert graph_warnings(source(one(spec)), SITE) == warnings
