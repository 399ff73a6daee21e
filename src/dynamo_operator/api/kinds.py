"""One row per kind of the API: names, types, subresources, columns and admission (specification: api.md 1, 12.1)."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from dynamo_operator.api.meta import ApiType
from dynamo_operator.api.v1alpha1.component_deployment import (
    DynamoComponentDeploymentSpec,
    DynamoComponentDeploymentStatus,
)
from dynamo_operator.api.v1alpha1.graph_deployment import DynamoGraphDeploymentSpec, DynamoGraphDeploymentStatus
from dynamo_operator.api.v1alpha1.graph_deployment_request import (
    DynamoGraphDeploymentRequestSpec,
    DynamoGraphDeploymentRequestStatus,
)
from dynamo_operator.api.v1alpha1.graph_deployment_scaling_adapter import (
    DynamoGraphDeploymentScalingAdapterSpec,
    DynamoGraphDeploymentScalingAdapterStatus,
)
from dynamo_operator.api.v1alpha1.model import DynamoModelSpec, DynamoModelStatus
from dynamo_operator.api.v1alpha1.worker_metadata import DynamoWorkerMetadataSpec

# Read by every client of the API.
GROUP: Final = "nvidia.com"
VERSION: Final = "v1alpha1"


@dataclass(frozen=True, slots=True)
class Column:
    """A column that `kubectl get` prints."""

    name: str
    path: str
    type: str = "string"
    description: str = ""


@dataclass(frozen=True, slots=True)
class Scale:
    """Paths of the scale subresource."""

    spec_replicas: str
    status_replicas: str
    label_selector: str


@dataclass(frozen=True, slots=True)
class Kind:
    """A custom resource; ``stem`` is the name of its file in every folder.

    ``needs_spec``: the schema refuses an object without spec. ``validated``: an admission webhook checks it.
    """

    name: str
    stem: str
    short_names: tuple[str, ...]
    description: str
    spec: type[ApiType]
    columns: tuple[Column, ...]
    status: type[ApiType] | None = None
    scale: Scale | None = None
    needs_spec: bool = False
    validated: bool = False

    @property
    def singular(self) -> str:
        """Name for one object, as `kubectl` takes it."""
        return self.name.lower()

    @property
    def plural(self) -> str:
        """Name in URLs, RBAC rules and webhook rules."""
        return f"{self.singular}s"

    @property
    def crd_name(self) -> str:
        """Name of the CustomResourceDefinition."""
        return f"{self.plural}.{GROUP}"

    @property
    def webhook_name(self) -> str | None:
        """Name of the validating webhook, None without one; users see it in every refusal."""
        return f"v{self.singular}.kb.io" if self.validated else None

    @property
    def webhook_path(self) -> str | None:
        """Path that the API server posts reviews to, None without a webhook."""
        return f"/validate-{GROUP.replace('.', '-')}-{VERSION}-{self.singular}" if self.validated else None


_AGE: Final = Column("Age", ".metadata.creationTimestamp", "date")
_BACKEND: Final = Column("Backend", ".spec.backendFramework", description="Inference framework of the workers")

GRAPH_DEPLOYMENT: Final = Kind(
    name="DynamoGraphDeployment",
    stem="graph_deployment",
    short_names=("dgd",),
    description="An inference graph: frontends, workers and what else serves a model, deployed and kept as one.",
    spec=DynamoGraphDeploymentSpec,
    status=DynamoGraphDeploymentStatus,
    columns=(
        Column("Ready", '.status.conditions[?(@.type=="Ready")].status', description="Whether all services are ready"),
        _BACKEND,
        _AGE,
    ),
    validated=True,
)

COMPONENT_DEPLOYMENT: Final = Kind(
    name="DynamoComponentDeployment",
    stem="component_deployment",
    short_names=("dcd",),
    description="One component of an inference graph. The operator makes them for a DynamoGraphDeployment.",
    spec=DynamoComponentDeploymentSpec,
    status=DynamoComponentDeploymentStatus,
    columns=(
        Column("DynamoComponent", ".spec.serviceName", description="Name of the component within its graph"),
        Column(
            "Available",
            ".status.conditions[?(@.type=='Available')].status",
            description="Whether the workload is ready",
        ),
        _BACKEND,
        _AGE,
    ),
    validated=True,
)

GRAPH_DEPLOYMENT_REQUEST: Final = Kind(
    name="DynamoGraphDeploymentRequest",
    stem="graph_deployment_request",
    short_names=("dgdr",),
    description="A request to profile a model and to generate, and if wanted deploy, the graph that serves it best.",
    spec=DynamoGraphDeploymentRequestSpec,
    status=DynamoGraphDeploymentRequestStatus,
    columns=(
        Column("Model", ".spec.model"),
        Column("Backend", ".status.backend"),
        Column("State", ".status.state"),
        Column("DGD-State", ".status.deployment.state"),
        _AGE,
    ),
    validated=True,
)

GRAPH_DEPLOYMENT_SCALING_ADAPTER: Final = Kind(
    name="DynamoGraphDeploymentScalingAdapter",
    stem="graph_deployment_scaling_adapter",
    short_names=("dgdsa",),
    description="The scale subresource of one service of a graph, for an HPA, KEDA, the planner or `kubectl scale`.",
    spec=DynamoGraphDeploymentScalingAdapterSpec,
    status=DynamoGraphDeploymentScalingAdapterStatus,
    columns=(
        Column("DGD", ".spec.dgdRef.name", description="Graph that the service belongs to"),
        Column("SERVICE", ".spec.dgdRef.serviceName", description="Service that is scaled"),
        Column("REPLICAS", ".status.replicas", "integer", description="Copies last asked of the graph"),
        Column("AGE", ".metadata.creationTimestamp", "date"),
    ),
    scale=Scale(".spec.replicas", ".status.replicas", ".status.selector"),
    needs_spec=True,
)

MODEL: Final = Kind(
    name="DynamoModel",
    stem="model",
    # Upstream registers dm alone while its documents say dmodel.
    short_names=("dm", "dmodel"),
    description="A model that is served, or a LoRA adapter to load into every pod that serves its base model.",
    spec=DynamoModelSpec,
    status=DynamoModelStatus,
    columns=(
        Column("BaseModel", ".spec.baseModelName", description="Base model by which pods are found"),
        Column("Type", ".spec.modelType", description="Base model, LoRA or adapter"),
        Column("Ready", ".status.readyEndpoints", "integer", description="Pods that have loaded the model"),
        Column("Total", ".status.totalEndpoints", "integer", description="Pods that serve the base model"),
        _AGE,
    ),
    validated=True,
)

WORKER_METADATA: Final = Kind(
    name="DynamoWorkerMetadata",
    stem="worker_metadata",
    short_names=("dwm",),
    description="What one worker pod says of itself to others. Written by the Dynamo runtime, not by people.",
    spec=DynamoWorkerMetadataSpec,
    columns=(_AGE,),
)

KINDS: Final = (
    GRAPH_DEPLOYMENT,
    COMPONENT_DEPLOYMENT,
    GRAPH_DEPLOYMENT_REQUEST,
    GRAPH_DEPLOYMENT_SCALING_ADAPTER,
    MODEL,
    WORKER_METADATA,
)
"""Every kind of the API, in the order in which documents show them."""

BY_NAME: Final = MappingProxyType({kind.name: kind for kind in KINDS})
"""The same, by kind name."""
