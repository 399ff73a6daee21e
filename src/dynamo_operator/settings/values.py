"""Every setting of the operator: the one table that flags, file, --help and reference are made from.

Names and defaults are those of release 0.9 (specification: platform.md 2.1, 2.2), so that argument lists made for it
start unchanged; settings that it did not have are marked as new in their text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dynamo_operator.domain.site import Offers, Site
from dynamo_operator.settings.duration import Duration, parse_duration
from dynamo_operator.settings.row import Row, one_of, rows_of, setting

DISCOVERY_BACKENDS: Final = ("kubernetes", "etcd")
_LEVELS: Final = ("debug", "info", "error", "panic")
_TIMES: Final = ("epoch", "millis", "nano", "iso8601", "rfc3339", "rfc3339nano")


def parse_level(text: str) -> str:
    """A level word; a whole number above zero asks for that verbosity, which is debug here."""
    if text.isascii() and text.isdigit() and int(text) > 0:
        return "debug"
    if text not in _LEVELS:
        raise ValueError(f'invalid log level "{text}": use one of {", ".join(_LEVELS)} or a whole number above 0')
    return text


@dataclass(frozen=True, slots=True)
class Logging:
    """How log lines look, with all defaults worked out.

    ``form`` is json or console; ``level`` is the lowest level shown.
    """

    form: str
    level: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The operator's configuration, parsed once."""

    metrics_address: str = setting(
        ":8080", "metrics-bind-address", "server.metrics.address", "address of the metrics listener; 0 switches it off"
    )
    metrics_secure: bool = setting(
        False,
        "metrics-secure",
        "server.metrics.secure",
        "accepted for compatibility; metrics are served without TLS so far",
    )
    health_address: str = setting(
        ":8081",
        "health-probe-bind-address",
        "server.health.address",
        "address of the liveness and readiness listener; 0 switches it off",
    )
    enable_webhooks: bool = setting(
        False,
        "enable-webhooks",
        "server.webhook.enabled",
        "accepted for compatibility; admission webhooks are not served so far",
    )
    enable_http2: bool = setting(
        False,
        "enable-http2",
        "server.enableHTTP2",
        "accepted for compatibility; the listeners speak HTTP/1.1 only",
    )
    leader_elect: bool = setting(
        False, "leader-elect", "leaderElection.enabled", "let one of several operators act, the others wait"
    )
    leader_id: str = setting(
        "", "leader-election-id", "leaderElection.id", "name of the election Lease; required with election"
    )
    leader_namespace: str = setting(
        "",
        "leader-election-namespace",
        "leaderElection.namespace",
        "namespace of the election Lease; empty means the operator's own",
    )
    leader_lease_duration: Duration = setting(
        parse_duration("15s"),
        "leader-elect-lease-duration",
        "leaderElection.leaseDuration",
        "how long a leader that says nothing is left in office (new)",
    )
    leader_renew_deadline: Duration = setting(
        parse_duration("10s"),
        "leader-elect-renew-deadline",
        "leaderElection.renewDeadline",
        "how long a leader tries to renew before it stops (new)",
    )
    leader_retry_period: Duration = setting(
        parse_duration("2s"),
        "leader-elect-retry-period",
        "leaderElection.retryPeriod",
        "pause between two attempts to take or renew the Lease (new)",
    )
    restricted_namespace: str = setting(
        "",
        "restrictedNamespace restricted-namespace",
        "namespace.restricted",
        "look after this namespace only; empty means the whole cluster",
    )
    scope_lease_duration: Duration = setting(
        parse_duration("30s"),
        "namespace-scope-lease-duration",
        "namespace.scope.leaseDuration",
        "how long the marker of a restricted operator is valid; whole seconds",
    )
    scope_lease_interval: Duration = setting(
        parse_duration("10s"),
        "namespace-scope-lease-renew-interval",
        "namespace.scope.leaseRenewInterval",
        "pause between two renewals of that marker",
    )
    operator_version: str = setting(
        "unknown", "operator-version", "operatorVersion", "version shown in the marker of a restricted operator"
    )
    nats_address: str = setting(
        "", "natsAddr nats-addr", "infrastructure.natsAddress", "NATS_SERVER of every Dynamo pod; empty leaves it out"
    )
    etcd_address: str = setting(
        "",
        "etcdAddr etcd-addr",
        "infrastructure.etcdAddress",
        "ETCD_ENDPOINTS of every Dynamo pod; empty leaves it out",
    )
    model_express_url: str = setting(
        "",
        "model-express-url",
        "infrastructure.modelExpressURL",
        "MODEL_EXPRESS_URL of every Dynamo pod; an absolute http or https URL",
    )
    prometheus_endpoint: str = setting(
        "",
        "prometheus-endpoint",
        "infrastructure.prometheusEndpoint",
        "PROMETHEUS_ENDPOINT of every Dynamo pod",
    )
    discovery_backend: str = setting(
        "kubernetes",
        "discovery-backend",
        "discovery.backend",
        "how Dynamo processes find each other: kubernetes or etcd; a graph can choose for itself by annotation",
    )
    virtual_service_gateway: str = setting(
        "",
        "istio-virtual-service-gateway",
        "ingress.virtualServiceGateway",
        "expose frontends by Istio VirtualServices through this gateway",
    )
    virtual_service_https: bool = setting(
        False,
        "virtual-service-supports-https",
        "ingress.virtualServiceSupportsHTTPS",
        "accepted for compatibility; has no effect, as in release 0.9",
    )
    ingress_class: str = setting(
        "",
        "ingress-controller-class-name",
        "ingress.controllerClassName",
        "expose frontends by Ingresses of this class",
    )
    ingress_tls_secret: str = setting(
        "",
        "ingress-controller-tls-secret-name",
        "ingress.controllerTLSSecretName",
        "Secret with the certificate of those Ingresses",
    )
    ingress_host_suffix: str = setting(
        "", "ingress-host-suffix", "ingress.hostSuffix", "what follows a graph's name in the host of its frontend"
    )
    grove_termination_delay: Duration = setting(
        parse_duration("15m"),
        "grove-termination-delay",
        "orchestrators.grove.terminationDelay",
        "how long Grove waits before it ends a gang that lost members; 0 or less leaves it to Grove",
    )
    mpi_secret_name: str = setting(
        "",
        "mpi-run-ssh-secret-name",
        "mpi.sshSecretName",
        "Secret with the SSH key of multi-node TensorRT-LLM; needed only for such workloads",
    )
    mpi_secret_namespace: str = setting(
        "", "mpi-run-ssh-secret-namespace", "mpi.sshSecretNamespace", "namespace of that Secret"
    )
    planner_cluster_role: str = setting(
        "",
        "planner-cluster-role-name",
        "rbac.plannerClusterRoleName",
        "ClusterRole of planners; required unless restricted to a namespace",
    )
    profiling_cluster_role: str = setting(
        "",
        "dgdr-profiling-cluster-role-name",
        "rbac.dgdrProfilingClusterRoleName",
        "ClusterRole of profiling jobs; needed unless restricted to a namespace",
    )
    epp_cluster_role: str = setting(
        "",
        "epp-cluster-role-name",
        "rbac.eppClusterRoleName",
        "ClusterRole of endpoint pickers; needed unless restricted to a namespace",
    )
    debugger_image: str = setting(
        "python:3.12-slim", "debugger-image", "debugger.image", "image of the debugger container (new as a flag)"
    )
    workers: int = setting(16, "workers", "workers", "reconciles that run at the same time, for each kind (new)")
    kubeconfig: str = setting("", "kubeconfig", "kubeconfig", "path of a kubeconfig; needed only outside a cluster")
    log_development: bool = setting(
        False, "zap-devel", "logging.development", "defaults for people: console lines, level debug"
    )
    log_form: str = setting(
        "",
        "zap-encoder log-format",
        "logging.format",
        "json or console; empty means json, or console with --zap-devel",
        parse=one_of("json", "console"),
    )
    log_level: str = setting(
        "",
        "zap-log-level log-level",
        "logging.level",
        "debug, info, error, panic, or a verbosity above 0; empty means info, or debug with --zap-devel",
        parse=parse_level,
    )
    log_stack_traces: str = setting(
        "",
        "zap-stacktrace-level",
        "logging.stackTraceLevel",
        "accepted for compatibility; only faults carry a stack trace",
        parse=one_of("info", "error", "panic"),
    )
    log_times: str = setting(
        "rfc3339",
        "zap-time-encoding",
        "logging.timeEncoding",
        "accepted for compatibility; time stamps are RFC 3339",
        parse=one_of(*_TIMES),
    )

    @property
    def logging(self) -> Logging:
        """How to log, with the defaults that depend on ``log_development`` filled in."""
        form, level = ("console", "debug") if self.log_development else ("json", "info")
        return Logging(form=self.log_form or form, level=self.log_level or level)

    def site(self, offers: Offers) -> Site:
        """What the core has to know of these settings, on a cluster that serves ``offers``."""
        delay = self.grove_termination_delay
        return Site(
            restricted_namespace=self.restricted_namespace,
            nats_address=self.nats_address,
            etcd_address=self.etcd_address,
            model_express_url=self.model_express_url,
            prometheus_endpoint=self.prometheus_endpoint,
            discovery_backend=self.discovery_backend,
            mpi_secret_name=self.mpi_secret_name,
            mpi_secret_namespace=self.mpi_secret_namespace,
            planner_cluster_role=self.planner_cluster_role,
            epp_cluster_role=self.epp_cluster_role,
            profiling_cluster_role=self.profiling_cluster_role,
            ingress_class=self.ingress_class,
            ingress_tls_secret=self.ingress_tls_secret,
            ingress_host_suffix=self.ingress_host_suffix,
            virtual_service_gateway=self.virtual_service_gateway,
            debugger_image=self.debugger_image,
            grove_termination_delay=str(delay) if delay > Duration(0) else "",
            offers=offers,
        )


TABLE: Final[tuple[Row, ...]] = rows_of(Settings)
