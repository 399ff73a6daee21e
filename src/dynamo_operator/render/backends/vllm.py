"""Starts vLLM (specification: workloads.md 8.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from dynamo_operator.domain import variables
from dynamo_operator.domain.manifest import Tree
from dynamo_operator.domain.outcome import Doubt
from dynamo_operator.render.backends.command import runs_python, unreachable, with_flags, with_trailing_flags
from dynamo_operator.render.backends.contract import GPU_FIELD, MAIN_FIELD, UNPROBED, Launch, Role, Start
from dynamo_operator.render.backends.sizes import gpu_limit, size_in, words_of

_NAME: Final = "vllm"
_RAY_PORT: Final = 6379
_RPC_PORT: Final = 13445


@dataclass(frozen=True, slots=True)
class Vllm:
    """vLLM: keeps compiled kernels in a cache directory that may be a claim; spreads by Ray or by data parallelism."""

    name: str = _NAME
    cache_path: str = "/root/.cache/vllm"
    needs_ssh: bool = False

    def launch(self, start: Start, /) -> Launch:
        """Where its cache is and, on several nodes, how it spreads; workers answer no probes."""
        launch = Launch() if start.placement.nodes == 1 else _spread(start)
        probes = UNPROBED if start.placement.role is Role.WORKER else ()
        return replace(launch, environment=_cache_root(start), probes=probes)

    def doubts(self, start: Start, /) -> Iterator[Doubt]:
        """Sizes that are not those of the nodes, and commands to which nothing can be added."""
        sizes, nodes = _sizes(start), start.placement.nodes
        if sizes.gpus <= 0:
            text = f"is no whole number, so that each of the {nodes} nodes serves by itself; give the GPUs of one node"
            yield Doubt(GPU_FIELD, text)
        else:
            yield from _size_doubts(sizes, nodes)
        if sizes.engine <= sizes.gpus < sizes.all:
            yield from unreachable(start, _NAME)


def _cache_root(start: Start) -> tuple[Tree, ...]:
    """Points vLLM at the first compilation cache, if the user said where that is.

    At the default mount point nothing is said, because running pods are not told either.
    """
    caches = [mount.mount_point for mount in start.component.volume_mounts if mount.compilation_cache]
    if not caches or not caches[0]:
        return ()
    return ({"name": variables.VLLM_CACHE_ROOT, "value": caches[0]},)


@dataclass(frozen=True, slots=True)
class _Sizes:
    """GPUs of one engine, how many engines there are, and the GPUs of one node (0: unknown)."""

    engine: int
    engines: int
    gpus: int

    @property
    def all(self) -> int:
        """GPUs of all engines."""
        return self.engine * self.engines


def _sizes(start: Start) -> _Sizes:
    words = words_of(start.command, start.args)
    engine = size_in(words, "--tensor-parallel-size", "-tp") * size_in(words, "--pipeline-parallel-size", "-pp")
    return _Sizes(engine, size_in(words, "--data-parallel-size", "-dp"), gpu_limit(start.component))


def _size_doubts(sizes: _Sizes, nodes: int) -> Iterator[Doubt]:
    asked = f"the tensor, pipeline and data parallel sizes ask for {sizes.all} GPUs"
    there = sizes.gpus * nodes
    if sizes.all <= sizes.gpus:
        text = f"which one node has, so that each of the {nodes} nodes serves by itself; ask for {there}, or take"
        yield Doubt(MAIN_FIELD, f"{asked}, {text} multinode out")
    elif sizes.all != there:
        text = f"{nodes} nodes of {sizes.gpus} have {there}; change the sizes, {GPU_FIELD} or multinode.nodeCount"
        yield Doubt(MAIN_FIELD, f"{asked}, {text}")
    elif sizes.engine < sizes.gpus and sizes.gpus % sizes.engine:
        text = f"one engine takes {sizes.engine} GPUs, which do not divide the {sizes.gpus} of a node; change the sizes"
        yield Doubt(MAIN_FIELD, text)


def _spread(start: Start) -> Launch:
    """Over the nodes by Ray when one engine is larger than a node, by data parallelism when all engines are.

    What fits one node, or asks for no number of GPUs, runs on every node alike.
    """
    sizes = _sizes(start)
    if 0 < sizes.gpus < sizes.engine:
        return _by_ray(start)
    if 0 < sizes.gpus < sizes.all:
        return _by_data(start, sizes.gpus // sizes.engine)
    return Launch()


def _by_ray(start: Start) -> Launch:
    """The leader runs the command on top of a Ray cluster, to which the workers lend their GPUs."""
    if start.placement.role is Role.WORKER:
        script = f"ray start --address={start.placement.peers.leader}:{_RAY_PORT} --block"
    else:
        line = with_trailing_flags(start, "--distributed-executor-backend ray", framework=_NAME)
        script = f"ray start --head --port={_RAY_PORT} && {line}"
    return Launch(command=("/bin/sh", "-c"), args=(script,))


def _by_data(start: Start, local: int) -> Launch:
    """Every node runs its share of the engines, and an API server of its own in front of them."""
    peers = start.placement.peers
    worker = start.placement.role is Role.WORKER
    read_by_shell = worker or not runs_python(start.command)
    first = f"$(( {local} * {peers.rank_term} ))" if worker else "0"
    flags = (
        f"--data-parallel-hybrid-lb --data-parallel-size-local {local} --data-parallel-start-rank {first} "
        f"--data-parallel-address {peers.leader if read_by_shell else peers.leader_argument} "
        f"--data-parallel-rpc-port {_RPC_PORT}"
    )
    return with_flags(start, flags, framework=_NAME, by_shell=worker)
