"""Command lines of the control plane and of add-ons' programs; nothing here runs anything."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
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

LWS = "lws"
VOLCANO = "volcano"
GROVE = "grove"
KAI = "kai"

ADDON_PROGRAM_OF = {LWS: {LWS: "lws-controller"}, GROVE: {GROVE: "cluster.grove"}}
"""The programs that an add-on brings along, behind their stems; they start when the definitions are served."""

ETCD_PEER = "etcd-peer"
LWS_WEBHOOK = "lws-webhook"
GROVE_WEBHOOK = "grove-webhook"
PORT_NAMES = (*PROGRAM_OF, ETCD_PEER)
ADDON_PORT_NAMES = {LWS: (LWS, LWS_WEBHOOK), GROVE: (GROVE, GROVE_WEBHOOK)}

STAND_INS = ("cluster.grove",)
"""Programs that are modules of this checkout and stand for others."""

SCHEDULER_NAMES = {VOLCANO: "volcano", KAI: "kai-scheduler"}
"""Add-ons with a scheduler that the stock one stands for, and what pods call it."""

HEALTH_PATHS = {
    ETCD: "/readyz",
    API_SERVER: "/readyz",
    CONTROLLER_MANAGER: "/healthz",
    SCHEDULER: "/readyz",
    KWOK: "/healthz",
    LWS: "/readyz",
    GROVE: "/readyz",
}

AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata"}],
}


@dataclass(frozen=True, slots=True)
class Site:
    """What command lines depend on: the folder, the programs' folder, a port for each name in `port_names`, add-ons."""

    layout: Layout
    tools: Path
    ports: Mapping[str, int]
    addons: tuple[str, ...] = ()

    def url(self, stem: str) -> str:
        """Where a program listens; etcd, kwok and add-ons' health speak plain HTTP."""
        scheme = "http" if stem in (ETCD, ETCD_PEER, KWOK, LWS, GROVE) else "https"
        return f"{scheme}://{LOOPBACK}:{self.ports[stem]}"

    def kubeconfig_of(self, stem: str) -> Path:
        """Credentials of a program of the control plane."""
        return self.layout.certificates / f"{stem}.kubeconfig"


def certificate_folder(site: Site, addon: str) -> Path:
    """Where the certificate of an add-on's webhooks lies, as tls.crt and tls.key."""
    return site.layout.certificates / addon


def addon_programs(addons: Iterable[str]) -> dict[str, str]:
    """The program behind each stem that the add-ons bring along."""
    return {stem: program for addon in addons for stem, program in ADDON_PROGRAM_OF.get(addon, {}).items()}


def programs_of(site: Site) -> dict[str, str]:
    """The program behind each stem of a cluster."""
    return {**PROGRAM_OF, **addon_programs(site.addons)}


def port_names(addons: Iterable[str]) -> tuple[str, ...]:
    """Names of the ports that a cluster with these add-ons listens on."""
    return (*PORT_NAMES, *(name for addon in addons for name in ADDON_PORT_NAMES.get(addon, ())))


def command_of(stem: str, site: Site) -> list[str]:
    """The command line of one program."""
    options = {
        ETCD: _etcd,
        API_SERVER: _api_server,
        CONTROLLER_MANAGER: _controller_manager,
        SCHEDULER: _scheduler,
        KWOK: _kwok,
        LWS: _lws,
        GROVE: _grove,
    }[stem](site)
    return [*_program(programs_of(site)[stem], site), *(f"--{key}={value}" for key, value in options.items())]


def _program(name: str, site: Site) -> list[str]:
    return [sys.executable, "-m", name] if name in STAND_INS else [str(site.tools / name)]


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
    options = _client_options(site, SCHEDULER)
    if set(SCHEDULER_NAMES) & set(site.addons):
        options["config"] = site.layout.folder / "scheduler.yaml"
    return options


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


def _lws(site: Site) -> dict[str, object]:
    return {
        "kubeconfig": site.kubeconfig_of(LWS),
        "config": site.layout.folder / "lws.yaml",
        "health-probe-bind-address": f"{LOOPBACK}:{site.ports[LWS]}",
        "zap-log-level": "error",
    }


def _grove(site: Site) -> dict[str, object]:
    return {
        "kubeconfig": site.kubeconfig_of(GROVE),
        "health-port": site.ports[GROVE],
        "webhook-port": site.ports[GROVE_WEBHOOK],
        "certificates": certificate_folder(site, GROVE),
    }
