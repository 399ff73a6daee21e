"""The backends there are; a new one is a file beside this one and a line here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dynamo_operator.domain.outcome import Unrenderable
from dynamo_operator.render.backends.contract import Backend
from dynamo_operator.render.backends.noop import Noop
from dynamo_operator.render.backends.sglang import SGLang
from dynamo_operator.render.backends.trtllm import TensorRTLLM
from dynamo_operator.render.backends.vllm import Vllm

# The order is that of the names in the message about several backends in one command.
FRAMEWORKS: Final[tuple[Backend, ...]] = (Vllm(), SGLang(), TensorRTLLM())

NOOP: Final[Backend] = Noop()

_BY_NAME: Final[Mapping[str, Backend]] = {backend.name: backend for backend in (*FRAMEWORKS, NOOP)}


def backend_named(name: str) -> Backend:
    """The backend of that name; raises Unrenderable when there is none."""
    if name not in _BY_NAME:
        raise Unrenderable(f"unsupported backend framework: {name}")
    return _BY_NAME[name]
