"""Starts vLLM (specification: workloads.md 8.3)."""

from __future__ import annotations

from dataclasses import dataclass

from dynamo_operator.domain import variables
from dynamo_operator.render.backends.contract import Launch, Start


@dataclass(frozen=True, slots=True)
class Vllm:
    """vLLM: keeps compiled kernels in a cache directory that may be a claim."""

    name: str = "vllm"
    cache_path: str = "/root/.cache/vllm"

    def launch(self, start: Start, /) -> Launch:
        """Points vLLM at the first compilation cache, if the user said where that is.

        At the default mount point nothing is said, because running pods are not told either.
        """
        caches = [mount.mount_point for mount in start.component.volume_mounts if mount.compilation_cache]
        if not caches or not caches[0]:
            return Launch()
        return Launch(environment=({"name": variables.VLLM_CACHE_ROOT, "value": caches[0]},))
