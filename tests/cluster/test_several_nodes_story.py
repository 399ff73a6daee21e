"""Replicas that stand on several nodes, by the real controller of LeaderWorkerSets."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.bed import COMPONENT, GRAPH, Bed, condition_of, fresh_bed, gateway, graph, service, services_patch
from tests.support.cluster import CHECKOUT, ControlPlane, local_control_plane
from tests.support.operator import CLUSTER_WIDE, OperatorProcess, operating

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

PATIENCE = 60.0
# Of its own for each test worker, as it is stopped at the end.
NAME = f"{os.environ.get('CLUSTER_NAME', 'test')}-lws{os.environ.get('PYTEST_XDIST_WORKER', '')}"
KEYS = "mpi-keys"
SYSTEM = "dynamo-system"
FLAGS = (*CLUSTER_WIDE, f"--mpi-run-ssh-secret-name={KEYS}", f"--mpi-run-ssh-secret-namespace={SYSTEM}")


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """A cluster with LeaderWorkerSet and Volcano's kinds, for as long as these stories take."""
    if os.environ.get("USE_EXISTING_CLUSTER") == "1":
        pytest.skip("needs a cluster of its own: LeaderWorkerSet and a scheduler named volcano")
    yield local_control_plane(NAME, "--with", "lws,volcano")
    command = [sys.executable, "-m", "cluster", "stop", "--name", NAME]
    subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True)  # noqa: S603


@pytest.fixture(scope="module")
def url(plane: ControlPlane) -> Iterator[str]:
    with gateway(plane) as address:
        yield address


@pytest.fixture(scope="module")
def operator(plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OperatorProcess]:
    with operating(plane.operator_kubeconfig, tmp_path_factory.mktemp("operator"), *FLAGS) as process:
        yield process


@pytest.fixture
def bed(plane: ControlPlane, url: str, operator: OperatorProcess) -> Iterator[Bed]:
    with fresh_bed(plane, url) as fresh:
        fresh.explain = operator.last_words
        yield fresh


def spread(name: str, framework: str = "sglang", **members: Any) -> dict[str, Any]:
    """A graph with one worker on two nodes."""
    main = {"command": ["python3", "-m", f"dynamo.{framework}"], "args": ["--tp", "16"]}
    limits = {"limits": {"gpu": "8"}}
    return graph(name, w=service(main=main, multinode={"nodeCount": 2}, resources=limits, **members))


def counted(bed: Bed, component: str) -> dict[str, Any]:
    """What a component says of its sets, once it says that they are ready."""

    def told() -> dict[str, Any] | None:
        stored = bed.read(COMPONENT, component) or {}
        said = condition_of(stored, "Available")
        current = stored["status"].get("observedGeneration") == stored["metadata"]["generation"]
        ready = current and said["reason"] == "AllLeaderWorkerSetsReady"
        return {"none": True} | stored["status"].get("service", {}) if ready else None

    return bed.eventually(f"{component} is available", told, PATIENCE)


def test_sets_come_and_go_with_replicas(bed: Bed) -> None:
    bed.create(spread("s", replicas=2))
    assert counted(bed, "s-w") | {"none": True} == {
        "none": True,
        "componentKind": "LeaderWorkerSet",
        "componentName": "s-w-0",
        "replicas": 2,
        "updatedReplicas": 2,
        "readyReplicas": 2,
    }
    assert bed.names("PodGroup") == bed.names("LeaderWorkerSet") == {"s-w-0", "s-w-1"}
    bed.patch(GRAPH, "s", services_patch(w={"replicas": 1}))
    bed.eventually("one set is left", lambda: bed.names("LeaderWorkerSet") == {"s-w-0"}, PATIENCE)
    bed.eventually("and its group", lambda: bed.names("PodGroup") == {"s-w-0"}, PATIENCE)
    bed.patch(GRAPH, "s", services_patch(w={"replicas": 0}))
    bed.eventually("no set is left", lambda: not bed.names("LeaderWorkerSet") | bed.names("PodGroup"), PATIENCE)
    bed.eventually("nothing is counted", lambda: counted(bed, "s-w") == {"none": True}, PATIENCE)


def test_more_nodes_reach_set_and_group(bed: Bed) -> None:
    bed.create(spread("s"))
    counted(bed, "s-w")
    bed.patch(GRAPH, "s", services_patch(w={"multinode": {"nodeCount": 3}}))

    def sizes() -> tuple[int, int]:
        stored, group = bed.read("LeaderWorkerSet", "s-w-0") or {}, bed.read("PodGroup", "s-w-0") or {}
        return stored["spec"]["leaderWorkerTemplate"]["size"], group["spec"]["minMember"]

    bed.eventually("three nodes", lambda: sizes() == (3, 3), PATIENCE)
    assert counted(bed, "s-w")["readyReplicas"] == 1


def test_back_on_one_node_there_is_a_deployment_again(bed: Bed) -> None:
    bed.create(spread("s"))
    counted(bed, "s-w")
    bed.patch(GRAPH, "s", services_patch(w={"multinode": None}))
    bed.becomes_ready("s", PATIENCE)
    assert bed.names("Deployment") == {"s-w"}
    bed.eventually("sets are gone", lambda: not bed.names("LeaderWorkerSet") | bed.names("PodGroup"), PATIENCE)


def test_a_restart_of_the_operator_changes_nothing(bed: Bed, operator: OperatorProcess) -> None:
    bed.create(spread("s"))
    counted(bed, "s-w")
    before = bed.version()
    operator.restart()
    bed.patch(GRAPH, "s", {"metadata": {"annotations": {"nvidia.com/enable-metrics": "false"}}})
    bed.eventually("the operator works", lambda: bed.history(COMPONENT, before), PATIENCE)
    assert [item["metadata"]["name"] for item in bed.history("PodGroup", before)] == []


def key_of(bed: Bed) -> str:
    stored = bed.read("Secret", KEYS) or {}
    return base64.b64decode(stored["data"]["private.key"]).decode()


def write_source(bed: Bed, key: str) -> None:
    path = f"api/v1/namespaces/{SYSTEM}/secrets"
    encoded = {"private.key": base64.b64encode(key.encode()).decode()}
    manifest = {"metadata": {"name": KEYS}, "data": encoded}
    if not bed.send("POST", path, manifest).ok:
        answer = bed.send("PATCH", f"{path}/{KEYS}", {"data": encoded}, media="application/merge-patch+json")
        assert answer.ok


def test_the_key_pair_is_missing_then_copied_then_renewed_then_made_again(bed: Bed) -> None:
    bed.send("DELETE", f"api/v1/namespaces/{SYSTEM}/secrets/{KEYS}")
    bed.create(spread("t", "trtllm"))
    missing = f'failed to replicate MPI secret: error getting source secret: secrets "{KEYS}" not found'
    bed.eventually(
        "the graph says what is missing",
        lambda: condition_of(bed.read(GRAPH, "t") or {}, "Ready")["message"] == missing,
        PATIENCE,
    )
    write_source(bed, "first")
    bed.eventually("the key is copied", lambda: key_of(bed) == "first", PATIENCE)
    write_source(bed, "second")
    bed.eventually("the copy is renewed", lambda: key_of(bed) == "second", PATIENCE)
    bed.delete("Secret", KEYS)
    bed.eventually("the copy is made again", lambda: key_of(bed) == "second", PATIENCE)


def test_a_secret_of_the_user_is_left_alone_and_others_get_none(bed: Bed) -> None:
    write_source(bed, "ours")
    bed.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": KEYS}, "stringData": {"private.key": "own"}})
    bed.create(spread("t", "trtllm"))
    counted(bed, "t-w")
    write_source(bed, "newer")
    bed.becomes_ready("t", PATIENCE)
    assert key_of(bed) == "own"


def test_no_other_backend_needs_the_key_pair(bed: Bed) -> None:
    write_source(bed, "ours")
    bed.create(spread("s"))
    bed.becomes_ready("s", PATIENCE)
    assert KEYS not in bed.names("Secret")
