"""When nothing happens, the operator does nothing; not even after a restart."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.audit import AuditLog
from tests.support.bed import Bed, graph, service
from tests.support.dump import versions
from tests.support.operator import CLUSTER_WIDE, operating

pytestmark = pytest.mark.cluster

REST_SECONDS = 3.0


def test_steady_state_asks_nothing_and_a_restart_writes_nothing(whole_bed: Bed, tmp_path: Path) -> None:
    # Other stories leave things behind that the operator has to look at; they are not what this is about.
    log = AuditLog(whole_bed.plane, whole_bed.namespace)
    adapted = service("worker", scalingAdapter={"enabled": True}, modelRef={"name": "Qwen/Qwen3-0.6B"})
    exposed = service("frontend", ingress={"enabled": True, "host": "chat", "ingressControllerClassName": "nginx"})
    with operating(whole_bed.plane.operator_kubeconfig, tmp_path, *CLUSTER_WIDE) as operator:
        whole_bed.explain = operator.last_words
        whole_bed.create(graph("one", Frontend=exposed, Decode=adapted, Prefill=adapted))
        whole_bed.create(graph("two", Worker=service(replicas=0), Planner=service("planner")))
        whole_bed.comes_to_rest("one")
        whole_bed.comes_to_rest("two")
        log.quiet(REST_SECONDS)
        before = versions(whole_bed)
        log.forget()
        operator.restart()
        log.quiet(REST_SECONDS)
    assert log.writes() == []
    assert versions(whole_bed) == before
