"""Metrics under the names of Go operators."""

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from dynamo_operator.runtime.client import RequestSample
from dynamo_operator.runtime.metrics import Metrics
from dynamo_operator.runtime.queue import RESYNC, WorkQueue
from dynamo_operator.runtime.resource import Key
from tests.support.clock import ManualClock

NAMES = """
controller_runtime_reconcile_total controller_runtime_reconcile_errors_total
controller_runtime_terminal_reconcile_errors_total controller_runtime_reconcile_panics_total
controller_runtime_reconcile_time_seconds_bucket controller_runtime_max_concurrent_reconciles
controller_runtime_active_workers workqueue_depth workqueue_adds_total workqueue_queue_duration_seconds_bucket
workqueue_work_duration_seconds_bucket workqueue_unfinished_work_seconds
workqueue_longest_running_processor_seconds workqueue_retries_total leader_election_master_status
leader_election_slowpath_total rest_client_requests_total process_cpu_seconds_total python_info
"""


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def metrics(clock: ManualClock) -> Metrics:
    metrics = Metrics(CollectorRegistry(), clock=clock)
    metrics.leading.labels("lease").set(1)
    metrics.slow_path.labels("lease").inc()
    metrics.observe_request(RequestSample("GET", "localhost:6443", "200", 0.1))
    controller = metrics.controller("graph")
    controller.workers(8)
    controller.watch_queue(WorkQueue(clock))
    return metrics


def test_all_names_are_there_and_nothing_says_when_it_was_created(metrics: Metrics) -> None:
    text = generate_latest(metrics.registry).decode()
    assert [name for name in NAMES.split() if f"\n{name}" not in text] == []
    assert "_created" not in text


async def test_queue_is_read_when_it_is_asked_for(metrics: Metrics, clock: ManualClock) -> None:
    queue = metrics.queues.queues["graph"]
    for name in "abc":
        queue.add(Key("n", name), RESYNC)
    await queue.take()
    await clock.advance(3)
    await queue.take()
    await clock.advance(1)
    labels = {"name": "graph", "controller": "graph"}
    values = [
        metrics.registry.get_sample_value("workqueue_depth", {**labels, "priority": "1"}),
        metrics.registry.get_sample_value("workqueue_unfinished_work_seconds", labels),
        metrics.registry.get_sample_value("workqueue_longest_running_processor_seconds", labels),
        metrics.registry.get_sample_value("workqueue_adds_total", labels),
    ]
    assert values == [1.0, 5.0, 4.0, 3.0]
