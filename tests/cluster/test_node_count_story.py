"""A service changes on how many nodes it stands, or restarts there: nothing is left over, no graph boasts."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.support.bed import COMPONENT, GRAPH, Bed, condition_of, graph, ready, service, services_patch
from tests.support.cluster import CHECKOUT
from tests.support.sets import KEYS, PATIENCE, SYSTEM, attention, on_nodes, rolled, spread

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

WORKLOADS = ("Deployment", "LeaderWorkerSet", "PodGroup", "StatefulSet", "Service", "Pod")


@pytest.fixture
def bed(sets_bed: Bed) -> Bed:
    return sets_bed


def landscape(bed: Bed) -> dict[str, set[str] | int]:
    """What there is in a namespace that pods come from; of pods the number, with those that are on their way out."""
    found: dict[str, set[str] | int] = {kind: bed.names(kind) for kind in WORKLOADS if kind != "Pod"}
    return found | {"Pod": len(bed.items("Pod"))}


def wanted(nodes: int, copies: int) -> dict[str, set[str] | int]:
    """What there is to be for so many copies of s-w on so many nodes each."""
    if nodes == 1:
        nothing: dict[str, set[str] | int] = {"LeaderWorkerSet": set(), "PodGroup": set(), "StatefulSet": set()}
        return nothing | {"Deployment": {"s-w"}, "Service": {"s-w"}, "Pod": copies}
    sets = {f"s-w-{index}" for index in range(copies)}
    return {
        "LeaderWorkerSet": sets,
        "PodGroup": sets,
        "StatefulSet": sets | {f"{name}-0" for name in sets},
        "Deployment": set(),
        "Service": sets | {"s-w"},
        "Pod": nodes * copies,
    }


def resize(bed: Bed, nodes: int) -> None:
    """Change the number of nodes, and nothing else."""
    bed.patch(GRAPH, "s", services_patch(w={"multinode": {"nodeCount": nodes} if nodes > 1 else None}))


def boasts(bed: Bed, since: str, nodes: int) -> list[str]:
    """Versions in which the graph called its newest spec ready before its sets were."""
    sets = [each for each in bed.history("LeaderWorkerSet", since) if rolled(each, nodes)]
    first = {each["metadata"]["name"]: int(each["metadata"]["resourceVersion"]) for each in reversed(sets)}
    verdicts = [each["metadata"] for each in bed.history(GRAPH, since) if ready(each)]
    newest = max(each["generation"] for each in verdicts)
    return [
        each["resourceVersion"]
        for each in verdicts
        if each["generation"] == newest and int(each["resourceVersion"]) < max(first.values())
    ]


def test_nodes_come_and_go_and_nothing_is_left_over(bed: Bed) -> None:
    bed.create(spread("s", replicas=2))
    bed.becomes_ready("s", PATIENCE)
    for nodes in (4, 2, 1, 2):
        before = bed.version()
        resize(bed, nodes)
        status = bed.becomes_ready("s", PATIENCE)["status"]["services"]["w"]
        bed.eventually(f"all of {nodes} nodes, nothing else", lambda n=nodes: landscape(bed) == wanted(n, 2), PATIENCE)
        kind, name = ("LeaderWorkerSet", "s-w-0") if nodes > 1 else ("Deployment", "s-w")
        assert (status["componentKind"], status["componentName"]) == (kind, name)
        if nodes > 1:
            assert boasts(bed, before, nodes) == []
            minimum = {each["spec"]["minMember"] for each in bed.items("PodGroup")}
            assert minimum == {nodes}


def test_sizes_that_the_nodes_do_not_have_are_told_until_they_fit(bed: Bed) -> None:
    bed.create(spread("s"))
    assert attention(bed, "s") is None
    resize(bed, 3)
    told = bed.eventually("it is told", lambda: attention(bed, "s"), PATIENCE)
    assert told.startswith(
        "spec.services[w].extraPodSpec.mainContainer: tensor times pipeline parallel size is 16, which 3"
    )
    resize(bed, 2)
    bed.eventually("nothing is told", lambda: attention(bed, "s") is None, PATIENCE)
    bed.becomes_ready("s", PATIENCE)


def pods(bed: Bed) -> dict[str, str]:
    """Id of every pod that stays, by name."""
    living = (each["metadata"] for each in bed.items("Pod") if "deletionTimestamp" not in each["metadata"])
    return {meta["name"]: meta["uid"] for meta in living}


def test_all_nodes_of_all_copies_restart_and_the_next_service_waits_for_them(bed: Bed) -> None:
    bed.create(graph("s", Front=service("frontend"), w=on_nodes(replicas=2)))
    bed.becomes_ready("s", PATIENCE)
    old, since = pods(bed), bed.version()
    bed.patch(
        GRAPH, "s", {"spec": {"restart": {"id": "r1", "strategy": {"type": "Sequential", "order": ["w", "Front"]}}}}
    )

    def over() -> dict[str, Any]:
        return (bed.read(GRAPH, "s") or {})["status"]["restart"].get("phase") == "Completed"

    bed.eventually("the restart is over", over, PATIENCE)
    new = pods(bed)
    assert set(new.values()) & set(old.values()) == set()
    assert {name for name in new if name.startswith("s-w")} == {name for name in old if name.startswith("s-w")}
    in_turn = [each["status"].get("restart", {}).get("inProgress") for each in bed.history(GRAPH, since)]
    assert list(dict.fromkeys(str(each) for each in in_turn if each)) == ["['w']", "['Front']"]
    bed.becomes_ready("s", PATIENCE)
    bed.eventually("no pod is left over", lambda: len(bed.items("Pod")) == 5, PATIENCE)


def test_a_restart_by_itself_meets_a_change_of_nodes(bed: Bed) -> None:
    bed.create(spread("s"))
    bed.becomes_ready("s", PATIENCE)
    change = {"restart": {"id": "r1"}, "services": {"w": {"multinode": {"nodeCount": 4}}}}
    bed.patch(GRAPH, "s", {"spec": change})
    bed.eventually("half way", lambda: (bed.read(GRAPH, "s") or {})["status"]["restart"]["phase"] == "Restarting")
    bed.patch(GRAPH, "s", services_patch(w={"multinode": None}))
    status = bed.becomes_ready("s", PATIENCE)["status"]
    bed.eventually("one pod, nothing else", lambda: landscape(bed) == wanted(1, 1), PATIENCE)
    restart = bed.eventually(
        "the restart is over",
        lambda: (found := (bed.read(GRAPH, "s") or {})["status"]["restart"])["phase"] == "Completed" and found,
    )
    assert (status["services"]["w"]["componentKind"], restart["observedID"]) == ("Deployment", "r1")
    template = (bed.read("Deployment", "s-w") or {})["spec"]["template"]["metadata"]
    assert template["annotations"]["nvidia.com/restartAt"] == "r1"


def test_surplus_that_somebody_broke_a_hole_into_goes_as_a_whole(bed: Bed) -> None:
    bed.create(spread("s", replicas=4))
    bed.becomes_ready("s", PATIENCE)
    bed.delete("LeaderWorkerSet", "s-w-1")
    bed.delete("PodGroup", "s-w-2")
    bed.patch(GRAPH, "s", services_patch(w={"replicas": 1}))
    bed.eventually("one copy, nothing else", lambda: landscape(bed) == wanted(2, 1), PATIENCE)
    assert bed.becomes_ready("s", PATIENCE)["status"]["services"]["w"]["replicas"] == 1


def test_a_name_that_is_too_long_for_pods_is_told(bed: Bed) -> None:
    bed.create(graph("fits", **{"w" * 43: on_nodes()}))
    bed.create(graph("beyond", **{"w" * 46: on_nodes()}))
    told = bed.eventually("it is told", lambda: attention(bed, "beyond"), PATIENCE)
    assert "has 55 characters, and beyond 50 Kubernetes may refuse its pods" in told
    bed.becomes_ready("fits", PATIENCE)
    assert attention(bed, "fits") is None
    component = f"beyond-{'w' * 46}"
    said = bed.eventually("a status", lambda: condition_of(bed.read(COMPONENT, component) or {}, "Available"))
    assert (said["status"], said["reason"]) == ("False", "SomeLeaderWorkerSetsNotReady")


EXAMPLES = sorted((CHECKOUT / "examples").glob("*.yaml"))


def test_every_example_becomes_ready(bed: Bed) -> None:
    path = f"api/v1/namespaces/{SYSTEM}/secrets"
    bed.send("POST", path, {"metadata": {"name": KEYS}, "stringData": {"private.key": "k", "private.key.pub": "p"}})
    for example in EXAMPLES:
        bed.create(yaml.safe_load(example.read_text("utf-8")))
    for name in bed.names(GRAPH):
        bed.becomes_ready(name, PATIENCE)
        assert attention(bed, name) is None
