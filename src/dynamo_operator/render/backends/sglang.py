"""Starts SGLang (specification: workloads.md 8.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dynamo_operator.domain.outcome import Doubt
from dynamo_operator.render.backends.command import runs_python, unreachable, with_flags
from dynamo_operator.render.backends.contract import GPU_FIELD, MAIN_FIELD, UNPROBED, Launch, Role, Start
from dynamo_operator.render.backends.sizes import gpu_limit, size_in, words_asked_for

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

    def doubts(self, start: Start, /) -> Iterator[Doubt]:
        """Ranks that cannot stand on the nodes, and commands to which nothing can be added."""
        yield from unreachable(start, self.name)
        words = words_asked_for(start.command, start.args)
        # Sizes in a file are not ours to read.
        if not any(word.startswith("--config") for word in words):
            yield from _size_doubts(words, start.placement.nodes, gpu_limit(start.component))


def _size_doubts(words: list[str], nodes: int, gpus: int) -> Iterator[Doubt]:
    ranks = size_in(words, "--tp-size", "--tensor-parallel-size", "--tp") * size_in(
        words, "--pp-size", "--pipeline-parallel-size", "--pp"
    )
    if ranks % nodes:
        text = f"tensor times pipeline parallel size is {ranks}, which {nodes} nodes do not divide, so that SGLang ends"
        yield Doubt(MAIN_FIELD, f"{text} at once; change the sizes or multinode.nodeCount")
    elif 0 < gpus != ranks // nodes:
        text = f"tensor times pipeline parallel size is {ranks}, {nodes} nodes of {gpus} GPUs have {nodes * gpus}"
        yield Doubt(MAIN_FIELD, f"{text}; change the sizes, {GPU_FIELD} or multinode.nodeCount")
