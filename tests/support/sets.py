"""A control plane with LeaderWorkerSet and a scheduler named volcano, for the stories of one file at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.bed import COMPONENT, GRAPH, Bed, condition_of, fresh_bed, gateway, graph, service
from tests.support.cluster import CHECKOUT, ControlPlane, local_control_plane
from tests.support.operator import CLUSTER_WIDE, OperatorProcess, operating

PATIENCE = 60.0
KEYS = "mpi-keys"
SYSTEM = "dynamo-system"
FLAGS = (*CLUSTER_WIDE, f"--mpi-run-ssh-secret-name={KEYS}", f"--mpi-run-ssh-secret-namespace={SYSTEM}")
"""Flags of an operator that can give TensorRT-LLM a key pair."""


@pytest.fixture(scope="module")
def sets_plane() -> Iterator[ControlPlane]:
    """The cluster. Of its own for each test worker, as it is stopped at the end."""
    if os.environ.get("USE_EXISTING_CLUSTER") == "1":
        pytest.skip("needs a cluster of its own: LeaderWorkerSet and a scheduler named volcano")
    name = f"{os.environ.get('CLUSTER_NAME', 'test')}-lws{os.environ.get('PYTEST_XDIST_WORKER', '')}"
    yield local_control_plane(name, "--with", "lws,volcano")
    command = [sys.executable, "-m", "cluster", "stop", "--name", name]
    subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True)  # noqa: S603


@pytest.fixture(scope="module")
def sets_url(sets_plane: ControlPlane) -> Iterator[str]:
    """Where stories reach it as administrator."""
    with gateway(sets_plane) as address:
        yield address


@pytest.fixture(scope="module")
def sets_operator(sets_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OperatorProcess]:
    """An operator for all of its namespaces."""
    with operating(sets_plane.operator_kubeconfig, tmp_path_factory.mktemp("operator"), *FLAGS) as process:
        yield process


@pytest.fixture
def sets_bed(sets_plane: ControlPlane, sets_url: str, sets_operator: OperatorProcess) -> Iterator[Bed]:
    """A namespace of it."""
    with fresh_bed(sets_plane, sets_url) as fresh:
        fresh.explain = sets_operator.last_words
        yield fresh


def spread(name: str, framework: str = "sglang", nodes: int = 2, **members: Any) -> dict[str, Any]:
    """A graph with one worker on several nodes of eight GPUs."""
    return graph(name, w=on_nodes(framework, nodes, **members))


def on_nodes(framework: str = "sglang", nodes: int = 2, **members: Any) -> dict[str, Any]:
    """A worker on several nodes of eight GPUs, with sizes that are theirs."""
    sizes = {"sglang": "--tp-size", "vllm": "--tensor-parallel-size", "trtllm": "--tensor-parallel-size"}
    main = {"command": ["python3", "-m", f"dynamo.{framework}"], "args": [sizes[framework], str(8 * nodes)]}
    limits = {"limits": {"gpu": "8"}}
    return service(main=main, multinode={"nodeCount": nodes}, resources=limits, **members)


def counted(bed: Bed, component: str) -> dict[str, Any]:
    """What a component says of its sets, once it says that they are ready."""

    def told() -> dict[str, Any] | None:
        stored = bed.read(COMPONENT, component) or {}
        said = condition_of(stored, "Available")
        current = stored["status"].get("observedGeneration") == stored["metadata"]["generation"]
        ready = current and said["reason"] == "AllLeaderWorkerSetsReady"
        return {"none": True} | stored["status"].get("service", {}) if ready else None

    return bed.eventually(f"{component} is available", told, PATIENCE)


def attention(bed: Bed, name: str) -> str | None:
    """What a graph says cannot work of its newest spec; None when it says nothing."""
    found = bed.read(GRAPH, name) or {}
    said = condition_of(found, "NeedsAttention")
    assert not said or said["observedGeneration"] <= found["metadata"]["generation"]
    return said.get("message")


def rolled(stored: dict[str, Any], size: int) -> bool:
    """Whether a version of a LeaderWorkerSet has that many nodes, all of its newest spec and ready."""
    status = stored.get("status", {})
    return (
        stored["spec"]["leaderWorkerTemplate"]["size"] == size
        and status.get("observedGeneration") == stored["metadata"]["generation"]
        and status.get("updatedReplicas") == status.get("readyReplicas") == 1
    )
