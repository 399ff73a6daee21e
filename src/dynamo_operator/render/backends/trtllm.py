"""Starts TensorRT-LLM (specification: workloads.md 8.5)."""

from __future__ import annotations

from dataclasses import dataclass

from dynamo_operator.render.backends.contract import Launch, Start


@dataclass(frozen=True, slots=True)
class TensorRTLLM:
    """TensorRT-LLM: on one node it needs nothing."""

    name: str = "trtllm"
    cache_path: str = ""

    def launch(self, _start: Start, /) -> Launch:
        """Nothing."""
        return Launch()
