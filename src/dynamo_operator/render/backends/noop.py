"""Stands for the backend of everything that is no worker, and of workers whose backend nobody named."""

from __future__ import annotations

from dataclasses import dataclass

from dynamo_operator.render.backends.contract import Launch, Start


@dataclass(frozen=True, slots=True)
class Noop:
    """Changes nothing."""

    name: str = "noop"
    cache_path: str = ""
    needs_ssh: bool = False

    def launch(self, _start: Start, /) -> Launch:
        """Nothing."""
        return Launch()
