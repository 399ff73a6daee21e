"""Which graphs need the key pair by which nodes reach each other."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_operator.render.ssh_key import needs_ssh_key
from tests.support.graphs import graph_of

TWO = {"nodeCount": 2}


def worker(command: str = "", **fields: Any) -> dict[str, Any]:
    container = {"mainContainer": {"image": "i", "command": ["sh", "-c"], "args": [command]}}
    return {"componentType": "worker", "extraPodSpec": container, **fields}


ROWS: list[tuple[str, dict[str, Any], str, bool]] = [
    ("TensorRT-LLM on two nodes: needed", worker(multinode=TWO), "trtllm", True),
    ("TensorRT-LLM by its command: needed", worker("python3 -m dynamo.trtllm", multinode=TWO), "", True),
    ("TensorRT-LLM on one node: not needed", worker(), "trtllm", False),
    ("SGLang on two nodes: not needed", worker(multinode=TWO), "sglang", False),
    ("no backend on two nodes: not needed", worker(multinode=TWO), "", False),
    ("command and declaration disagree: not needed", worker("python3 -m dynamo.vllm", multinode=TWO), "trtllm", False),
]


@pytest.mark.parametrize(("title", "service", "backend", "wanted"), ROWS, ids=[row[0] for row in ROWS])
def test_needed(title: str, service: dict[str, Any], backend: str, wanted: bool) -> None:
    named = {"backendFramework": backend} if backend else {}
    assert needs_ssh_key(graph_of({"w": service, "other": worker()}, **named)) is wanted
