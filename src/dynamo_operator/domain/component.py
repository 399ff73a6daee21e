"""A component: one service of a graph, or a component deployment of its own, ready to be rendered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dynamo_operator.domain.manifest import Tree


@dataclass(frozen=True, slots=True)
class ResourceAmounts:
    """One side (requests or limits) of a component's resources; quantities as the user wrote them."""

    cpu: str = ""
    memory: str = ""
    gpu: str = ""
    gpu_type: str = ""
    custom: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Resources:
    """Requests, limits and claims of the main container."""

    requests: ResourceAmounts = ResourceAmounts()
    limits: ResourceAmounts = ResourceAmounts()
    claims: tuple[Tree, ...] = ()


@dataclass(frozen=True, slots=True)
class VolumeMount:
    """A claim to mount; an empty ``mount_point`` means the backend's default for its compilation cache."""

    name: str
    mount_point: str = ""
    compilation_cache: bool = False


@dataclass(frozen=True, slots=True)
class SharedMemory:
    """The memory-backed volume at /dev/shm; ``size`` is a quantity."""

    disabled: bool = False
    size: str = ""


@dataclass(frozen=True, slots=True)
class Exposure:
    """How a component is reached from outside the cluster (``ingress`` in the API). None means absent."""

    enabled: bool = False
    host: str = ""
    host_prefix: str | None = None
    host_suffix: str | None = None
    controller_class: str | None = None
    tls_secret: str | None = None
    use_virtual_service: bool = False
    virtual_service_gateway: str | None = None
    annotations: Mapping[str, str] = field(default_factory=dict[str, str])
    labels: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class EndpointPicker:
    """Configuration of an endpoint picker (EPP): a reference to a ConfigMap key, or inline configuration."""

    config_map: str = ""
    key: str = ""
    inline: Tree | None = None


@dataclass(frozen=True, slots=True)
class Component:
    """What a workload and its companions are rendered from.

    ``name`` is the Kubernetes name, ``service`` the key in the graph (original case), ``graph`` the name of the
    owning graph (empty for a component deployment of its own). ``dynamo_namespace`` is computed (workloads.md 1) and
    goes into pods; ``declared_namespace`` is ``spec.dynamoNamespace`` and goes into Service selectors.
    ``replicas`` None means not given. ``nodes`` is 1 unless ``multinode`` is given.
    """

    namespace: str
    name: str
    service: str = ""
    graph: str = ""
    component_type: str = ""
    sub_component_type: str = ""
    dynamo_namespace: str = ""
    declared_namespace: str = ""
    backend_framework: str = ""
    replicas: int | None = None
    nodes: int = 1
    annotations: Mapping[str, str] = field(default_factory=dict[str, str])
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    object_labels: Mapping[str, str] = field(default_factory=dict[str, str])
    envs: tuple[Tree, ...] = ()
    env_from_secret: str = ""
    resources: Resources | None = None
    volume_mounts: tuple[VolumeMount, ...] = ()
    exposure: Exposure | None = None
    model: str = ""
    shared_memory: SharedMemory | None = None
    pod_labels: Mapping[str, str] = field(default_factory=dict[str, str])
    pod_annotations: Mapping[str, str] = field(default_factory=dict[str, str])
    pod_spec: Tree = field(default_factory=dict[str, object])
    main_container: Tree = field(default_factory=dict[str, object])
    liveness_probe: Tree | None = None
    readiness_probe: Tree | None = None
    endpoint_picker: EndpointPicker | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What of its namespace shapes a component's pod.

    ``pull_secrets``: registry host -> names of image pull secrets, sorted (workloads.md 11).
    ``service_accounts``: names of the accounts labelled for component pods, sorted (workloads.md 6.9).
    """

    pull_secrets: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    service_accounts: tuple[str, ...] = ()
