"""The component spec: a service of a graph, and the body of a component deployment (specification: api.md 3)."""

from typing import Annotated, Any, Literal

from msgspec import field

from dynamo_operator.api.markers import CoreType, Doc
from dynamo_operator.api.meta import (
    ApiType,
    EnvVar,
    Int32,
    MainContainer,
    MetricSpec,
    Probe,
    Quantity,
    ResourceClaim,
    ScalingBehavior,
    StringMap,
)
from dynamo_operator.api.v1alpha1.endpoint_picker import EPPConfig

BackendFramework = Literal["sglang", "vllm", "trtllm"]

ExtraPodSpec = Annotated[
    dict[str, Any],
    CoreType(
        "io.k8s.api.core.v1.PodSpec",
        not_required=("containers",),
        extra={
            "mainContainer": Annotated[
                MainContainer,
                Doc(
                    "Merged over the main container that the operator makes: image, command, args, env, volumeMounts, "
                    "startupProbe and all else that a container has. Leave out its name, which is `main`."
                ),
            ]
        },
    ),
]


class ResourceItem(ApiType, frozen=True):
    """Amounts of resources; every value is a quantity written as text."""

    cpu: Annotated[str, Doc("CPU, for example `4` or `500m`, in quotes.")] = ""
    memory: Annotated[str, Doc("Memory, for example `32Gi`.")] = ""
    gpu: Annotated[
        str,
        Doc('GPUs of each node, in quotes (`"1"`). Only the value under `limits` is put on the container.'),
    ] = ""
    gpu_type: Annotated[str, Doc("Resource name that `gpu` stands for; absent means `nvidia.com/gpu`.")] = ""
    custom: Annotated[StringMap, Doc("Amounts of any other resource, by resource name.")] = field(
        default_factory=dict[str, str]
    )


class Resources(ApiType, frozen=True):
    """Resources of the main container; they override the same resource in `extraPodSpec.mainContainer`."""

    requests: Annotated[ResourceItem | None, Doc("What the scheduler sets aside for each pod.")] = None
    limits: Annotated[ResourceItem | None, Doc("What each pod may use at most.")] = None
    claims: Annotated[tuple[ResourceClaim, ...], Doc("Dynamic resource allocation claims that the pod uses.")] = ()


class Autoscaling(ApiType, frozen=True):
    """Former autoscaling settings; nothing reads them."""

    enabled: Annotated[bool, Doc("Ignored.")] = False
    min_replicas: Annotated[int | None, Doc("Ignored.")] = None
    max_replicas: Annotated[int | None, Doc("Ignored.")] = None
    behavior: Annotated[ScalingBehavior | None, Doc("Ignored.")] = None
    metrics: Annotated[tuple[MetricSpec, ...], Doc("Ignored.")] = ()


class VolumeMount(ApiType, frozen=True):
    """A PersistentVolumeClaim mounted into the main container."""

    name: Annotated[
        str, Doc("Name of the claim, usually one of the graph's `pvcs`. Nothing checks that it exists.", required=True)
    ] = ""
    mount_point: Annotated[
        str,
        Doc(
            "Path in the container. Needed unless `useAsCompilationCache` is true and the backend is vllm, whose "
            "default is `/root/.cache/vllm`."
        ),
    ] = ""
    use_as_compilation_cache: Annotated[
        bool, Doc("Keep the backend's compilation cache on this volume, so that restarts are faster.", default=False)
    ] = False


class IngressTLS(ApiType, frozen=True):
    """TLS of an Ingress, for its one host."""

    secret_name: Annotated[str, Doc("Secret with the certificate and key.")] = ""


class IngressSpec(ApiType, frozen=True):
    """How a component is reached from outside the cluster: `<hostPrefix><host>.<hostSuffix>`.

    Under Grove only frontend components are exposed. A frontend without this field gets what the operator's own
    ingress settings say.
    """

    enabled: Annotated[bool, Doc("Expose the component.")] = False
    host: Annotated[str, Doc("Middle part of the host name; needed when `enabled` is true.")] = ""
    use_virtual_service: Annotated[
        bool, Doc("Make an Istio VirtualService; works only where the operator has a gateway configured.")
    ] = False
    virtual_service_gateway: Annotated[str | None, Doc("Istio gateway of the VirtualService.")] = None
    host_prefix: Annotated[str | None, Doc("Text directly before `host`, without a separator.")] = None
    host_suffix: Annotated[str | None, Doc("Domain after `host` and a dot; absent means `local`.")] = None
    annotations: Annotated[StringMap, Doc("Annotations of the Ingress; a VirtualService gets none.")] = field(
        default_factory=dict[str, str]
    )
    labels: Annotated[StringMap, Doc("Labels of the Ingress; a VirtualService gets none.")] = field(
        default_factory=dict[str, str]
    )
    tls: Annotated[IngressTLS | None, Doc("TLS of the Ingress.")] = None
    ingress_controller_class_name: Annotated[
        str | None, Doc("Ingress class. Without it no Ingress is made, even when `enabled` is true.")
    ] = None


class ModelReference(ApiType, frozen=True):
    """The base model that a component serves."""

    name: Annotated[
        str,
        Doc("Identifier of the model; DynamoModels find the component by it (`spec.baseModelName`).", required=True),
    ] = ""
    revision: Annotated[str, Doc("Revision of the model, as a note; nothing reads it.")] = ""


class SharedMemorySpec(ApiType, frozen=True):
    """The memory-backed volume at `/dev/shm`."""

    disabled: Annotated[bool, Doc("Leave the volume out.")] = False
    size: Annotated[Quantity, Doc("Size limit of the volume; needed unless `disabled` is true.")] = ""


class ExtraPodMetadata(ApiType, frozen=True):
    """Labels and annotations for the pods alone; they win over the component's own."""

    annotations: Annotated[StringMap, Doc("Annotations for the pods.")] = field(default_factory=dict[str, str])
    labels: Annotated[
        StringMap,
        Doc("Labels for the pods. Replacing a label of the operator can cut the pods off from their Service."),
    ] = field(default_factory=dict[str, str])


class MultinodeSpec(ApiType, frozen=True):
    """A copy that is too large for one node."""

    node_count: Annotated[
        Int32,
        Doc(
            "Nodes, and so pods, of each copy. GPUs of a copy are this times `gpu`.",
            required=True,
            default=2,
            minimum=2,
        ),
    ] = 2


class ScalingAdapter(ApiType, frozen=True):
    """Whether something other than the graph's author scales the service."""

    enabled: Annotated[
        bool,
        Doc(
            "Make a DynamoGraphDeploymentScalingAdapter `<graph>-<service>` on which an HPA, KEDA, the planner or "
            "`kubectl scale` acts. From then on `replicas` of the service can only be changed through it. No effect on "
            "a DynamoComponentDeployment that stands alone.",
            default=False,
        ),
    ] = False


class ComponentSpec(ApiType, frozen=True):
    """One component of an inference graph: what runs, how many copies of it, and how it is reached."""

    annotations: Annotated[
        StringMap,
        Doc(
            "Annotations for the generated objects: the Deployment and Service, or under Grove the pods. Steering "
            "ones: `nvidia.com/deployment-strategy` (`RollingUpdate`, `Recreate`), "
            "`nvidia.com/deployment-rolling-update-max-surge`, `...-max-unavailable` (number or percentage), "
            '`nvidia.com/disable-image-pull-secret-discovery: "true"`, `nvidia.com/enable-metrics: "false"`, '
            '`nvidia.com/enable-debug-mode: "true"`, `nvidia.com/enable-stealing-traffic-debug-mode: "true"`, '
            "`nvidia.com/dynamo-discovery-backend` (`kubernetes`, `etcd`; on a DynamoComponentDeployment). "
            "The strategy and debug annotations have no effect under Grove."
        ),
    ] = field(default_factory=dict[str, str])
    labels: Annotated[
        StringMap,
        Doc(
            "Labels for the generated objects and pods, on a DynamoComponentDeployment of your own and under Grove. "
            "Elsewhere those of a service of a graph have no effect, as they would change running pods: use "
            "`extraPodMetadata.labels`."
        ),
    ] = field(default_factory=dict[str, str])
    service_name: Annotated[
        str,
        Doc(
            "Name of the component within its graph. The operator sets it to the key in the graph's `services`; write "
            "it only on a DynamoComponentDeployment of your own."
        ),
    ] = ""
    component_type: Annotated[
        str,
        Doc(
            "Role of the component: `frontend`, `worker`, `prefill`, `decode`, `planner` or `epp`. It decides ports, "
            "probes and environment; any other text, or none, gets generic ones."
        ),
    ] = ""
    sub_component_type: Annotated[
        str, Doc("Finer role, usually `prefill` or `decode` of a worker; copied to a pod label.")
    ] = ""
    dynamo_namespace: Annotated[
        str | None,
        Doc(
            "Deprecated: leave it out. The Dynamo namespace is `<namespace>-<graph>`, or `dynamo` with "
            "`globalDynamoNamespace`."
        ),
    ] = None
    global_dynamo_namespace: Annotated[
        bool, Doc("Place the component in the Dynamo namespace `dynamo`, which all graphs share.")
    ] = False
    resources: Annotated[Resources | None, Doc("Resources of the main container.")] = None
    autoscaling: Annotated[
        Autoscaling | None,
        Doc("Deprecated and ignored: use `scalingAdapter` with an HPA, KEDA or the planner."),
    ] = None
    envs: Annotated[
        tuple[EnvVar, ...],
        Doc(
            "Environment variables of the main container. Where a name is set more than once the later of these wins: "
            "the operator's platform addresses, the defaults of the component type, "
            "`extraPodSpec.mainContainer.env`, `envs` of the graph, this list. So a variable of the graph beats the "
            "same name in `mainContainer.env`."
        ),
    ] = ()
    env_from_secret: Annotated[
        str | None, Doc("Secret whose keys all become environment variables of the main container.")
    ] = None
    volume_mounts: Annotated[tuple[VolumeMount, ...], Doc("PersistentVolumeClaims to mount.")] = ()
    ingress: Annotated[IngressSpec | None, Doc("How the component is reached from outside the cluster.")] = None
    model_ref: Annotated[
        ModelReference | None,
        Doc("The base model served. It gives the model a headless Service, by which DynamoModels find the pods."),
    ] = None
    shared_memory: Annotated[SharedMemorySpec | None, Doc("The volume at `/dev/shm`; absent means one of 8Gi.")] = None
    extra_pod_metadata: Annotated[ExtraPodMetadata | None, Doc("Further labels and annotations for the pods.")] = None
    extra_pod_spec: Annotated[
        ExtraPodSpec | None,
        Doc(
            "Merged over the pod that the operator makes: every member of a Kubernetes PodSpec, and `mainContainer`. "
            "`containers` are further containers beside the main one."
        ),
    ] = None
    liveness_probe: Annotated[
        Probe | None, Doc("Replaces the liveness probe that the component type brings, as a whole.")
    ] = None
    readiness_probe: Annotated[
        Probe | None, Doc("Replaces the readiness probe that the component type brings, as a whole.")
    ] = None
    replicas: Annotated[
        Int32 | None,
        Doc(
            "Copies to run; absent means 1. With `scalingAdapter.enabled` change the scaling adapter instead.",
            minimum=0,
        ),
    ] = None
    multinode: Annotated[MultinodeSpec | None, Doc("Spread each copy over several nodes; absent means one node.")] = (
        None
    )
    scaling_adapter: Annotated[ScalingAdapter | None, Doc("Let an autoscaler set `replicas`.")] = None
    epp_config: Annotated[
        EPPConfig | None,
        Doc("Configuration of the endpoint picker; needed for component type `epp`, ignored for all others."),
    ] = None
