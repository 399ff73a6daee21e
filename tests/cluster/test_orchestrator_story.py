"""What places replicas on several nodes comes, goes and breaks while the operator runs; it deletes nothing for that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cluster.programs import LWS

from tests.support.bed import COMPONENT, GRAPH, Bed, condition_of, graph, service, services_patch
from tests.support.sets import PATIENCE, attention, on_nodes, spread
from tests.support.whole_cluster import Program

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

DEFINITIONS = "apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SETS, GROUPS = "leaderworkersets.leaderworkerset.x-k8s.io", "podgroups.scheduling.volcano.sh"
LACKING = (
    "spec.services[w].multinode: asks for 2 nodes, and the cluster lacks {0}; install {0}, or install Grove, or take"
)
FAILED = "failed to reconcile Dynamo components deployments: no multinode orchestrator available"


class Definitions:
    """Custom resource definitions that are taken away and put back."""

    def __init__(self, bed: Bed) -> None:
        self._bed = bed
        self._taken: dict[str, dict[str, Any]] = {}

    def take(self, name: str) -> None:
        """Delete a definition and, with it, all objects of its kind."""
        found = self._bed.send("GET", f"{DEFINITIONS}/{name}").json()
        meta = {"name": name, "annotations": found["metadata"].get("annotations", {})}
        self._taken[name] = {"metadata": meta, "spec": found["spec"]}
        assert self._bed.send("DELETE", f"{DEFINITIONS}/{name}").ok
        gone = lambda: self._bed.send("GET", f"{DEFINITIONS}/{name}").status_code == 404  # noqa: E731
        self._bed.eventually(f"{name} is gone", gone, PATIENCE)

    def put_back(self, *names: str) -> None:
        """Create definitions again."""
        for name in names or tuple(self._taken):
            answer = self._bed.send("POST", DEFINITIONS, self._taken.pop(name))
            assert answer.ok, answer.text


@pytest.fixture
def bed(sets_bed: Bed) -> Bed:
    return sets_bed


@pytest.fixture
def definitions(bed: Bed) -> Iterator[Definitions]:
    """At the end all are there, whatever happened."""
    found = Definitions(bed)
    yield found
    found.put_back()


@pytest.fixture
def controller(bed: Bed) -> Iterator[Program]:
    """The controller of LeaderWorkerSets and its webhooks; at the end it runs."""
    program = Program(bed.plane, LWS)
    yield program
    if not program.running:
        program.start()


def ids(bed: Bed, *kinds: str) -> dict[str, str]:
    """Id of every object of these kinds that stays, by kind and name."""
    items = (each for kind in kinds for each in bed.items(kind) if "deletionTimestamp" not in each["metadata"])
    return {f"{each['kind']}/{each['metadata']['name']}": each["metadata"]["uid"] for each in items}


def says(bed: Bed, kind: str, name: str, condition: str) -> str:
    """The message of a condition."""
    return condition_of(bed.read(kind, name) or {}, condition).get("message", "")


def lacks(bed: Bed, name: str, what: str) -> Callable[[], bool]:
    """Whether a graph says that the cluster lacks something, and what to do."""
    wanted = LACKING.format(what)
    return lambda: (attention(bed, name) or "").startswith(wanted) and says(bed, GRAPH, name, "Ready") == FAILED


def test_it_is_installed_piece_by_piece_and_the_graph_goes_on_by_itself(bed: Bed, definitions: Definitions) -> None:
    definitions.take(GROUPS)
    definitions.take(SETS)
    bed.create(graph("s", w=on_nodes()))
    bed.eventually("both are missing", lacks(bed, "s", "LeaderWorkerSet and Volcano"), PATIENCE)
    definitions.put_back(SETS)
    bed.eventually("one is missing", lacks(bed, "s", "Volcano"), PATIENCE)
    definitions.put_back(GROUPS)
    bed.becomes_ready("s", PATIENCE)
    assert attention(bed, "s") is None
    assert bed.names("LeaderWorkerSet") == bed.names("PodGroup") == {"s-w-0"}


def test_the_scheduler_is_removed_and_what_runs_stays(bed: Bed, definitions: Definitions) -> None:
    bed.create(graph("s", Front=service("frontend"), w=on_nodes()))
    bed.becomes_ready("s", PATIENCE)
    kinds = (COMPONENT, "LeaderWorkerSet", "StatefulSet", "Deployment", "Service", "Pod")
    before = ids(bed, *kinds)
    definitions.take(GROUPS)
    bed.eventually("it is missing", lacks(bed, "s", "Volcano"), PATIENCE)
    bed.eventually(
        "the component says so",
        lambda: says(bed, COMPONENT, "s-w", "Available").endswith("no multinode orchestrator available"),
        PATIENCE,
    )
    bed.patch(GRAPH, "s", services_patch(w={"replicas": 2}, Front={"replicas": 2}))
    bed.eventually("it is still missing", lacks(bed, "s", "Volcano"), PATIENCE)
    assert ids(bed, *kinds) == before
    definitions.put_back()
    bed.becomes_ready("s", PATIENCE)
    assert ids(bed, *kinds).items() >= before.items()
    assert bed.names("PodGroup") == bed.names("LeaderWorkerSet") == {"s-w-0", "s-w-1"}


def test_the_definition_of_sets_is_deleted_and_comes_back(bed: Bed, definitions: Definitions) -> None:
    bed.create(spread("s"))
    bed.becomes_ready("s", PATIENCE)
    before = ids(bed, COMPONENT, "PodGroup")
    definitions.take(SETS)
    bed.eventually("it is missing", lacks(bed, "s", "LeaderWorkerSet"), PATIENCE)
    assert ids(bed, COMPONENT, "PodGroup") == before
    definitions.put_back()
    bed.becomes_ready("s", PATIENCE)
    assert attention(bed, "s") is None
    assert ids(bed, COMPONENT, "PodGroup") == before


def test_a_service_comes_back_to_one_node_while_the_way_to_several_is_gone(bed: Bed, definitions: Definitions) -> None:
    bed.create(spread("s"))
    bed.becomes_ready("s", PATIENCE)
    definitions.take(SETS)
    bed.eventually("it is missing", lacks(bed, "s", "LeaderWorkerSet"), PATIENCE)
    bed.patch(GRAPH, "s", services_patch(w={"multinode": None}))
    status = bed.becomes_ready("s", PATIENCE)["status"]
    assert status["services"]["w"]["componentKind"] == "Deployment"
    assert attention(bed, "s") is None
    bed.eventually("the group is gone", lambda: bed.names("PodGroup") == set(), PATIENCE)


def test_the_controller_of_sets_is_down_and_what_runs_is_not_touched(bed: Bed, controller: Program) -> None:
    bed.create(spread("old"))
    bed.becomes_ready("old", PATIENCE)
    before = ids(bed, "LeaderWorkerSet", "StatefulSet", "Pod")
    controller.kill()
    bed.create(spread("new"))
    bed.eventually(
        "the webhook is named",
        lambda: (
            "failed calling webhook" in (said := says(bed, COMPONENT, "new-w", "Available"))
            and "failed to sync the LeaderWorkerSet" in said
        ),
        PATIENCE,
    )
    bed.patch(GRAPH, "old", services_patch(w={"replicas": 2}))
    bed.eventually(
        "the other one too", lambda: "failed calling webhook" in says(bed, COMPONENT, "old-w", "Available"), PATIENCE
    )
    assert ids(bed, "LeaderWorkerSet", "StatefulSet", "Pod") == before
    controller.start()
    for name in ("new", "old"):
        bed.becomes_ready(name, 2 * PATIENCE)
    assert ids(bed, "LeaderWorkerSet", "StatefulSet", "Pod").items() >= before.items()
