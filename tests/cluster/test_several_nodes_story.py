"""Replicas that stand on several nodes, by the real controller of LeaderWorkerSets."""

from __future__ import annotations

import base64

import pytest

from tests.support.bed import COMPONENT, GRAPH, Bed, condition_of, services_patch
from tests.support.operator import OperatorProcess
from tests.support.sets import KEYS, PATIENCE, SYSTEM, counted, spread

pytestmark = [pytest.mark.cluster, pytest.mark.slow]


@pytest.fixture
def bed(sets_bed: Bed) -> Bed:
    return sets_bed


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


def test_a_restart_of_the_operator_changes_nothing(bed: Bed, sets_operator: OperatorProcess) -> None:
    bed.create(spread("s"))
    counted(bed, "s-w")
    before = bed.version()
    sets_operator.restart()
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
