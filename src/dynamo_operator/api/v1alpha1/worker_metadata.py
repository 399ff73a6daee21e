"""DynamoWorkerMetadata: what a worker pod says of itself (specification: api.md 9)."""

from typing import Annotated

from dynamo_operator.api.markers import Doc
from dynamo_operator.api.meta import ApiType, FreeObject


class DynamoWorkerMetadataSpec(ApiType, frozen=True):
    """The discovery record of one worker pod; the Dynamo runtime writes and reads it."""

    data: Annotated[FreeObject | None, Doc("Endpoints and model cards, in the runtime's own form.", required=True)] = (
        None
    )
