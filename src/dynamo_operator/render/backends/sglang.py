"""Starts SGLang (specification: workloads.md 8.4)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dynamo_operator.render.backends.command import runs_python, with_flags
from dynamo_operator.render.backends.contract import UNPROBED, Launch, Role, Start

_PORT = 29500


@dataclass(frozen=True, slots=True)
class SGLang:
    """SGLang: on one node it needs nothing; on several, every rank dials the leader."""

    name: str = "sglang"
    cache_path: str = ""
    needs_ssh: bool = False

    def launch(self, start: Start, /) -> Launch:
        """The flags of its rank; workers answer no probes."""
        place = start.placement
        if place.nodes == 1:
            return Launch()
        worker = place.role is Role.WORKER
        read_by_shell = worker or not runs_python(start.command)
        leader = place.peers.leader if read_by_shell else place.peers.leader_argument
        rank = place.peers.rank if worker else "0"
        flags = f"--dist-init-addr {leader}:{_PORT} --nnodes {place.nodes} --node-rank {rank}"
        launch = with_flags(start, flags, framework=self.name, by_shell=worker)
        return replace(launch, probes=UNPROBED) if worker else launch
