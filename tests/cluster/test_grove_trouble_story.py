"""Grove comes, goes and breaks while the operator runs: it is noticed and said, and what runs goes on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.bed import COMPONENT, GRAPH, Bed, condition_of, graph, image, service, services_patch
from tests.support.grove import CLIQUE, PATHWAY, PATIENCE, SET, Grove, hosts

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

QUEUE = "nvidia.com/kai-scheduler-queue"
FAILED = (
    "failed to reconcile Dynamo components deployments: failed to reconcile the Grove PodClique Set: "
    "failed to {} the Grove GangSet: "
)


@pytest.fixture
def bed(grove_bed: Bed) -> Bed:
    return grove_bed


def said(bed: Bed, name: str) -> str:
    """What the graph says about why it is not ready, empty when it is."""
    ready = condition_of(bed.read(GRAPH, name) or {}, "Ready")
    return "" if ready["status"] == "True" else ready["message"]


def uids(bed: Bed) -> set[str]:
    """Which pods there are."""
    return {pod["metadata"]["uid"] for pod in bed.items("Pod")}


def without_grove(name: str, **services: Any) -> dict[str, Any]:
    """A graph that does not go by Grove."""
    manifest = graph(name, **services)
    return manifest | {"metadata": manifest["metadata"] | {"annotations": {PATHWAY: "false"}}}


def test_grove_is_removed_and_comes_back(bed: Bed, grove: Grove) -> None:
    bed.create(without_grove("plain", w=service()))
    bed.create(graph("g", w=service()))
    bed.becomes_ready("plain", PATIENCE)
    bed.becomes_ready("g", PATIENCE)
    plain = {pod["metadata"]["uid"] for pod in bed.items("Pod") if not pod["spec"].get("hostname")}
    grove.remove_webhooks()
    grove.remove()
    bed.eventually("g has a component", lambda: bed.names(COMPONENT) == {"g-w", "plain-w"}, PATIENCE)
    bed.becomes_ready("g", PATIENCE)
    assert plain < uids(bed)
    grove.mend()
    bed.eventually("g is a clique", lambda: bed.names(CLIQUE) == {"g-0-w"}, PATIENCE)
    bed.becomes_ready("g", PATIENCE)
    bed.eventually("its component is gone", lambda: bed.names(COMPONENT) == {"plain-w"}, PATIENCE)
    assert plain < uids(bed)


def test_definitions_alone_take_nothing_away(bed: Bed, grove: Grove) -> None:
    grove.remove_webhooks()
    grove.remove()
    bed.create(graph("g", Frontend=service("frontend"), w=service()))
    bed.becomes_ready("g", PATIENCE)
    before, services = uids(bed), bed.names("Service")
    grove.stop()
    grove.install()
    told = "g: DynamoComponentDeployment stays until the controller of PodCliqueSet has looked at"
    bed.eventually("the graph says so", lambda: told in said(bed, "g"), PATIENCE)
    assert bed.names(SET) == {"g"}
    assert uids(bed) == before
    assert bed.names("Service") == services
    grove.start()
    bed.eventually("components are gone", lambda: not bed.names(COMPONENT), PATIENCE)
    bed.becomes_ready("g", PATIENCE)
    assert hosts(bed) == {"g-0-frontend-0", "g-0-w-0"}


def test_while_the_controller_is_away_graphs_stay_as_they_are(bed: Bed, grove: Grove) -> None:
    bed.create(graph("g", w=service()))
    bed.becomes_ready("g", PATIENCE)
    before = uids(bed)
    grove.remove_webhooks()
    grove.stop()
    bed.create(graph("new", w=service()))
    bed.patch(GRAPH, "g", services_patch(w=image("registry.example/runtime:2")))
    missing = "Resources not ready: new: podclique/new-0-w: resource not found"
    bed.eventually("a new graph says what is missing", lambda: said(bed, "new") == missing, PATIENCE)
    stale = "Resources not ready: g: spec not yet processed: generation=2, observedGeneration=1"
    bed.eventually("another says what is not done", lambda: said(bed, "g") == stale, PATIENCE)
    assert uids(bed) == before
    grove.start()
    for name in ("g", "new"):
        bed.becomes_ready(name, PATIENCE)
    assert {pod["spec"]["containers"][0]["image"][-2:] for pod in bed.items("Pod")} == {":1", ":2"}


def test_while_the_webhook_refuses_graphs_stay_as_they_are(bed: Bed, grove: Grove) -> None:
    bed.create(graph("g", w=service()))
    bed.create(without_grove("plain", w=service()))
    bed.becomes_ready("g", PATIENCE)
    bed.becomes_ready("plain", PATIENCE)
    before = uids(bed)
    grove.stop()
    bed.patch(GRAPH, "g", services_patch(w=image("registry.example/runtime:2")))
    bed.patch(GRAPH, "plain", {"metadata": {"annotations": {PATHWAY: None}}})
    refused = FAILED.format("sync") + "Internal error occurred: failed calling webhook"
    for name in ("g", "plain"):
        bed.eventually(f"{name} says why", lambda n=name: said(bed, n).startswith(refused), PATIENCE)
    assert uids(bed) == before
    assert bed.names(COMPONENT) == {"plain-w"}
    grove.start()
    for name in ("g", "plain"):
        bed.becomes_ready(name, PATIENCE)
    bed.eventually("both are cliques", lambda: hosts(bed) == {"g-0-w-0", "plain-0-w-0"}, PATIENCE)


def test_a_set_that_is_deleted_is_made_anew_when_grove_has_let_go_of_it(bed: Bed, grove: Grove) -> None:
    bed.create(graph("g", w=service()))
    before = bed.becomes_ready("g", PATIENCE) and uids(bed)
    grove.remove_webhooks()
    grove.stop()
    bed.delete(SET, "g")
    told = "Resources not ready: g: its PodCliqueSet is being deleted, and is made anew when Grove has let go of it"
    bed.eventually("the graph says so", lambda: said(bed, "g") == told, PATIENCE)
    assert uids(bed) == before
    grove.start()
    bed.eventually("another pod", lambda: uids(bed) and not uids(bed) & before, PATIENCE)
    bed.becomes_ready("g", PATIENCE)


def test_a_graph_leaves_grove_although_nobody_cleans_up(bed: Bed, grove: Grove) -> None:
    bed.create(graph("g", Frontend=service("frontend"), w=service()))
    bed.becomes_ready("g", PATIENCE)
    grove.remove_webhooks()
    grove.stop()
    bed.patch(GRAPH, "g", {"metadata": {"annotations": {PATHWAY: "false"}}})
    bed.eventually("it has Deployments", lambda: bed.names("Deployment") == {"g-frontend", "g-w"}, PATIENCE)
    bed.becomes_ready("g", PATIENCE)
    grove.start()
    bed.eventually("no clique is left", lambda: not bed.names(SET) | bed.names(CLIQUE), PATIENCE)
    bed.eventually("nor a pod of one", lambda: hosts(bed) == {""}, PATIENCE)
    bed.becomes_ready("g", PATIENCE)


def test_a_missing_queue_is_said_and_awaited(bed: Bed, grove: Grove) -> None:
    bed.create(graph("before", w=service()))
    bed.becomes_ready("before", PATIENCE)
    before = uids(bed)
    grove.install_kai()
    manifest = graph("g", w=service())
    bed.create(manifest | {"metadata": {"name": "g", "annotations": {QUEUE: "team-a"}}})
    missing = FAILED.format("generate") + (
        "failed to determine kai-scheduler queue: kai-scheduler queue validation failed: queue 'team-a' not found in "
        "cluster. Ensure the queue exists before using kai-scheduler"
    )
    bed.eventually("the graph says so", lambda: said(bed, "g") == missing, PATIENCE)
    queues = "apis/scheduling.run.ai/v2/queues"
    queue = {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "team-a"}, "spec": {}}
    assert bed.send("POST", queues, queue).ok
    bed.becomes_ready("g", PATIENCE)
    pod = next(pod for pod in bed.items("Pod") if pod["spec"]["hostname"] == "g-0-w-0")
    assert pod["spec"]["schedulerName"] == "kai-scheduler"
    assert pod["metadata"]["labels"]["kai.scheduler/queue"] == "team-a"
    # A graph that runs by another scheduler goes on as it is.
    assert before < uids(bed)
    bed.becomes_ready("before", PATIENCE)


def test_a_slow_grove_is_waited_for_and_a_failing_one_is_said(bed: Bed) -> None:
    slow = {"labels": {"dynamo-operator.test/grove": "slow"}, "annotations": {"dynamo-operator.test/grove-delay": "3"}}
    failing = {"labels": {"dynamo-operator.test/grove": "failing"}}
    bed.create(graph("g", w=service(**slow)))
    told = "Resources not ready: g: podclique/g-0-w: resource not found"
    bed.eventually("it says what is missing", lambda: said(bed, "g") == told, PATIENCE)
    bed.becomes_ready("g", PATIENCE)
    bed.create(graph("f", w=service(**failing)))
    told = "Resources not ready: f: podclique/f-0-w: observedGeneration is nil"
    bed.eventually("it says what Grove does not", lambda: said(bed, "f") == told, PATIENCE)
