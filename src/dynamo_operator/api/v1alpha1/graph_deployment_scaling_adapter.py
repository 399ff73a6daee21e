"""DynamoGraphDeploymentScalingAdapter: the handle by which a service is scaled (specification: api.md 6)."""

from typing import Annotated

from dynamo_operator.api.markers import Doc
from dynamo_operator.api.meta import ApiType, Int32, Time


class ServiceReference(ApiType, frozen=True):
    """One service of a graph in the same namespace."""

    name: Annotated[str, Doc("Name of the DynamoGraphDeployment.", required=True, min_length=1)] = ""
    service_name: Annotated[str, Doc("Key in the graph's `services`.", required=True, min_length=1)] = ""


class DynamoGraphDeploymentScalingAdapterSpec(ApiType, frozen=True):
    """How many copies of which service are wanted."""

    replicas: Annotated[
        Int32,
        Doc("Copies wanted; autoscalers write it through the scale subresource.", required=True, minimum=0),
    ] = 0
    dgd_ref: Annotated[ServiceReference | None, Doc("The service to scale.", required=True)] = None


class DynamoGraphDeploymentScalingAdapterStatus(ApiType, frozen=True):
    """What the adapter last did."""

    replicas: Annotated[
        Int32, Doc("Copies that the graph reports for the service, and those wanted until it reports any.")
    ] = 0
    selector: Annotated[str, Doc("Label selector of the service's pods, for autoscalers.")] = ""
    last_scale_time: Annotated[Time | None, Doc("When the adapter last changed the graph.")] = None
