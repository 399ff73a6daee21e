"""Starts vLLM (specification: workloads.md 8.3)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from dynamo_operator.domain import variables
from dynamo_operator.domain.manifest import Tree
from dynamo_operator.render.backends.command import runs_python, with_flags, with_trailing_flags
from dynamo_operator.render.backends.contract import UNPROBED, Launch, Role, Start
from dynamo_operator.render.backends.sizes import gpu_limit, size_in

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


def _cache_root(start: Start) -> tuple[Tree, ...]:
    """Points vLLM at the first compilation cache, if the user said where that is.

    At the default mount point nothing is said, because running pods are not told either.
    """
    caches = [mount.mount_point for mount in start.component.volume_mounts if mount.compilation_cache]
    if not caches or not caches[0]:
        return ()
    return ({"name": variables.VLLM_CACHE_ROOT, "value": caches[0]},)


def _spread(start: Start) -> Launch:
    """Over the nodes by Ray when one engine is larger than a node, by data parallelism when all engines are.

    What fits one node, or asks for no number of GPUs, runs on every node alike.
    """
    words = " ".join([*start.args, *start.command]).split()
    engine = size_in(words, "--tensor-parallel-size", "-tp") * size_in(words, "--pipeline-parallel-size", "-pp")
    engines = size_in(words, "--data-parallel-size", "-dp")
    gpus = gpu_limit(start.component)
    if 0 < gpus < engine:
        return _by_ray(start)
    if 0 < gpus < engine * engines:
        return _by_data(start, gpus // engine)
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
