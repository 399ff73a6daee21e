"""The operator is killed at every single write; what comes out is what would have come out without."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import pytest

from tests.support.bed import GRAPH, Bed, fresh_bed, graph, image, service, services_patch
from tests.support.cluster import ControlPlane
from tests.support.dump import dump
from tests.support.fault_proxy import FaultProxy
from tests.support.faults import WRITES, Kill, Match, Rule
from tests.support.operator import OperatorProcess, restricted_to
from tests.support.proxy_thread import proxy_running

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

# Most of a life is waiting for counters to come to rest, so several fit beside each other.
LANES = 4

Dump = dict[str, str]


@dataclass(frozen=True, slots=True)
class Life:
    """What an operator makes of a graph and with how many writes: when it is new, and after a change."""

    created: Dump
    updated: Dump
    writes: int


class Lane:
    """A namespace with an operator behind a proxy; one graph after the other lives there."""

    def __init__(self, bed: Bed, proxy: FaultProxy, folder: Path) -> None:
        self.bed, self.proxy = bed, proxy
        self.operator = OperatorProcess(proxy.kubeconfig, folder, *restricted_to(bed.namespace))
        self.operator.start()

    def undisturbed(self, name: str) -> Life:
        """The life of a graph without faults."""
        self.bed.create(graph(name, Worker=service()))
        created, writes = self._at_rest(name), self._writes(name)
        self._update(name)
        updated = self._at_rest(name)
        return Life(created, updated, max(writes, self._writes(name) - writes))

    def disturbed(self, name: str, kill: Kill, write: int, life: Life) -> int:
        """Live the life of a graph with a kill at a write of its creation and of its change; how often it died."""
        self._kill_at(name, kill, write)
        self.bed.create(graph(name, Worker=service()))
        deaths = self._recovers(name, life.created)
        self._kill_at(name, kill, write)
        self._update(name)
        deaths += self._recovers(name, life.updated)
        self.bed.delete(GRAPH, name)
        return deaths

    def _update(self, name: str) -> None:
        self.bed.patch(GRAPH, name, services_patch(Worker=image("registry.example/runtime:2")))

    def _at_rest(self, name: str) -> Dump:
        self.bed.explain = self.operator.last_words
        self.bed.comes_to_rest(name)
        return dump(self.bed, name)

    def _writes(self, name: str) -> int:
        return len(self.proxy.matching(Match(methods=WRITES, path=f"/{name}")))

    def _kill_at(self, name: str, kill: Kill, write: int) -> None:
        self.proxy.clear()
        self.proxy.seen.clear()
        fault = replace(kill, pid=lambda: self.operator.pid)
        self.proxy.add(Rule(Match(methods=WRITES, path=f"/{name}", nth=write), fault))

    def _recovers(self, name: str, wanted: Dump) -> bool:
        """Start the operator again if it was killed, and wait for the wanted result; whether it was killed."""
        self.bed.eventually("killed or as wanted", lambda: self.operator.ended or self._resembles(name, wanted), 60)
        self.proxy.clear()
        # The result may be there an instant before the operator that made it is dead.
        killed = any(isinstance(each.fault, Kill) for each in self.proxy.seen)
        if killed:
            self.operator.wait()
            self.operator.start()
        self.bed.eventually("as wanted", lambda: self._resembles(name, wanted), 60)
        return killed

    def _resembles(self, name: str, wanted: Dump) -> bool:
        """Whether the namespace holds of a graph what an undisturbed operator would have made."""
        found = dump(self.bed, name)
        differing = sorted(each for each in wanted.keys() | found.keys() if wanted.get(each) != found.get(each))
        texts = [f"{each}: {wanted.get(each)} IS {found.get(each)}" for each in differing[:1]]
        self.bed.explain = lambda: f"differing: {differing} {texts}\n{self.operator.last_words()}"
        return not differing


@contextmanager
def lane(plane: ControlPlane, url: str, folder: Path) -> Iterator[Lane]:
    """A lane that is cleared in the end."""
    folder.mkdir()
    with fresh_bed(plane, url) as bed, proxy_running(plane.operator_kubeconfig, folder) as proxy:
        one = Lane(bed, proxy, folder)
        try:
            yield one
        finally:
            one.operator.kill()
        assert "Traceback" not in one.operator.log_text(), one.operator.log_text()


def test_killed_at_any_write_the_next_operator_ends_at_the_same_bytes(
    control_plane: ControlPlane, gateway_url: str, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        folders = [tmp_path / str(number) for number in range(LANES)]
        lanes = [stack.enter_context(lane(control_plane, gateway_url, folder)) for folder in folders]
        life = lanes[0].undisturbed("life-000")
        # One write more than there are, to see that there are no more.
        kills = [Kill(0, forwarded=forwarded) for forwarded in (False, True)]
        wanted = list(product(kills, range(1, life.writes + 2)))

        def lived(number: int) -> int:
            shares = enumerate(wanted[number::LANES])
            return sum(lanes[number].disturbed(f"life-{at + 1:03}", *share, life) for at, share in shares)

        with ThreadPoolExecutor(LANES) as pool:
            deaths = sum(pool.map(lived, range(LANES)))
    assert deaths >= 2 * life.writes
