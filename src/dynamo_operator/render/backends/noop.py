"""Stands for the backend of everything that is no worker, and of workers whose backend nobody named."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dynamo_operator.domain.outcome import Doubt
from dynamo_operator.render.backends.contract import MAIN_FIELD, Launch, Start


@dataclass(frozen=True, slots=True)
class Noop:
    """Changes nothing."""

    name: str = "noop"
    cache_path: str = ""
    needs_ssh: bool = False

    def launch(self, _start: Start, /) -> Launch:
        """Nothing."""
        return Launch()

    def doubts(self, start: Start, /) -> Iterable[Doubt]:
        """Nobody tells the nodes of each other."""
        nodes = start.placement.nodes
        text = (
            f"its backend is unknown, so that each of the {nodes} nodes runs the command by itself; start dynamo.vllm,"
        )
        yield Doubt(MAIN_FIELD, f"{text} dynamo.sglang or dynamo.trtllm, or set spec.backendFramework")
