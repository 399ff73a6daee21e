"""What settings must be together before the operator starts (specification: platform.md 2.5, with its improvements)."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from dynamo_operator.api.naming import is_namespace
from dynamo_operator.settings.duration import Duration
from dynamo_operator.settings.values import DISCOVERY_BACKENDS, Settings

_SECOND = Duration(1_000_000_000)
_OFF = "0"
_MOST_WORKERS = 10_000


def check_settings(settings: Settings) -> list[str]:
    """Everything that keeps the operator from starting; empty when nothing does."""
    return [
        *_scope(settings),
        *_capacity(settings),
        *_workloads(settings),
        *_election(settings),
        *_listeners(settings),
    ]


def settings_warnings(settings: Settings) -> list[str]:
    """What is accepted and yet probably not meant."""
    return [
        *_missing_roles(settings),
        *_without_effect(settings),
        *_doubtful_url(settings),
    ]


def _scope(settings: Settings) -> Iterator[str]:
    """Rules of cluster-wide and of restricted mode."""
    if not settings.restricted_namespace:
        if not settings.planner_cluster_role:
            yield "--planner-cluster-role-name is required unless --restrictedNamespace is given"
        return
    if not is_namespace(settings.restricted_namespace):
        yield f'--restrictedNamespace: "{settings.restricted_namespace}" is no name that a namespace can have'
    duration, interval = settings.scope_lease_duration, settings.scope_lease_interval
    if duration < _SECOND:
        yield f"--namespace-scope-lease-duration must be at least 1s, not {duration}"
    if interval < _SECOND:
        yield f"--namespace-scope-lease-renew-interval must be at least 1s, not {interval}"
    if interval >= duration:
        yield (
            f"--namespace-scope-lease-renew-interval ({interval}) must be less than "
            f"--namespace-scope-lease-duration ({duration})"
        )


def _capacity(settings: Settings) -> Iterator[str]:
    """Rules of how much is done at once."""
    if settings.workers > _MOST_WORKERS:
        yield f"--workers must be at most {_MOST_WORKERS}"


def _workloads(settings: Settings) -> Iterator[str]:
    """Rules of what reaches pods."""
    if settings.discovery_backend not in DISCOVERY_BACKENDS:
        yield f'--discovery-backend: invalid value "{settings.discovery_backend}": use kubernetes or etcd'
    if settings.model_express_url and not _absolute_url(settings.model_express_url):
        yield (
            f'--model-express-url: "{settings.model_express_url}" is not an absolute http or https URL, '
            "such as http://model-express:8001"
        )
    if bool(settings.mpi_secret_name) != bool(settings.mpi_secret_namespace):
        yield "--mpi-run-ssh-secret-name and --mpi-run-ssh-secret-namespace belong together: give both or none"


def _election(settings: Settings) -> Iterator[str]:
    """Rules of leader election."""
    if not settings.leader_elect:
        return
    if not settings.leader_id:
        yield "--leader-election-id is required with --leader-elect"
    lease, deadline, retry = (
        settings.leader_lease_duration,
        settings.leader_renew_deadline,
        settings.leader_retry_period,
    )
    if lease < _SECOND:
        yield f"--leader-elect-lease-duration must be at least 1s, not {lease}"
    if not Duration(0) < retry < deadline < lease:
        yield (
            f"--leader-elect-retry-period ({retry}) must be above 0 and less than --leader-elect-renew-deadline "
            f"({deadline}), and that less than --leader-elect-lease-duration ({lease})"
        )


def _listeners(settings: Settings) -> Iterator[str]:
    """Each listener has an address of its own."""
    addresses = [
        ("--metrics-bind-address", settings.metrics_address),
        ("--health-probe-bind-address", settings.health_address),
    ]
    ports: dict[str, str] = {}
    for flag, address in addresses:
        port = address.rpartition(":")[2]
        if address in {_OFF, ""}:
            continue
        if ":" not in address or not port.isascii() or not port.isdigit() or int(port) > 65535:
            yield f'{flag}: invalid address "{address}": write host:port or :port, with a port from 0 to 65535'
        elif port != _OFF and port in ports:
            yield f"{flag} and {ports[port]} use the same port {port}"
        ports.setdefault(port, flag)


def _missing_roles(settings: Settings) -> Iterator[str]:
    """Roles that some workloads need; release 0.9 started without them, so we do."""
    if settings.restricted_namespace:
        return
    if not settings.profiling_cluster_role:
        yield "--dgdr-profiling-cluster-role-name is not given: deployment requests cannot be profiled"
    if not settings.epp_cluster_role:
        yield "--epp-cluster-role-name is not given: endpoint pickers cannot be deployed"


def _without_effect(settings: Settings) -> Iterator[str]:
    """Flags that are parsed and never read."""
    if settings.enable_webhooks:
        yield "--enable-webhooks has no effect yet: admission webhooks are not served, so none must be registered"
    if settings.metrics_secure:
        yield "--metrics-secure has no effect yet: metrics are served without TLS"
    if settings.log_stack_traces:
        yield "--zap-stacktrace-level has no effect: only faults carry a stack trace"
    if settings.log_times != "rfc3339":
        yield "--zap-time-encoding has no effect: time stamps are RFC 3339"
    if settings.virtual_service_https:
        yield "--virtual-service-supports-https has no effect"
    if settings.enable_http2:
        yield "--enable-http2 has no effect: all listeners speak HTTP/1.1"


def _doubtful_url(settings: Settings) -> Iterator[str]:
    """The address of Prometheus was never checked, so a doubtful one must not keep an installation from starting."""
    if settings.prometheus_endpoint and not _absolute_url(settings.prometheus_endpoint):
        yield f'--prometheus-endpoint: "{settings.prometheus_endpoint}" is not an absolute http or https URL'


def _absolute_url(text: str) -> bool:
    """True for http and https URLs with a host."""
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
