"""Simulated GPU nodes and the few objects that every cluster has from the start; kwok makes the nodes look alive."""

from __future__ import annotations

from typing import Any

# Enough GPUs for graphs by the hundred; an idle simulated node costs next to nothing.
NODE_COUNT = 72
# The namespace that the operator's chart and its leases live in.
SYSTEM_NAMESPACE = "dynamo-system"
# The user that the audit log shows for requests made with operator.kubeconfig.
OPERATOR_USER = "operator"

_CAPACITY = {"cpu": "192", "memory": "2Ti", "pods": "250", "nvidia.com/gpu": "8", "ephemeral-storage": "10Ti"}
# What NVIDIA's GPU feature discovery writes; read by profilers and by node selectors of graphs.
_GPU_LABELS = {
    "nvidia.com/gpu.count": "8",
    "nvidia.com/gpu.family": "hopper",
    "nvidia.com/gpu.machine": "DGX-H100",
    "nvidia.com/gpu.memory": "81559",
    "nvidia.com/gpu.present": "true",
    "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
}


def render_node(index: int) -> dict[str, Any]:
    """One node with eight GPUs; nodes are spread over two zones."""
    name = f"gpu-{index:02d}"
    labels = {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "simulated-8xh100",
        "topology.kubernetes.io/region": "local",
        "topology.kubernetes.io/zone": f"local-{index % 2}",
        **_GPU_LABELS,
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"capacity": dict(_CAPACITY), "allocatable": dict(_CAPACITY)},
    }


def render_objects() -> list[dict[str, Any]]:
    """All nodes, the system namespace, and the rights of the user `operator`."""
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "local-operator"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": OPERATOR_USER}],
    }
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM_NAMESPACE}}
    return [namespace, binding, *(render_node(index) for index in range(NODE_COUNT))]
