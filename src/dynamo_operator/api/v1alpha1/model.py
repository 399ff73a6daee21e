"""DynamoModel: a base model that is served, or an adapter to load into it (specification: api.md 8)."""

from typing import Annotated, Literal

from dynamo_operator.api.markers import Doc
from dynamo_operator.api.meta import ApiType, Conditions

ModelType = Literal["base", "lora", "adapter"]


class ModelSource(ApiType, frozen=True):
    """Where a model's files are."""

    uri: Annotated[
        str,
        Doc(
            "Location, `s3://<bucket>/<path>` or `hf://<organisation>/<model>`, also with `@<revision>`.", required=True
        ),
    ] = ""


class DynamoModelSpec(ApiType, frozen=True):
    """The model, and the base model by which its pods are found."""

    model_name: Annotated[str, Doc("Name under which the model or adapter is served.", required=True)] = ""
    base_model_name: Annotated[
        str,
        Doc("Base model that components name in `modelRef.name`. Cannot be changed later.", required=True),
    ] = ""
    model_type: Annotated[
        ModelType,
        Doc(
            "`lora` is loaded into the pods of the base model; the others are only tracked. Cannot be changed later.",
            default="base",
        ),
    ] = "base"
    source: Annotated[ModelSource | None, Doc("Where the model is; needed for `lora`.")] = None


class EndpointInfo(ApiType, frozen=True):
    """A pod that serves the base model."""

    address: Annotated[str, Doc("URL of the pod's system port.", required=True)] = ""
    pod_name: Annotated[str, Doc("Name of the pod.")] = ""
    ready: Annotated[bool, Doc("True when the pod has loaded the `lora`; false for other types.", required=True)] = (
        False
    )


class DynamoModelStatus(ApiType, frozen=True):
    """Where the model is served."""

    endpoints: Annotated[tuple[EndpointInfo, ...], Doc("Pods that serve the base model.")] = ()
    ready_endpoints: Annotated[int, Doc("How many of them have loaded the `lora`.", required=True)] = 0
    total_endpoints: Annotated[int, Doc("How many there are.", required=True)] = 0
    conditions: Annotated[
        Conditions, Doc("`Valid`, `ServicesFound` (something serves the base model) and `EndpointsReady`.")
    ] = ()
