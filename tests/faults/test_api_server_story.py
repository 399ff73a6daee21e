"""The API server dies while graphs change; the operator waits for it and goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.bed import GRAPH, Bed, graph, image, service, services_patch
from tests.support.graphs import image_of
from tests.support.operator import CLUSTER_WIDE, operating
from tests.support.whole_cluster import Program

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

NAMES = ("one", "two", "three")
NEW = "registry.example/runtime:2"


def test_api_server_dies_amid_changes_all_graphs_converge(whole_bed: Bed, tmp_path: Path) -> None:
    api_server = Program(whole_bed.plane)
    with operating(whole_bed.plane.operator_kubeconfig, tmp_path, *CLUSTER_WIDE) as operator:
        whole_bed.explain, pid = operator.last_words, operator.pid
        for name in NAMES:
            whole_bed.create(graph(name, Worker=service(replicas=2)))
        whole_bed.comes_to_rest("one")
        whole_bed.patch(GRAPH, "one", services_patch(Worker=image(NEW)))
        whole_bed.patch(GRAPH, "two", services_patch(Worker=image(NEW)))
        api_server.kill()
        api_server.start()
        whole_bed.patch(GRAPH, "three", services_patch(Worker=image(NEW)))
        for name in NAMES:
            whole_bed.comes_to_rest(name, seconds=60)
        assert {image_of(each) for each in whole_bed.items("Deployment")} == {NEW}
        assert (operator.ended, operator.pid) == (False, pid)
