"""Scalars, conditions and embedded Kubernetes types that the kinds share (specification: api.md 2)."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

import msgspec

from dynamo_operator.api.markers import CoreType, Doc, Fragment

_QUANTITY_PATTERN: Final = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
_REASON_PATTERN: Final = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"
_CONDITION_TYPE_PATTERN: Final = (
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
    r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
)
_OPEN: Final = {"x-kubernetes-preserve-unknown-fields": True}

QUANTITY_SCHEMA: Final[Mapping[str, Any]] = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "pattern": _QUANTITY_PATTERN,
    "x-kubernetes-int-or-string": True,
}
"""Schema of every Kubernetes quantity."""


class ApiType(msgspec.Struct, frozen=True, rename="camel"):
    """A type that users read or write; every field has a default, so part of an object decodes too."""


Int32 = Annotated[int, Fragment({"type": "integer", "format": "int32"}, "integer")]
Int64 = Annotated[int, Fragment({"type": "integer", "format": "int64"}, "integer")]
Time = Annotated[str, Fragment({"type": "string", "format": "date-time"}, "time")]
Quantity = Annotated[str | int, Fragment(QUANTITY_SCHEMA, "quantity")]
StringMap = dict[str, str]
AnyValue = Annotated[Any, Fragment(_OPEN, "any")]
FreeObject = Annotated[dict[str, Any], Fragment({"type": "object", **_OPEN}, "object")]
EmbeddedResource = Annotated[
    dict[str, Any],
    Fragment({"type": "object", "x-kubernetes-embedded-resource": True, **_OPEN}, "Kubernetes object"),
]

ConfigMapKeySelector = Annotated[dict[str, Any], CoreType("io.k8s.api.core.v1.ConfigMapKeySelector")]
EnvVar = Annotated[dict[str, Any], CoreType("io.k8s.api.core.v1.EnvVar")]
Probe = Annotated[dict[str, Any], CoreType("io.k8s.api.core.v1.Probe")]
ResourceClaim = Annotated[dict[str, Any], CoreType("io.k8s.api.core.v1.ResourceClaim")]
ResourceRequirements = Annotated[dict[str, Any], CoreType("io.k8s.api.core.v1.ResourceRequirements")]
Toleration = Annotated[dict[str, Any], CoreType("io.k8s.api.core.v1.Toleration")]
ScalingBehavior = Annotated[dict[str, Any], CoreType("io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerBehavior")]
MetricSpec = Annotated[dict[str, Any], CoreType("io.k8s.api.autoscaling.v2.MetricSpec")]
MainContainer = Annotated[dict[str, Any], CoreType("io.k8s.api.core.v1.Container", not_required=("name",))]

ConditionStatus = Literal["True", "False", "Unknown"]


class Condition(ApiType, frozen=True):
    """One aspect of an object's state, in the form that all of Kubernetes uses."""

    last_transition_time: Annotated[Time, Doc("When `status` last changed.", required=True)] = ""
    message: Annotated[str, Doc("What happened, for people.", required=True, max_length=32768)] = ""
    observed_generation: Annotated[
        Int64, Doc("Value of `metadata.generation` that this condition was computed from.", minimum=0)
    ] = 0
    reason: Annotated[
        str,
        Doc(
            "Why, in one word, for programs.",
            required=True,
            min_length=1,
            max_length=1024,
            pattern=_REASON_PATTERN,
        ),
    ] = ""
    status: Annotated[ConditionStatus, Doc("Whether the aspect holds.", required=True)] = "Unknown"
    type: Annotated[
        str, Doc("The aspect, for example `Ready`.", required=True, max_length=316, pattern=_CONDITION_TYPE_PATTERN)
    ] = ""


Conditions = tuple[Condition, ...]
