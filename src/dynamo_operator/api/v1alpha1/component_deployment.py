"""DynamoComponentDeployment: one component, made for a graph or written by hand (specification: api.md 5)."""

from typing import Annotated, Literal

from msgspec import field

from dynamo_operator.api.markers import Doc
from dynamo_operator.api.meta import ApiType, Conditions, Int32, Int64, StringMap
from dynamo_operator.api.v1alpha1.component import BackendFramework, ComponentSpec

ComponentKind = Literal["PodClique", "PodCliqueScalingGroup", "Deployment", "LeaderWorkerSet"]


class ServiceReplicaStatus(ApiType, frozen=True):
    """Copies of a component that exist, as its workload counts them."""

    component_kind: Annotated[ComponentKind, Doc("Kind of the workload.", required=True)] = "Deployment"
    component_name: Annotated[
        str, Doc("Name of the workload; of several LeaderWorkerSets, the first.", required=True)
    ] = ""
    replicas: Annotated[Int32, Doc("Copies that have not terminated.", required=True, minimum=0)] = 0
    updated_replicas: Annotated[Int32, Doc("Copies at the newest revision.", required=True, minimum=0)] = 0
    ready_replicas: Annotated[
        Int32 | None, Doc("Copies that are ready; absent for a PodCliqueScalingGroup.", minimum=0)
    ] = None
    available_replicas: Annotated[
        Int32 | None, Doc("Copies that are available; only for a Deployment or a PodCliqueScalingGroup.", minimum=0)
    ] = None


class DynamoComponentDeploymentSpec(ComponentSpec, frozen=True):
    """The component to run, and the framework that its workers use."""

    backend_framework: Annotated[
        BackendFramework | None,
        Doc("Inference framework of the workers; absent means found from the command line. Cannot be changed later."),
    ] = None


class DynamoComponentDeploymentStatus(ApiType, frozen=True):
    """What became of a component."""

    conditions: Annotated[
        Conditions,
        Doc("`Available` says whether the workload is ready, `Valid` whether the spec makes sense.", required=True),
    ] = ()
    observed_generation: Annotated[Int64, Doc("Value of `metadata.generation` that was last acted on in full.")] = 0
    pod_selector: Annotated[StringMap, Doc("Labels that select the component's pods; not written.")] = field(
        default_factory=dict[str, str]
    )
    service: Annotated[ServiceReplicaStatus | None, Doc("Copies that exist.")] = None
