"""The operator's own metric families, under upstream's names (specification: platform.md 10)."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Awaitable, Callable, Iterable, Mapping
from time import perf_counter
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from dynamo_operator import __version__
from dynamo_operator.controllers.resources import ADAPTERS, COMPONENTS, GRAPHS
from dynamo_operator.controllers.sources import tree_of
from dynamo_operator.domain.trees import trees_at
from dynamo_operator.runtime.controller import Result
from dynamo_operator.runtime.errors import category
from dynamo_operator.runtime.informer import Informer
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.views import Body

BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)

Reconcile = Callable[[Key], Awaitable[Result]]


class OperatorMetrics:
    """Reconcile counters of the operator's kinds, by namespace; those of a namespace without objects are given back."""

    def __init__(self, registry: CollectorRegistry, informers: Mapping[Resource, Informer[Body]], *, mode: str) -> None:
        self._informers = informers
        labels = ("resource_type", "namespace", "result")
        self._seconds = Histogram(
            "dynamo_operator_reconcile_duration_seconds",
            "Seconds that a reconcile took.",
            labels,
            buckets=BUCKETS,
            registry=registry,
        )
        self._total = Counter("dynamo_operator_reconcile_total", "Reconciles by result.", labels, registry=registry)
        self._errors = Counter(
            "dynamo_operator_reconcile_errors_total",
            "Reconciles that failed, by kind of error.",
            ("resource_type", "namespace", "error_type"),
            registry=registry,
        )
        self.offered = Gauge(
            "dynamo_operator_integration_available",
            "1 when the cluster serves an optional API.",
            ("name",),
            registry=registry,
        )
        build = Gauge(
            "dynamo_operator_build_info", "Always 1; the labels tell.", ("version", "mode"), registry=registry
        )
        build.labels(__version__, mode).set(1)

    def counted(self, resource: Resource, reconcile: Reconcile) -> Reconcile:
        """The same reconcile of objects of a kind, measured."""
        kind = resource.kind

        async def measured(key: Key) -> Result:
            started, result = perf_counter(), "error"
            try:
                outcome = await reconcile(key)
                result = "success" if outcome.requeue_after is None else "requeue"
            except Exception as error:
                self._errors.labels(kind, key.namespace, category(error)).inc()
                raise
            finally:
                self._seconds.labels(kind, key.namespace, result).observe(perf_counter() - started)
                self._total.labels(kind, key.namespace, result).inc()
                self._give_back(resource, key)
            return outcome

        return measured

    def _give_back(self, resource: Resource, key: Key) -> None:
        """Drop the series of a namespace when its last object of a kind is gone: namespaces come and go for ever."""
        informer = self._informers[resource]
        if informer.get(key) is not None or informer.by("namespace", key.namespace):
            return
        for family in (self._seconds, self._total, self._errors):
            family.remove_by_labels({"resource_type": resource.kind, "namespace": key.namespace})


class Inventory(Collector):
    """Counts objects by namespace and state when it is scraped, so that no state lingers."""

    def __init__(self, informers: Mapping[Resource, Informer[Body]]) -> None:
        self._informers = informers

    def describe(self) -> Iterable[Metric]:
        """The one family, without values."""
        # The suffix is upstream's; dashboards ask for it.
        yield GaugeMetricFamily(
            "dynamo_operator_resources_total",
            "Objects by kind, namespace and state.",
            labels=["resource_type", "namespace", "status"],
        )

    def collect(self) -> Iterable[Metric]:
        """The family with the counts of this moment."""
        (family,) = self.describe()
        assert isinstance(family, GaugeMetricFamily)  # noqa: S101 - narrows the type of our own value
        for resource, state_of in _STATES.items():
            tally = Tally((body.metadata.namespace, state_of(body)) for body in self._informers[resource].values())
            for (namespace, state), count in tally.items():
                family.add_metric([resource.kind, namespace, state], count)
        yield family


def _graph_state(body: Body) -> str:
    return str(tree_of(body, "status").get("state") or "unknown")


def _component_state(body: Body) -> str:
    conditions: Iterable[Mapping[str, Any]] = trees_at(tree_of(body, "status"), "conditions")
    available = any(c.get("type") == "Available" and c.get("status") == "True" for c in conditions)
    return "ready" if available else "not_ready"


def _adapter_state(body: Body) -> str:
    status = tree_of(body, "status")
    # One that is scaled to zero counts as not ready, as upstream's does.
    return "ready" if status.get("selector") and status.get("replicas") else "not_ready"


_STATES: Final = {GRAPHS: _graph_state, COMPONENTS: _component_state, ADAPTERS: _adapter_state}
