"""Writes fail in every way a network and an API server can make them fail; the graph converges all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.bed import GRAPH, Bed, graph, image, service, services_patch
from tests.support.faults import WRITES, Answer, Drop, Duplicate, Fault, Match, Rule
from tests.support.graphs import image_of
from tests.support.operator import operating, restricted_to
from tests.support.proxy_thread import proxy_running

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

NEW = "registry.example/runtime:2"
# One of three among the first writes of objects and statuses.
SOME = Match(methods=WRITES, path=r"^(?!.*/(leases|events))", nth=range(1, 40, 3))


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Answer(429, retry_after=1), id="429: waits as told and tries again"),
        pytest.param(Answer(500), id="500: tried again"),
        pytest.param(Answer(503), id="503: tried again"),
        pytest.param(Answer(504, forwarded=True), id="504 though it took effect: tried again, nothing twice"),
        pytest.param(Drop(), id="connection breaks before: tried again"),
        pytest.param(Drop(forwarded=True), id="connection breaks after: tried again, nothing twice"),
        pytest.param(Duplicate(), id="a request arrives twice: same as once"),
    ],
)
def test_writes_fail_the_graph_converges(empty_stage: Bed, tmp_path: Path, fault: Fault) -> None:
    bed, flags = empty_stage, restricted_to(empty_stage.namespace)
    with proxy_running(bed.plane.operator_kubeconfig, tmp_path) as proxy:
        proxy.add(Rule(SOME, fault))
        with operating(proxy.kubeconfig, tmp_path, *flags) as operator:
            bed.explain, pid = operator.last_words, operator.pid
            bed.create(graph("llm", Frontend=service(componentType="frontend"), Worker=service()))
            bed.becomes_ready("llm", seconds=90)
            bed.patch(GRAPH, "llm", services_patch(Worker=image(NEW)))
            bed.comes_to_rest("llm", seconds=90)
            assert [each.fault for each in proxy.seen].count(fault) >= 5
            assert (operator.ended, operator.pid) == (False, pid)
    images = {each["metadata"]["name"]: image_of(each) for each in bed.items("Deployment")}
    assert images["llm-worker"] == NEW
    assert set(images) == {"llm-frontend", "llm-worker"}
