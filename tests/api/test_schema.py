"""The schemas that follow from the types: what is required, defaulted, enumerated and limited."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, get_args

import msgspec
import pytest

from dynamo_operator.api.crd import object_schema
from dynamo_operator.api.kinds import BY_NAME, KINDS
from dynamo_operator.api.markers import Absent, Doc
from dynamo_operator.api.schema import Schema, core_schema, core_types, doc_of, fields_of, schema_of, split
from dynamo_operator.api.v1alpha1.component import BackendFramework
from dynamo_operator.api.v1alpha1.graph_deployment_request import ProfiledBackend


def at(kind: str, path: str) -> Schema:
    """The schema at a path such as spec.services.*.envs[]."""
    node = object_schema(BY_NAME[kind])
    for step in path.replace("[]", ".[]").split(".") if path else ():
        into = {"*": "additionalProperties", "[]": "items"}.get(step)
        node = node[into] if into else node["properties"][step]
    return node


DGD, DCD, DGDR = "DynamoGraphDeployment", "DynamoComponentDeployment", "DynamoGraphDeploymentRequest"
DGDSA, MODEL, METADATA = "DynamoGraphDeploymentScalingAdapter", "DynamoModel", "DynamoWorkerMetadata"
SERVICE = "spec.services.*"
POD = f"{SERVICE}.extraPodSpec"

REQUIRED = [
    ("a graph needs nothing: the webhook says what is missing", DGD, "", []),
    ("a graph's spec needs nothing", DGD, "spec", []),
    ("a service needs nothing", DGD, SERVICE, []),
    ("a claim needs its name", DGD, "spec.pvcs[]", ["name"]),
    ("a restart needs its id", DGD, "spec.restart", ["id"]),
    ("a volume mount needs its name", DGD, f"{SERVICE}.volumeMounts[]", ["name"]),
    ("a model reference needs its name", DGD, f"{SERVICE}.modelRef", ["name"]),
    ("multinode needs its nodes, which have a default", DGD, f"{SERVICE}.multinode", ["nodeCount"]),
    ("a picker's ConfigMap needs its key", DGD, f"{SERVICE}.eppConfig.configMapRef", ["key"]),
    (
        "inline picker settings need plugins and profiles",
        DGD,
        f"{SERVICE}.eppConfig.config",
        ["plugins", "schedulingProfiles"],
    ),
    ("an extra pod spec needs no containers", DGD, POD, []),
    ("the main container needs no name", DGD, f"{POD}.mainContainer", []),
    ("any other container needs its name", DGD, f"{POD}.containers[]", ["name"]),
    ("a variable needs its name", DGD, "spec.envs[]", ["name"]),
    (
        "a service's status needs kind, name and two counters",
        DGD,
        "status.services.*",
        ["componentKind", "componentName", "replicas", "updatedReplicas"],
    ),
    ("a component's status needs conditions", DCD, "status", ["conditions"]),
    (
        "a condition needs all but the generation",
        DCD,
        "status.conditions[]",
        ["lastTransitionTime", "message", "reason", "status", "type"],
    ),
    ("a request needs model, backend and profiling", DGDR, "spec", ["backend", "model", "profilingConfig"]),
    ("profiling needs an image", DGDR, "spec.profilingConfig", ["profilerImage"]),
    ("a base manifest's ConfigMap needs its name", DGDR, "spec.profilingConfig.configMapRef", ["name"]),
    ("an adapter needs its spec: without it it can never work", DGDSA, "", ["spec"]),
    ("an adapter needs its number and target", DGDSA, "spec", ["dgdRef", "replicas"]),
    ("a target needs graph and service", DGDSA, "spec.dgdRef", ["name", "serviceName"]),
    ("a model needs its name and its base", MODEL, "spec", ["baseModelName", "modelName"]),
    ("a source needs its location", MODEL, "spec.source", ["uri"]),
    ("a model's status needs both counters", MODEL, "status", ["readyEndpoints", "totalEndpoints"]),
    ("an endpoint needs address and readiness", MODEL, "status.endpoints[]", ["address", "ready"]),
    ("metadata of a worker needs data", METADATA, "spec", ["data"]),
]


@pytest.mark.parametrize(("kind", "path", "names"), [pytest.param(*row[1:], id=row[0]) for row in REQUIRED])
def test_required(kind: str, path: str, names: list[str]) -> None:
    assert sorted(at(kind, path).get("required", [])) == names


FACTS = [
    ("restart without a type: sequential", DGD, "spec.restart.strategy.type", "default", "Sequential"),
    ("multinode without a number: two nodes", DGD, f"{SERVICE}.multinode.nodeCount", "default", 2),
    ("multinode on one node: refused", DGD, f"{SERVICE}.multinode.nodeCount", "minimum", 2),
    ("adapter not asked for: off", DGD, f"{SERVICE}.scalingAdapter.enabled", "default", False),
    ("mount not said to be a cache: none", DGD, f"{SERVICE}.volumeMounts[].useAsCompilationCache", "default", False),
    ("negative replicas: refused", DGD, f"{SERVICE}.replicas", "minimum", 0),
    ("more than 25 services: refused", DGD, "spec.services", "maxProperties", 25),
    ("more than 100 claims: refused, which bounds the rule's cost", DGD, "spec.pvcs", "maxItems", 100),
    ("empty restart id: refused", DGD, "spec.restart.id", "minLength", 1),
    ("unknown backend: refused", DGD, "spec.backendFramework", "enum", ["sglang", "vllm", "trtllm"]),
    ("unknown restart type: refused", DGD, "spec.restart.strategy.type", "enum", ["Sequential", "Parallel"]),
    ("unknown workload in status: refused", DCD, "status.service.componentKind", "enum", [
        "PodClique", "PodCliqueScalingGroup", "Deployment", "LeaderWorkerSet"]),
    ("unknown backend of a request: refused", DGDR, "spec.backend", "enum", ["vllm", "sglang", "trtllm"]),
    ("request without key: disagg.yaml", DGDR, "spec.profilingConfig.configMapRef.key", "default", "disagg.yaml"),
    ("request without mocker: real workers", DGDR, "spec.useMocker", "default", False),
    ("request without discovery: none", DGDR, "spec.enableGpuDiscovery", "default", False),
    ("request without autoApply: nothing is made", DGDR, "spec.autoApply", "default", False),
    ("profiler settings: any member is kept", DGDR, "spec.profilingConfig.config",
     "x-kubernetes-preserve-unknown-fields", True),
    ("generated graph: a whole object", DGDR, "status.generatedDeployment", "x-kubernetes-embedded-resource", True),
    ("model without a type: base", MODEL, "spec.modelType", "default", "base"),
    ("unknown model type: refused", MODEL, "spec.modelType", "enum", ["base", "lora", "adapter"]),
    ("negative wish of an adapter: refused", DGDSA, "spec.replicas", "minimum", 0),
    ("empty target: refused", DGDSA, "spec.dgdRef.name", "minLength", 1),
    ("inline picker settings: unknown members are kept", DGD, f"{SERVICE}.eppConfig.config",
     "x-kubernetes-preserve-unknown-fields", True),
    ("plugin parameters: anything is kept", DGD, f"{SERVICE}.eppConfig.config.plugins[].parameters",
     "x-kubernetes-preserve-unknown-fields", True),
    ("size of a claim: number or text", DGD, "spec.pvcs[].size", "x-kubernetes-int-or-string", True),
    ("variables of a container: one of each name", DGD, f"{POD}.containers[].env", "x-kubernetes-list-map-keys",
     ["name"]),
    ("ports: one of each number and protocol", DGD, f"{POD}.mainContainer.ports", "x-kubernetes-list-map-keys",
     ["containerPort", "protocol"]),
    ("port without protocol: TCP", DGD, f"{POD}.mainContainer.ports[].protocol", "default", "TCP"),
    ("pull secret without a name: empty, as in Go", DGD, f"{POD}.imagePullSecrets[].name", "default", ""),
    ("Azure disk without a file system: ext4", DGD, f"{POD}.volumes[].azureDisk.fsType", "default", "ext4"),
    ("ConfigMap volume: replaced as one", DGD, f"{POD}.volumes[].configMap", "x-kubernetes-map-type", "atomic"),
    ("metadata in a volume template: opaque", DGD, f"{POD}.volumes[].ephemeral.volumeClaimTemplate.metadata", "type",
     "object"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "path", "key", "value"), [pytest.param(*row[1:], id=row[0]) for row in FACTS])
def test_facts(kind: str, path: str, key: str, value: object) -> None:
    assert at(kind, path)[key] == value


ABSENT = [
    ("variables written in this API: duplicates allowed", "spec.envs", "x-kubernetes-list-type"),
    ("claims of resources: no list type", f"{SERVICE}.resources.claims", "x-kubernetes-list-type"),
    ("role of a component: any text", f"{SERVICE}.componentType", "enum"),
    ("state: any text", "status.state", "enum"),
    ("pull policy: checked when the pod is made", f"{POD}.mainContainer.imagePullPolicy", "enum"),
    ("caching of an Azure disk: no default", f"{POD}.volumes[].azureDisk.cachingMode", "default"),
    ("required members of Kubernetes types: no zero default", f"{POD}.containers[].name", "default"),
    ("Kubernetes types: no descriptions, or clients could not apply the CRD", f"{POD}.volumes", "description"),
]


@pytest.mark.parametrize(("path", "key"), [pytest.param(*row[1:], id=row[0]) for row in ABSENT])
def test_what_the_schema_leaves_out(path: str, key: str) -> None:
    assert key not in at(DGD, path)


def structs() -> Iterator[type[msgspec.Struct]]:
    """Every Struct that a kind leads to."""
    wanted: list[Any] = [struct for kind in KINDS for struct in (kind.spec, kind.status) if struct]
    seen: set[Any] = set()
    while wanted:
        bare = split(wanted.pop())[0]
        wanted += get_args(bare)
        if isinstance(bare, type) and issubclass(bare, msgspec.Struct) and bare not in seen:
            seen.add(bare)
            wanted += fields_of(bare).values()
            yield bare


def test_a_default_in_the_schema_is_the_default_when_decoding() -> None:
    for struct in structs():
        fields = {field.encode_name: field for field in msgspec.structs.fields(struct)}
        for name, hint in fields_of(struct).items():
            default = doc_of(hint).default
            assert default is Absent.DEFAULT or fields[name].default == default, f"{struct.__name__}.{name}"


def test_an_empty_object_decodes_as_every_type() -> None:
    for struct in structs():
        assert msgspec.convert({}, struct) == struct()


def test_unknown_members_and_broken_limits_decode_too() -> None:
    spec = msgspec.convert({"services": {"a": {"replicas": -1, "later": 1}}}, BY_NAME[DGD].spec)
    assert spec.services["a"].replicas == -1


def test_every_field_says_what_it_means() -> None:
    texts = [doc_of(hint).text for struct in structs() for hint in fields_of(struct).values()]
    assert all(text.endswith(".") for text in texts)


def test_a_request_profiles_the_backends_that_graphs_have() -> None:
    assert sorted(schema_of(ProfiledBackend)["enum"]) == sorted(get_args(BackendFramework))


def test_a_type_without_a_schema_is_refused() -> None:
    with pytest.raises(TypeError, match="no schema for"):
        schema_of(bytes)


def test_two_types_in_one_field_are_refused() -> None:
    with pytest.raises(TypeError, match="no schema for"):
        schema_of(int | bytes)


def test_a_field_without_words_is_refused() -> None:
    with pytest.raises(LookupError, match="say what the field means"):
        doc_of(Annotated[str, "other"])


def test_markers_come_innermost_first() -> None:
    assert split(Annotated[Annotated[str, 1] | None, Doc("x")]) == (str, (1, Doc("x")))


def test_kubernetes_types_are_whole() -> None:
    for name in core_types():
        assert "$ref" not in str(core_schema(name))
