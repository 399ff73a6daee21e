"""The operator is killed amid a scale, at every single write; the next one carries the number on."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tests.support.bed import Bed
from tests.support.cluster import ControlPlane
from tests.support.fault_proxy import FaultProxy
from tests.support.faults import WRITES, Kill, Match, Rule
from tests.support.operator import OperatorProcess, restricted_to
from tests.support.proxy_thread import proxy_running
from tests.support.scaling import arrived, comes_to, scale, scaled_graph

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

CARRYING = Match(methods=WRITES, path=r"/(torn|torn-worker)(/status)?(\?|$)")
"""Writes of the objects that a number goes through, and of their statuses."""


class Scaled:
    """A graph of one scaled service, with an operator behind a proxy."""

    def __init__(self, bed: Bed, proxy: FaultProxy, folder: Path) -> None:
        self.bed, self.proxy = bed, proxy
        self.operator = OperatorProcess(proxy.kubeconfig, folder, *restricted_to(bed.namespace))
        bed.explain = self.operator.last_words
        self.operator.start()
        bed.create(scaled_graph("torn"))
        comes_to(bed, "torn", 1)

    def writes(self, replicas: int) -> int:
        """How many writes it takes to scale."""
        before = len(self.proxy.matching(CARRYING))
        assert scale(self.bed, "torn-worker", replicas).ok
        comes_to(self.bed, "torn", replicas)
        return len(self.proxy.matching(CARRYING)) - before

    def killed_at(self, write: int, replicas: int, *, forwarded: bool) -> bool:
        """Scale, with a kill at a write if there are so many; whether it came to that."""
        fault = Kill(lambda: self.operator.pid, forwarded=forwarded)
        self.proxy.clear()
        self.proxy.seen.clear()
        self.proxy.add(Rule(Match(CARRYING.methods, CARRYING.path, nth=write), fault))
        assert scale(self.bed, "torn-worker", replicas).ok
        self.bed.eventually("killed or there", lambda: self.operator.ended or arrived(self.bed, "torn", replicas))
        self.proxy.clear()
        # The number may be there an instant before the operator that carried it is dead.
        died = any(isinstance(each.fault, Kill) for each in self.proxy.seen)
        if died:
            self.operator.wait()
            self.operator.start()
        comes_to(self.bed, "torn", replicas)
        return died


def test_killed_at_any_write_of_a_scale_the_number_arrives(
    control_plane: ControlPlane, gateway_url: str, empty_stage: Bed, tmp_path: Path
) -> None:
    with proxy_running(control_plane.operator_kubeconfig, tmp_path) as proxy:
        scaled = Scaled(empty_stage, proxy, tmp_path)
        try:
            writes = scaled.writes(2)
            kills = list(product(range(1, writes + 1), (False, True)))
            deaths = [
                scaled.killed_at(write, 1 + turn % 2, forwarded=forwarded)
                for turn, (write, forwarded) in enumerate(kills)
            ]
        finally:
            scaled.operator.kill()
    # A number travels in as few writes as it takes to carry it on: graph, component, Deployment.
    assert sum(deaths) >= 2 * 3
    assert "Traceback" not in scaled.operator.log_text()
