"""Metrics of the runtime, under the names that Go operators give them (specification: platform.md 10.4)."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from dynamo_operator.runtime.client import RequestSample
from dynamo_operator.runtime.clock import Clock, SystemClock
from dynamo_operator.runtime.queue import Priority, WorkQueue

# Dashboards and alerts made for Go operators read these buckets.
_RECONCILE_TENTHS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5, 1.75)
_RECONCILE_SECONDS = (2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60)
RECONCILE_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, *_RECONCILE_TENTHS, *_RECONCILE_SECONDS)
QUEUE_BUCKETS: Final = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100, 1000)

RESULTS: Final = ("success", "error", "requeue", "requeue_after")


class _QueueCollector(Collector):
    """Gauges of the queues, read when they are asked for."""

    def __init__(self, clock: Clock) -> None:
        self.queues: dict[str, WorkQueue] = {}
        self._clock = clock

    def describe(self) -> Iterable[Metric]:
        """Names of the families, so that the registry need not collect to know them."""
        return [
            GaugeMetricFamily("workqueue_depth", "Keys that wait.", labels=["name", "controller", "priority"]),
            GaugeMetricFamily(
                "workqueue_unfinished_work_seconds", "Seconds of work in progress.", labels=["name", "controller"]
            ),
            GaugeMetricFamily(
                "workqueue_longest_running_processor_seconds",
                "Seconds that the longest running worker has worked on one key.",
                labels=["name", "controller"],
            ),
        ]

    def collect(self) -> Iterable[Metric]:
        """The families with their values of this moment."""
        depth, unfinished, longest = families = tuple(self.describe())
        now = self._clock.monotonic()
        for name, queue in self.queues.items():
            for priority in Priority:
                _sample(depth, [name, name, str(int(priority))], queue.depth(priority))
            running = [now - began for began in queue.running.values()]
            _sample(unfinished, [name, name], sum(running))
            _sample(longest, [name, name], max(running, default=0.0))
        return families


def _sample(family: Metric, labels: list[str], value: float) -> None:
    if isinstance(family, GaugeMetricFamily):
        family.add_metric(labels, value)


class Metrics:
    """All metric families of the runtime in one registry; values for a part come from its own method."""

    def __init__(self, registry: CollectorRegistry, *, clock: Clock | None = None, process: bool = True) -> None:
        self.registry = registry
        disable_created_metrics()
        self.queues = _QueueCollector(clock or SystemClock())
        registry.register(self.queues)
        if process:
            ProcessCollector(registry=registry)
            PlatformCollector(registry=registry)
            GCCollector(registry=registry)
        self._add_controllers()
        self._add_queues()
        self._add_rest()

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(name, text, labels, registry=self.registry)

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(name, text, labels, registry=self.registry)

    def _add_controllers(self) -> None:
        prefix = "controller_runtime"
        self.reconciles = self._counter(f"{prefix}_reconcile_total", "Reconciles by result.", "controller", "result")
        self.errors = self._counter(f"{prefix}_reconcile_errors_total", "Reconciles that failed.", "controller")
        self.terminal_errors = self._counter(
            f"{prefix}_terminal_reconcile_errors_total", "Reconciles that failed for good.", "controller"
        )
        self.panics = self._counter(
            f"{prefix}_reconcile_panics_total", "Reconciles that failed by a fault of the operator.", "controller"
        )
        self.durations = Histogram(
            f"{prefix}_reconcile_time_seconds",
            "Seconds that a reconcile took.",
            ("controller",),
            buckets=RECONCILE_BUCKETS,
            registry=self.registry,
        )
        self.workers = self._gauge(f"{prefix}_max_concurrent_reconciles", "Workers.", "controller")
        self.active = self._gauge(f"{prefix}_active_workers", "Workers that work.", "controller")

    def _add_queues(self) -> None:
        labels = ("name", "controller")
        self.queue_adds = self._counter("workqueue_adds_total", "Keys that came.", *labels)
        self.queue_retries = self._counter("workqueue_retries_total", "Keys put back after a failure.", *labels)
        self.queue_waits = Histogram(
            "workqueue_queue_duration_seconds",
            "Seconds that a key waited.",
            labels,
            buckets=QUEUE_BUCKETS,
            registry=self.registry,
        )
        self.queue_work = Histogram(
            "workqueue_work_duration_seconds",
            "Seconds of work on a key.",
            labels,
            buckets=QUEUE_BUCKETS,
            registry=self.registry,
        )

    def _add_rest(self) -> None:
        self.requests = self._counter(
            "rest_client_requests_total", "Requests to the API server.", "code", "method", "host"
        )
        self.leading = self._gauge("leader_election_master_status", "1 while this process leads.", "name")
        self.slow_path = self._counter(
            "leader_election_slowpath_total", "Renewals that had to read the lease first.", "name"
        )

    def observe_request(self, sample: RequestSample) -> None:
        """Count one request to the API server; to be given to the client."""
        self.requests.labels(sample.code, sample.method, sample.host).inc()

    def controller(self, name: str) -> ControllerMetrics:
        """The metrics of one controller and its queue."""
        return ControllerMetrics(self, name)


class Outcome:
    """How one reconcile ended; an error unless said otherwise."""

    def __init__(self, metrics: Metrics, name: str) -> None:
        self._metrics = metrics
        self._name = name

    def succeeded(self, *, requeued: bool) -> None:
        """It went well, with or without a wish for another look."""
        self._metrics.reconciles.labels(self._name, "requeue_after" if requeued else "success").inc()

    def failed(self, *, panic: bool) -> None:
        """It raised; ``panic`` for faults of our own."""
        self._metrics.reconciles.labels(self._name, "error").inc()
        self._metrics.errors.labels(self._name).inc()
        if panic:
            self._metrics.panics.labels(self._name).inc()


class ControllerMetrics:
    """Metrics of one controller and of its queue, which reports to this object."""

    def __init__(self, metrics: Metrics, name: str) -> None:
        self._metrics = metrics
        self._name = name
        self._clock = SystemClock()
        # Children are looked up once: a lookup by labels costs more than counting.
        self._active = metrics.active.labels(name)
        self._durations = metrics.durations.labels(name)
        self._adds = metrics.queue_adds.labels(name, name)
        self._retries = metrics.queue_retries.labels(name, name)
        self._waits = metrics.queue_waits.labels(name, name)
        self._work = metrics.queue_work.labels(name, name)
        for result in RESULTS:
            metrics.reconciles.labels(name, result)
        for family in (metrics.errors, metrics.terminal_errors, metrics.panics):
            family.labels(name)

    @classmethod
    def unseen(cls, name: str) -> ControllerMetrics:
        """Metrics that nobody reads."""
        return cls(Metrics(CollectorRegistry(), process=False), name)

    def watch_queue(self, queue: WorkQueue) -> None:
        """Measure a queue."""
        queue.observer = self
        self._metrics.queues.queues[self._name] = queue

    def workers(self, count: int) -> None:
        """How many reconciles may run at once."""
        self._metrics.workers.labels(self._name).set(count)

    @contextmanager
    def reconciling(self) -> Generator[Outcome]:
        """Measure one reconcile."""
        began = self._clock.monotonic()
        self._active.inc()
        try:
            yield Outcome(self._metrics, self._name)
        finally:
            self._active.dec()
            self._durations.observe(self._clock.monotonic() - began)

    def added(self) -> None:
        """A key came to the queue."""
        self._adds.inc()

    def started(self, waited: float) -> None:
        """A key left the queue after so many seconds."""
        self._waits.observe(waited)

    def finished(self, worked: float) -> None:
        """A key was worked on for so many seconds."""
        self._work.observe(worked)

    def retried(self) -> None:
        """A key was put back after a failure."""
        self._retries.inc()
