"""Every environment variable that the operator puts into a component's main container, with its reader."""

from __future__ import annotations

from typing import Final

# Read by the Dynamo runtime to find its place and its peers.
DYN_NAMESPACE: Final = "DYN_NAMESPACE"
DYN_COMPONENT: Final = "DYN_COMPONENT"
DYN_DISCOVERY_BACKEND: Final = "DYN_DISCOVERY_BACKEND"
NATS_SERVER: Final = "NATS_SERVER"
ETCD_ENDPOINTS: Final = "ETCD_ENDPOINTS"
# Read by the runtime's Kubernetes discovery, which names its objects after the pod.
POD_NAME: Final = "POD_NAME"
POD_NAMESPACE: Final = "POD_NAMESPACE"
POD_UID: Final = "POD_UID"
# Read by the planner, which scales the graph it belongs to.
DYN_PARENT_DGD_NAME: Final = "DYN_PARENT_DGD_K8S_NAME"
DYN_PARENT_DGD_NAMESPACE: Final = "DYN_PARENT_DGD_K8S_NAMESPACE"
PLANNER_PROMETHEUS_PORT: Final = "PLANNER_PROMETHEUS_PORT"
PROMETHEUS_ENDPOINT: Final = "PROMETHEUS_ENDPOINT"
# Read by the workers' model download.
MODEL_EXPRESS_URL: Final = "MODEL_EXPRESS_URL"
# Read by the frontend.
DYNAMO_PORT: Final = "DYNAMO_PORT"
DYN_HTTP_PORT: Final = "DYN_HTTP_PORT"
# Read by the workers' health and metrics server.
DYN_SYSTEM_ENABLED: Final = "DYN_SYSTEM_ENABLED"
DYN_SYSTEM_PORT: Final = "DYN_SYSTEM_PORT"
DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS: Final = "DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS"
DYN_HEALTH_CHECK_ENABLED: Final = "DYN_HEALTH_CHECK_ENABLED"
# Read by the endpoint picker.
DYN_KV_BLOCK_SIZE: Final = "DYN_KV_BLOCK_SIZE"
DYN_DISCOVERY_TIMEOUT_SEC: Final = "DYN_DISCOVERY_TIMEOUT_SEC"
USE_STREAMING: Final = "USE_STREAMING"
RUST_LOG: Final = "RUST_LOG"
# Read by Open MPI, which must not shorten the names of hosts.
OMPI_KEEP_HOST_NAMES: Final = "OMPI_MCA_orte_keep_fqdn_hostnames"
# Read by vLLM.
VLLM_CACHE_ROOT: Final = "VLLM_CACHE_ROOT"
