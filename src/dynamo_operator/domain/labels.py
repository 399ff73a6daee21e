"""Every label, annotation, port, finalizer and fixed name that another program reads, with its reader."""

from __future__ import annotations

from typing import Final

GROUP: Final = "nvidia.com"
API_VERSION: Final = "nvidia.com/v1alpha1"

# Selected on by Deployments.
SELECTOR: Final = "nvidia.com/selector"
# Selected on by Services, PodMonitors, DynamoModel and people.
GRAPH_NAME: Final = "nvidia.com/dynamo-graph-deployment-name"
COMPONENT: Final = "nvidia.com/dynamo-component"
DYNAMO_NAMESPACE: Final = "nvidia.com/dynamo-namespace"
COMPONENT_TYPE: Final = "nvidia.com/dynamo-component-type"
SUB_COMPONENT_TYPE: Final = "nvidia.com/dynamo-sub-component-type"
DEPLOYMENT_TARGET: Final = "nvidia.com/dynamo-deployment-target-type"
BASE_MODEL_HASH: Final = "nvidia.com/dynamo-base-model-hash"
METRICS_ENABLED: Final = "nvidia.com/metrics-enabled"
# Read by the Dynamo runtime's discovery.
DISCOVERY_ENABLED: Final = "nvidia.com/dynamo-discovery-enabled"
MANAGED_BY: Final = "nvidia.com/managed-by"
# Put on ServiceAccounts by users; looked up by the operator.
COMPONENT_POD_ACCOUNT: Final = "nvidia.com/dynamo-component-pod"
# Selected on by the Services of components on several nodes, and by people.
ROLE: Final = "role"
INSTANCE_ID: Final = "instance-id"
# Read by the KAI scheduler.
KAI_QUEUE_LABEL: Final = "kai.scheduler/queue"

# Annotations. The discovery backend is a label on Services and an annotation on graphs and components.
DISCOVERY_BACKEND: Final = "nvidia.com/dynamo-discovery-backend"
BASE_MODEL: Final = "nvidia.com/dynamo-base-model"
ENABLE_GROVE: Final = "nvidia.com/enable-grove"
ENABLE_METRICS: Final = "nvidia.com/enable-metrics"
DISABLE_PULL_SECRET_DISCOVERY: Final = "nvidia.com/disable-image-pull-secret-discovery"  # noqa: S105 - a key
RESTART_AT: Final = "nvidia.com/restartAt"
DEPLOYMENT_STRATEGY: Final = "nvidia.com/deployment-strategy"
MAX_SURGE: Final = "nvidia.com/deployment-rolling-update-max-surge"
MAX_UNAVAILABLE: Final = "nvidia.com/deployment-rolling-update-max-unavailable"
DEBUG_MODE: Final = "nvidia.com/enable-debug-mode"
STEALING_TRAFFIC: Final = "nvidia.com/enable-stealing-traffic-debug-mode"
KAI_QUEUE: Final = "nvidia.com/kai-scheduler-queue"
# Read by Volcano, which places the pods of a group together or not at all.
POD_GROUP: Final = "scheduling.k8s.io/group-name"
# Read by the Go operator after a handback, and by our own restart.
LAST_APPLIED_HASH: Final = "nvidia.com/last-applied-hash"

# On copies of the SSH key pair: the resourceVersion of the Secret that was copied. Read by the operator itself.
COPIED_VERSION: Final = "nvidia.com/copied-version"

APP_MANAGED_BY: Final = "app.kubernetes.io/managed-by"
APP_COMPONENT: Final = "app.kubernetes.io/component"
APP_NAME: Final = "app.kubernetes.io/name"
OPERATOR: Final = "dynamo-operator"

FINALIZER: Final = "nvidia.com/finalizer"

FRONTEND_PORT: Final = 8000
SYSTEM_PORT: Final = 9090
PLANNER_METRICS_PORT: Final = 9085
EPP_GRPC_PORT: Final = 9002
EPP_HEALTH_PORT: Final = 9003
EPP_METRICS_PORT: Final = 9090
SSH_PORT: Final = 2222

MAIN_CONTAINER: Final = "main"
# The scheduler that knows queues.
KAI_SCHEDULER: Final = "kai-scheduler"
# The scheduler of pods that come in groups.
VOLCANO: Final = "volcano"
PLANNER_ACCOUNT: Final = "planner-serviceaccount"
EPP_ACCOUNT: Final = "epp-serviceaccount"
EPP_CONFIG_KEY: Final = "epp-config-dynamo.yaml"
GROVE_GROUP: Final = "grove.io"
INFERENCE_GROUP: Final = "inference.networking.k8s.io"
