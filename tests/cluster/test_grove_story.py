"""Graphs as cliques of a PodCliqueSet: from a graph to pods, scaled, restarted, changed, and on to another pathway."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.bed import (
    COMPONENT,
    GRAPH,
    Bed,
    condition_of,
    graph,
    image,
    service,
    services_patch,
)
from tests.support.grove import CLIQUE, GROUP, PATHWAY, PATIENCE, SET, hosts, spread
from tests.support.operator import OperatorProcess

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

ADAPTER = "DynamoGraphDeploymentScalingAdapter"


@pytest.fixture
def bed(grove_bed: Bed) -> Bed:
    return grove_bed


@pytest.fixture
def operator(grove_operator: OperatorProcess) -> OperatorProcess:
    return grove_operator


def replicas(bed: Bed, kind: str, name: str) -> int:
    """What an object asks for."""
    return (bed.read(kind, name) or {})["spec"]["replicas"]


def scale(bed: Bed, kind: str, name: str, wanted: int) -> None:
    """Use the scale subresource, as an autoscaler does."""
    patch = {"spec": {"replicas": wanted}}
    media = "application/merge-patch+json"
    assert bed.send("PATCH", bed.path(kind, name, "scale"), patch, media=media).ok


def test_a_graph_becomes_cliques_and_a_group_and_ready(bed: Bed) -> None:
    bed.create(graph("g", Frontend=service("frontend"), w=service(replicas=2), many=spread(replicas=2)))
    told = bed.becomes_ready("g", PATIENCE)["status"]["services"]
    clique = {"componentKind": CLIQUE, "updatedReplicas": 1, "readyReplicas": 1, "replicas": 1}
    assert told == {
        "Frontend": clique | {"componentName": "g-0-frontend"},
        "w": dict.fromkeys(clique, 2) | {"componentKind": CLIQUE, "componentName": "g-0-w"},
        "many": dict.fromkeys(("replicas", "updatedReplicas", "availableReplicas"), 2)
        | {"componentKind": GROUP, "componentName": "g-0-many"},
    }
    assert {"g-frontend", "g-w", "g-many"} < bed.names("Service")
    assert not bed.names("Deployment") | bed.names(COMPONENT)
    assert "g-0-many-1-many-wkr-0" in hosts(bed)


def test_replicas_reach_cliques_and_groups_and_nobody_else_scales_them(bed: Bed) -> None:
    bed.create(graph("g", w=service(), many=spread()))
    bed.becomes_ready("g", PATIENCE)
    bed.patch(GRAPH, "g", services_patch(w={"replicas": 3}, many={"replicas": 2}))
    bed.becomes_ready("g", PATIENCE)
    assert len(hosts(bed)) == 7
    bed.patch(GRAPH, "g", services_patch(w={"replicas": 0}, many={"replicas": 0}))
    bed.eventually("no pod is left", lambda: not hosts(bed), PATIENCE)
    bed.becomes_ready("g", PATIENCE)
    scale(bed, CLIQUE, "g-0-w", 5)
    scale(bed, GROUP, "g-0-many", 5)
    bed.eventually("is put back", lambda: replicas(bed, CLIQUE, "g-0-w") == 0, PATIENCE)
    bed.eventually("is put back too", lambda: replicas(bed, GROUP, "g-0-many") == 0, PATIENCE)


def test_an_adapter_scales_a_clique(bed: Bed) -> None:
    bed.create(graph("g", w=service(scalingAdapter={"enabled": True})))
    bed.becomes_ready("g", PATIENCE)
    scale(bed, ADAPTER, "g-w", 3)
    bed.eventually("three pods", lambda: len(hosts(bed)) == 3, PATIENCE)
    bed.becomes_ready("g", PATIENCE)

    def selected() -> bool:
        told = (bed.read(ADAPTER, "g-w") or {})["status"]
        pods = bed.send("GET", bed.path("Pod"), labelSelector=told["selector"]).json()["items"]
        return told["replicas"] == len(pods) == 3

    bed.eventually("the adapter counts the pods that it selects", selected, PATIENCE)


def test_another_image_rolls_its_service_only(bed: Bed) -> None:
    bed.create(graph("g", a=service(replicas=2), many=spread(replicas=2)))
    bed.becomes_ready("g", PATIENCE)
    before = {pod["metadata"]["uid"] for pod in bed.items("Pod")}
    bed.patch(GRAPH, "g", services_patch(a=image("registry.example/runtime:2")))
    bed.becomes_ready("g", PATIENCE)
    after = {pod["metadata"]["uid"]: pod["spec"]["containers"][0]["image"] for pod in bed.items("Pod")}
    assert sorted(after[uid] for uid in after.keys() - before) == ["registry.example/runtime:2"] * 2
    assert len(after.keys() & before) == 4


def restarted(bed: Bed, name: str, restart_id: str) -> dict[str, Any]:
    """The graph, once it says that the restart is over and it is ready."""

    def over() -> dict[str, Any] | None:
        stored = bed.becomes_ready(name, PATIENCE)
        told = stored["status"].get("restart", {})
        return stored if (told.get("observedID"), told.get("phase")) == (restart_id, "Completed") else None

    return bed.eventually(f"restart {restart_id} is over", over, PATIENCE)


def ids(bed: Bed) -> list[str]:
    """The restart that each pod was made for."""
    return [pod["metadata"]["annotations"].get("nvidia.com/restartAt", "") for pod in bed.items("Pod")]


def test_a_sequential_restart_rolls_one_service_after_the_other(bed: Bed) -> None:
    bed.create(graph("g", a=service(), b=service(replicas=2), many=spread()))
    bed.becomes_ready("g", PATIENCE)
    since = bed.version()
    strategy = {"type": "Sequential", "order": ["b", "many", "a"]}
    bed.patch(GRAPH, "g", {"spec": {"restart": {"id": "r1", "strategy": strategy}}})
    restarted(bed, "g", "r1")
    assert ids(bed) == ["r1"] * 5
    turns = [each["status"].get("restart", {}).get("inProgress") for each in bed.history(GRAPH, since)]
    assert list(dict.fromkeys(turn[0] for turn in turns if turn)) == strategy["order"]
    # The pods of a service are made when all pods of those before it are there.
    born = [each for each in bed.history("Pod", since) if each["metadata"]["annotations"].get("nvidia.com/restartAt")]
    services = dict.fromkeys(each["metadata"]["labels"]["nvidia.com/dynamo-component"] for each in born)
    assert list(services) == strategy["order"]


def test_a_parallel_restart_rolls_all_and_a_second_one_again(bed: Bed) -> None:
    bed.create(graph("g", a=service(), many=spread(replicas=2)))
    bed.becomes_ready("g", PATIENCE)
    for restart_id in ("r1", "r2"):
        restart = {"id": restart_id, "strategy": {"type": "Parallel", "order": None}}
        bed.patch(GRAPH, "g", {"spec": {"restart": restart}})
        restarted(bed, "g", restart_id)
        assert ids(bed) == [restart_id] * 5


def test_a_removed_service_is_refused_by_grove_and_everything_goes_on(bed: Bed) -> None:
    bed.create(graph("g", a=service(), b=service()))
    bed.becomes_ready("g", PATIENCE)
    before = {pod["metadata"]["uid"] for pod in bed.items("Pod")}
    bed.patch(GRAPH, "g", services_patch(b=None))
    denied = (
        "failed to reconcile Dynamo components deployments: failed to reconcile the Grove PodClique Set: failed to "
        'sync the Grove GangSet: admission webhook "pcs.validating.webhooks.grove.io" denied the request: '
        "[spec.template.cliques: Forbidden: not allowed to change clique composition, spec.template.cliques.name: "
        "Forbidden: not allowed to change clique composition, new clique name 'b' is not allowed]"
    )
    bed.eventually(
        "the graph says why",
        lambda: condition_of(bed.read(GRAPH, "g") or {}, "Ready")["message"] == denied,
        PATIENCE,
    )
    bed.patch(GRAPH, "g", services_patch(b=service()))
    bed.becomes_ready("g", PATIENCE)
    assert {pod["metadata"]["uid"] for pod in bed.items("Pod")} == before


def test_a_graph_changes_its_pathway_and_back_and_nothing_stays_behind(bed: Bed) -> None:
    bed.create(graph("g", Frontend=service("frontend"), w=service(), many=spread()))
    bed.becomes_ready("g", PATIENCE)
    bed.patch(GRAPH, "g", services_patch(many=None) | {"metadata": {"annotations": {PATHWAY: "false"}}})
    bed.eventually(
        "no clique is left",
        lambda: not bed.names(SET) | bed.names(CLIQUE) | bed.names(GROUP),
        PATIENCE,
    )
    bed.becomes_ready("g", PATIENCE)
    assert bed.names("Deployment") == bed.names(COMPONENT) == {"g-frontend", "g-w"}
    bed.eventually("pods are the new ones", lambda: hosts(bed) == {""} and len(bed.items("Pod")) == 2, PATIENCE)
    bed.patch(GRAPH, "g", {"metadata": {"annotations": {PATHWAY: None}}})
    bed.eventually("no component is left", lambda: not bed.names(COMPONENT) | bed.names("Deployment"), PATIENCE)
    bed.becomes_ready("g", PATIENCE)
    bed.eventually("pods are cliques again", lambda: hosts(bed) == {"g-0-frontend-0", "g-0-w-0"}, PATIENCE)
    kept = {each["metadata"]["name"]: each["metadata"]["ownerReferences"][0]["kind"] for each in bed.items("Service")}
    assert kept == {"g-0": SET, "g-frontend": GRAPH, "g-w": GRAPH}


def test_a_deleted_graph_takes_everything_along(bed: Bed) -> None:
    bed.create(graph("g", w=service(), many=spread()))
    bed.becomes_ready("g", PATIENCE)
    bed.delete(GRAPH, "g")
    kinds = (SET, CLIQUE, GROUP, "Pod", "Service")
    bed.eventually("all is gone", lambda: not [name for kind in kinds for name in bed.names(kind)], PATIENCE)


def test_a_restart_of_the_operator_writes_nothing(bed: Bed, operator: OperatorProcess) -> None:
    bed.create(graph("g", Frontend=service("frontend"), w=service(replicas=0), many=spread()))
    bed.becomes_ready("g", PATIENCE)
    before = bed.version()
    operator.restart()
    bed.create(graph("later", w=service()))
    bed.becomes_ready("later", PATIENCE)
    for kind in (SET, CLIQUE, GROUP, GRAPH, "Service"):
        touched = {each["metadata"]["name"] for each in bed.history(kind, before)}
        assert not {name for name in touched if name == "g" or name.startswith("g-")}, kind
