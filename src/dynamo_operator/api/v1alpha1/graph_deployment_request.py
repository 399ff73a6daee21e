"""DynamoGraphDeploymentRequest: profile a model, get a graph (specification: api.md 7)."""

from typing import Annotated

from msgspec import field

from dynamo_operator.api.markers import Doc, Fragment
from dynamo_operator.api.meta import (
    ApiType,
    Conditions,
    EmbeddedResource,
    FreeObject,
    Int64,
    ResourceRequirements,
    StringMap,
    Toleration,
)
from dynamo_operator.api.v1alpha1.component import BackendFramework

# Upstream's order. Python takes Literals that differ in order alone for the same type, so it has to be said here.
ProfiledBackend = Annotated[
    BackendFramework,
    Fragment({"type": "string", "enum": ["vllm", "sglang", "trtllm"]}, "`vllm`, `sglang`, `trtllm`"),
]


class ConfigMapKeyReference(ApiType, frozen=True):
    """A key of a ConfigMap in the same namespace."""

    name: Annotated[str, Doc("Name of the ConfigMap.", required=True)] = ""
    key: Annotated[str, Doc("Key in the ConfigMap.", default="disagg.yaml")] = "disagg.yaml"


class ProfilingConfigSpec(ApiType, frozen=True):
    """How the model is profiled."""

    config: Annotated[
        FreeObject | None,
        Doc(
            "Configuration of the profiler, needed, though `{}` will do. The operator sets `deployment.model` and "
            "`engine.backend` from this spec, and fills `deployment.namespace` and `output_dir`. "
            "`sweep.useAiConfigurator: true` estimates instead of measuring; `deployment.modelCache.pvcName` mounts a "
            "claim with the model."
        ),
    ] = None
    config_map_ref: Annotated[
        ConfigMapKeyReference | None, Doc("ConfigMap with the DynamoGraphDeployment to start from.")
    ] = None
    profiler_image: Annotated[str, Doc("Image of the profiling Job.", required=True)] = ""
    output_pvc: Annotated[
        str, Doc("Claim in which the profiler leaves its results; absent means they go with the Job.")
    ] = field(name="outputPVC", default="")
    resources: Annotated[ResourceRequirements | None, Doc("Resources of the profiler's container.")] = None
    tolerations: Annotated[tuple[Toleration, ...], Doc("Tolerations of the profiling pod.")] = ()


class DeploymentOverridesSpec(ApiType, frozen=True):
    """What differs between the generated graph and the one that is made."""

    name: Annotated[str, Doc("Name of the graph; absent means the name that the profiler chose.")] = ""
    namespace: Annotated[str, Doc("Namespace of the graph; absent means that of the request.")] = ""
    labels: Annotated[StringMap, Doc("Labels to add to the graph; the operator's tracking labels win.")] = field(
        default_factory=dict[str, str]
    )
    annotations: Annotated[StringMap, Doc("Annotations to add to the graph.")] = field(default_factory=dict[str, str])
    workers_image: Annotated[
        str, Doc("Image of the workers, while profiling and in the generated graph, even without `autoApply`.")
    ] = ""


class DynamoGraphDeploymentRequestSpec(ApiType, frozen=True):
    """The model to serve and how to find out the best graph for it. Do not change it once profiling has started."""

    model: Annotated[str, Doc("Identifier of the model, for example its name on Hugging Face.", required=True)] = ""
    backend: Annotated[ProfiledBackend | None, Doc("Inference framework to profile with.", required=True)] = None
    use_mocker: Annotated[
        bool, Doc("Deploy the generated graph with simulated workers, which need no GPU.", default=False)
    ] = False
    enable_gpu_discovery: Annotated[
        bool,
        Doc("Let the profiler look at the cluster's GPUs; only where the operator is cluster-wide.", default=False),
    ] = False
    profiling_config: Annotated[ProfilingConfigSpec | None, Doc("How the model is profiled.", required=True)] = None
    auto_apply: Annotated[
        bool, Doc("Make the generated graph; otherwise it only appears in `status.generatedDeployment`.", default=False)
    ] = False
    deployment_overrides: Annotated[
        DeploymentOverridesSpec | None, Doc("Name, namespace, metadata and image of the generated graph.")
    ] = None


class DeploymentStatus(ApiType, frozen=True):
    """The graph that was made for a request."""

    name: Annotated[str, Doc("Name of the graph.")] = ""
    namespace: Annotated[str, Doc("Namespace of the graph.")] = ""
    state: Annotated[str, Doc("The graph's own `status.state`.")] = ""
    created: Annotated[bool, Doc("True once the graph was made; it is never made a second time.")] = False


class DynamoGraphDeploymentRequestStatus(ApiType, frozen=True):
    """How far a request is, and what it brought."""

    state: Annotated[
        str,
        Doc("One of `Pending`, `Profiling`, `Deploying`, `Ready`, `DeploymentDeleted`, `Failed`; empty at first."),
    ] = ""
    backend: Annotated[str, Doc("Copy of `spec.backend`.")] = ""
    observed_generation: Annotated[
        Int64, Doc("Value of `metadata.generation` that is being carried out; later edits are refused.")
    ] = 0
    conditions: Annotated[
        Conditions, Doc("One for each step: `Validation`, `Profiling`, `SpecGenerated`, `DeploymentReady`.")
    ] = ()
    profiling_results: Annotated[str, Doc("Where the profiler's output is, as `configmap/<name>`.")] = ""
    generated_deployment: Annotated[EmbeddedResource | None, Doc("The generated DynamoGraphDeployment.")] = None
    deployment: Annotated[DeploymentStatus | None, Doc("The graph that was made, with `autoApply`.")] = None
