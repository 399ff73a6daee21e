"""DynamoGraphDeployment: a whole inference graph (specification: api.md 4)."""

from typing import Annotated, ClassVar, Literal

from msgspec import field

from dynamo_operator.api.markers import Doc, Rule
from dynamo_operator.api.meta import ApiType, Conditions, EnvVar, Quantity
from dynamo_operator.api.v1alpha1.component import BackendFramework, ComponentSpec
from dynamo_operator.api.v1alpha1.component_deployment import ServiceReplicaStatus

RestartType = Literal["Sequential", "Parallel"]


class PVC(ApiType, frozen=True):
    """A PersistentVolumeClaim that services of the graph mount."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            rule="!has(self.create) || self.create == false || "
            "(has(self.size) && has(self.storageClass) && has(self.volumeAccessMode))",
            # Upstream's text: people search for it.
            message="When create is true, size, storageClass, and volumeAccessMode are required",
        ),
    )

    create: Annotated[
        bool | None,
        Doc("True: the operator makes the claim, and it goes with the graph. Otherwise it must exist already."),
    ] = None
    name: Annotated[str | None, Doc("Name of the claim, exactly as services mount it.", required=True)] = None
    storage_class: Annotated[str, Doc("StorageClass of a claim that the operator makes.")] = ""
    size: Annotated[Quantity, Doc("Size of a claim that the operator makes, for example `100Gi`.")] = ""
    volume_access_mode: Annotated[
        str, Doc("Access mode of a claim that the operator makes, for example `ReadWriteMany`.")
    ] = ""


class RestartStrategy(ApiType, frozen=True):
    """How the services of a graph are restarted."""

    type: Annotated[RestartType, Doc("One service after the other, or all at once.", default="Sequential")] = (
        "Sequential"
    )
    order: Annotated[
        tuple[str, ...],
        Doc(
            "Order of a sequential restart: the name of every service, once. Absent means alphabetical. "
            "Not allowed with `Parallel`."
        ),
    ] = ()


class Restart(ApiType, frozen=True):
    """A request to replace all pods of a graph."""

    id: Annotated[
        str, Doc("Any text; a value other than the last one starts a restart.", required=True, min_length=1)
    ] = ""
    strategy: Annotated[RestartStrategy | None, Doc("Absent means one service after the other, by name.")] = None


class DynamoGraphDeploymentSpec(ApiType, frozen=True):
    """The services of an inference graph, and what they share."""

    pvcs: Annotated[
        tuple[PVC, ...],
        # Without a limit the API server cannot bound what the rule of a claim costs.
        Doc("PersistentVolumeClaims that the services mount.", max_items=100),
    ] = ()
    services: Annotated[
        dict[str, ComponentSpec],
        Doc(
            "The components of the graph by name, at least one. Lower-cased, each name becomes part of the names of "
            "objects, so use letters, digits and dashes. Services cannot be added or removed later.",
            max_properties=25,
        ),
    ] = field(default_factory=dict[str, ComponentSpec])
    envs: Annotated[
        tuple[EnvVar, ...],
        Doc(
            "Environment variables of the main container of every service. They beat the same name in a service's "
            "`extraPodSpec.mainContainer.env`, and lose to its `envs`."
        ),
    ] = ()
    backend_framework: Annotated[
        BackendFramework | None,
        Doc(
            "Inference framework of the workers; absent means found for each worker from its command line. "
            "Cannot be changed later."
        ),
    ] = None
    restart: Annotated[Restart | None, Doc("Ask for a rolling restart of the graph.")] = None


class RestartStatus(ApiType, frozen=True):
    """How far the restart of a graph is."""

    observed_id: Annotated[str, Doc("Id of the restart that runs, or ran last.")] = field(name="observedID", default="")
    phase: Annotated[str, Doc("`Restarting` or `Completed`.")] = ""
    in_progress: Annotated[tuple[str, ...], Doc("Services that are restarting now.")] = ()


class DynamoGraphDeploymentStatus(ApiType, frozen=True):
    """What became of a graph."""

    state: Annotated[str, Doc("Summary: `pending`, `successful` or `failed`.")] = ""
    conditions: Annotated[Conditions, Doc("`Ready` says whether all services are ready, and if not, which.")] = ()
    services: Annotated[dict[str, ServiceReplicaStatus], Doc("Copies that exist, by service.")] = field(
        default_factory=dict[str, ServiceReplicaStatus]
    )
    restart: Annotated[RestartStatus | None, Doc("How far the restart that was asked for is.")] = None
