"""What one installation of the operator offers: its settings and its cluster, as far as the core needs them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Offers:
    """Which optional APIs the cluster serves right now."""

    virtual_services: bool = False
    inference_pools: bool = False
    leader_worker_sets: bool = False
    volcano: bool = False
    grove: bool = False
    kai: bool = False

    @property
    def sets_of_nodes(self) -> bool:
        """One replica can be spread over several nodes: there are sets, and a scheduler that places them whole."""
        return self.leader_worker_sets and self.volcano


@dataclass(frozen=True, slots=True)
class Site:
    """Settings that shape workloads (specification: workloads.md 2, platform.md 2.1)."""

    restricted_namespace: str = ""
    nats_address: str = ""
    etcd_address: str = ""
    model_express_url: str = ""
    prometheus_endpoint: str = ""
    discovery_backend: str = "kubernetes"
    mpi_secret_name: str = ""
    mpi_secret_namespace: str = ""
    planner_cluster_role: str = ""
    epp_cluster_role: str = ""
    profiling_cluster_role: str = ""
    ingress_class: str = ""
    ingress_tls_secret: str = ""
    ingress_host_suffix: str = ""
    virtual_service_gateway: str = ""
    debugger_image: str = "python:3.12-slim"
    grove_termination_delay: str = "15m"
    offers: Offers = Offers()

    @property
    def cluster_wide(self) -> bool:
        """True unless the operator is restricted to one namespace."""
        return not self.restricted_namespace
