"""Command lines of the control plane; nothing here runs anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cluster.layout import Layout
from cluster.ports import LOOPBACK

# Stems of pid files and logs, in the order of starting; read by tools/measure.py and by benchmarks.
ETCD = "etcd"
API_SERVER = "apiserver"
CONTROLLER_MANAGER = "controller-manager"
SCHEDULER = "scheduler"
KWOK = "kwok"

PROGRAM_OF = {
    ETCD: "etcd",
    API_SERVER: "kube-apiserver",
    CONTROLLER_MANAGER: "kube-controller-manager",
    SCHEDULER: "kube-scheduler",
    KWOK: "kwok",
}
"""The program behind each stem."""

ETCD_PEER = "etcd-peer"
PORT_NAMES = (*PROGRAM_OF, ETCD_PEER)

HEALTH_PATHS = {
    ETCD: "/readyz",
    API_SERVER: "/readyz",
    CONTROLLER_MANAGER: "/healthz",
    SCHEDULER: "/readyz",
    KWOK: "/healthz",
}

AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata"}],
}


@dataclass(frozen=True, slots=True)
class Site:
    """What command lines depend on: the folder, the programs' folder, and a port for each name in PORT_NAMES."""

    layout: Layout
    tools: Path
    ports: Mapping[str, int]

    def url(self, stem: str) -> str:
        """Where a program listens; etcd and kwok speak plain HTTP."""
        scheme = "http" if stem in (ETCD, ETCD_PEER, KWOK) else "https"
        return f"{scheme}://{LOOPBACK}:{self.ports[stem]}"

    def kubeconfig_of(self, stem: str) -> Path:
        """Credentials of a program of the control plane."""
        return self.layout.certificates / f"{stem}.kubeconfig"


def command_of(stem: str, site: Site) -> list[str]:
    """The command line of one program."""
    options = {
        ETCD: _etcd,
        API_SERVER: _api_server,
        CONTROLLER_MANAGER: _controller_manager,
        SCHEDULER: _scheduler,
        KWOK: _kwok,
    }[stem](site)
    return [str(site.tools / PROGRAM_OF[stem]), *(f"--{key}={value}" for key, value in options.items())]


def _etcd(site: Site) -> dict[str, object]:
    peer = site.url(ETCD_PEER)
    return {
        "name": "local",
        "data-dir": site.layout.folder / "etcd",
        "listen-client-urls": site.url(ETCD),
        "advertise-client-urls": site.url(ETCD),
        "listen-peer-urls": peer,
        "initial-advertise-peer-urls": peer,
        "initial-cluster": f"local={peer}",
        # The data may be lost with the machine; waiting for the disk would set the pace of every write.
        "unsafe-no-fsync": "true",
        "quota-backend-bytes": 4 * 1024**3,
        "auto-compaction-mode": "periodic",
        "auto-compaction-retention": "5m",
        "log-level": "warn",
    }


def _api_server(site: Site) -> dict[str, object]:
    certificates = site.layout.certificates
    return {
        "etcd-servers": site.url(ETCD),
        "bind-address": LOOPBACK,
        "secure-port": site.ports[API_SERVER],
        "tls-cert-file": certificates / "server.crt",
        "tls-private-key-file": certificates / "server.key",
        "client-ca-file": certificates / "authority.crt",
        "service-account-key-file": certificates / "accounts.crt",
        "service-account-signing-key-file": certificates / "accounts.key",
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-cluster-ip-range": "10.96.0.0/12",
        "authorization-mode": "RBAC",
        "allow-privileged": "true",
        "audit-policy-file": site.layout.folder / "audit-policy.yaml",
        "audit-log-path": site.layout.audit_log,
        # In megabytes: large enough that the log is one file for as long as anybody counts in it.
        "audit-log-maxsize": 10240,
        # Measurements are of clients; a limit of the server must not set their pace.
        "max-requests-inflight": 2000,
        "max-mutating-requests-inflight": 1000,
    }


def _controller_manager(site: Site) -> dict[str, object]:
    certificates = site.layout.certificates
    return {
        **_client_options(site, CONTROLLER_MANAGER),
        "service-account-private-key-file": certificates / "accounts.key",
        "root-ca-file": certificates / "authority.crt",
        "use-service-account-credentials": "true",
        "concurrent-deployment-syncs": 20,
        "concurrent-replicaset-syncs": 20,
        "concurrent-statefulset-syncs": 20,
        "concurrent-job-syncs": 20,
        "concurrent-endpoint-syncs": 10,
        "concurrent-service-endpoint-syncs": 10,
        "concurrent-namespace-syncs": 20,
        "concurrent-gc-syncs": 50,
        # Nodes send no heartbeats here, so that an idle cluster is quiet; they must not be taken for dead.
        "node-monitor-grace-period": "8760h",
    }


def _scheduler(site: Site) -> dict[str, object]:
    return _client_options(site, SCHEDULER)


def _client_options(site: Site, stem: str) -> dict[str, object]:
    kubeconfig = site.kubeconfig_of(stem)
    return {
        "kubeconfig": kubeconfig,
        "authentication-kubeconfig": kubeconfig,
        "authorization-kubeconfig": kubeconfig,
        "bind-address": LOOPBACK,
        "secure-port": site.ports[stem],
        "tls-cert-file": site.layout.certificates / "server.crt",
        "tls-private-key-file": site.layout.certificates / "server.key",
        "leader-elect": "false",
        # The limits of these clients would set the pace of a measurement.
        "kube-api-qps": 500,
        "kube-api-burst": 1000,
    }


def _kwok(site: Site) -> dict[str, object]:
    return {
        "kubeconfig": site.kubeconfig_of(KWOK),
        "config": site.layout.folder / "kwok.yaml",
        "manage-all-nodes": "true",
        # Stages come from the file; no definitions of its own are installed.
        "enable-crds": "",
        "cidr": "10.0.0.0/16",
        "node-ip": "10.200.0.1",
        "node-lease-duration-seconds": 0,
        # One line for each patch of a pod would fill the disk in a benchmark.
        "v": "WARN",
        "server-address": f"{LOOPBACK}:{site.ports[KWOK]}",
    }
