"""What a graph becomes under Grove."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dynamo_operator.controllers.graph_deployment.pathways.registry import DRIVERS
from dynamo_operator.domain.graph import Graph, RestartState
from dynamo_operator.domain.outcome import Unrenderable
from dynamo_operator.domain.pathway import Circumstances, CliquesThere, Pathway
from dynamo_operator.domain.site import Offers
from dynamo_operator.render.graph import render_graph, render_services
from dynamo_operator.render.pathways.registry import RENDERERS
from tests.support.graphs import SITE, graph_of

GROVE = replace(SITE, offers=Offers(grove=True, inference_pools=True))
KAI = replace(SITE, offers=Offers(grove=True, kai=True))
NOBODY_LOOKED = Circumstances()
WORKER = {"componentType": "worker", "replicas": 2}
SPREAD = {**WORKER, "multinode": {"nodeCount": 3}}
TRTLLM = {"extraPodSpec": {"mainContainer": {"command": ["python3", "-m", "dynamo.trtllm"]}}}


def template(graph: Graph, circumstances: Circumstances = NOBODY_LOOKED, *, site: Any = GROVE) -> dict[str, Any]:
    (gang,) = render_services(graph, site, circumstances).workloads
    return gang.manifest["spec"]["template"]


def cliques(graph: Graph, circumstances: Circumstances = NOBODY_LOOKED, *, site: Any = GROVE) -> dict[str, Any]:
    """The cliques by name, in their order."""
    return {clique["name"]: clique for clique in template(graph, circumstances, site=site)["cliques"]}


def test_every_pathway_is_rendered_and_driven() -> None:
    assert set(RENDERERS) == set(DRIVERS) == set(Pathway)


def test_the_whole_set_of_a_service_on_one_node() -> None:
    (gang,) = render_services(graph_of({"Front": {"componentType": "frontend"}}), GROVE, NOBODY_LOOKED).workloads
    labels = {
        "nvidia.com/dynamo-component": "Front",
        "nvidia.com/dynamo-namespace": "ns-g",
        "nvidia.com/dynamo-graph-deployment-name": "g",
        "nvidia.com/metrics-enabled": "true",
        "nvidia.com/dynamo-component-type": "frontend",
        "nvidia.com/selector": "g-front",
    }
    made = gang.manifest["spec"]["template"]
    pod = made["cliques"][0]["spec"].pop("podSpec")
    assert pod["serviceAccountName"] == "g-k8s-service-discovery"
    assert gang.manifest == {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": "g", "namespace": "ns"},
        "spec": {"replicas": 1, "template": made},
    }
    assert made == {
        "cliqueStartupType": "CliqueStartupTypeAnyOrder",
        "headlessServiceConfig": {"publishNotReadyAddresses": True},
        "terminationDelay": "15m",
        "cliques": [
            {
                "name": "front",
                "labels": labels,
                "annotations": {"nvidia.com/dynamo-discovery-backend": "kubernetes"},
                "spec": {"roleName": "front", "replicas": 1, "minAvailable": 1},
            }
        ],
    }


def test_several_nodes_a_leader_the_other_nodes_and_a_group_of_both() -> None:
    made = template(graph_of({"Work": SPREAD, "a": WORKER}))
    assert [(c["name"], c["spec"]["replicas"], c["spec"]["minAvailable"]) for c in made["cliques"]] == [
        ("work-ldr", 1, 1),
        ("work-wkr", 2, 2),
        ("a", 2, 1),
    ]
    assert made["podCliqueScalingGroups"] == [
        {"name": "work", "cliqueNames": ["work-ldr", "work-wkr"], "replicas": 2, "minAvailable": 1}
    ]


@pytest.mark.parametrize(
    ("replicas", "made"),
    [
        pytest.param(None, 1, id="none given: one"),
        pytest.param(0, 1, id="zero: one, because Grove refuses none; scaling comes later"),
        pytest.param(3, 3, id="some: as many"),
    ],
)
def test_replicas(replicas: int | None, made: int) -> None:
    given = {} if replicas is None else {"replicas": replicas}
    graph = graph_of({"a": {**given}, "b": {"multinode": {"nodeCount": 2}, **given}})
    assert cliques(graph)["a"]["spec"]["replicas"] == made
    assert template(graph)["podCliqueScalingGroups"][0]["replicas"] == made


def test_sglang_on_several_nodes_hosts_and_ranks_are_groves() -> None:
    main = {"command": ["/bin/sh", "-c"], "args": ["python3 -m dynamo.sglang --tp 8"]}
    made = cliques(graph_of({"Work": {**SPREAD, "extraPodSpec": {"mainContainer": main}}}))
    told = {name: made[name]["spec"]["podSpec"]["containers"][0]["args"][0] for name in made}
    flags = "--dist-init-addr $(GROVE_PCSG_NAME)-$(GROVE_PCSG_INDEX)-work-ldr-0.$(GROVE_HEADLESS_SERVICE):29500"
    assert told == {
        "work-ldr": f"python3 -m dynamo.sglang {flags} --nnodes 3 --node-rank 0 --tp 8",
        "work-wkr": f"python3 -m dynamo.sglang {flags} --nnodes 3 --node-rank $((GROVE_PCLQ_POD_INDEX + 1)) --tp 8",
    }


def test_trtllm_on_several_nodes_the_leader_starts_after_its_workers() -> None:
    made = template(graph_of({"a": WORKER, "Work": {**SPREAD, **TRTLLM}}))
    assert made["cliqueStartupType"] == "CliqueStartupTypeExplicit"
    assert {c["name"]: c["spec"].get("startsAfter") for c in made["cliques"]} == {
        "work-ldr": ["work-wkr"],
        "work-wkr": None,
        "a": None,
    }
    single = template(graph_of({"Work": {**WORKER, **TRTLLM}}))
    assert single["cliqueStartupType"] == "CliqueStartupTypeAnyOrder"


def test_a_set_is_there_order_and_minimum_stay() -> None:
    there = CliquesThere(order=("b-ldr", "b-wkr", "a-ldr", "a-wkr"), minimum={"a-wkr": 1})
    graph = graph_of({"a": SPREAD, "b": SPREAD, "c": {}})
    made = template(graph, Circumstances(cliques=there))
    assert [c["name"] for c in made["cliques"]] == ["b-ldr", "b-wkr", "a-ldr", "a-wkr", "c"]
    assert [g["name"] for g in made["podCliqueScalingGroups"]] == ["b", "a"]
    assert cliques(graph, Circumstances(cliques=there))["a-wkr"]["spec"]["minAvailable"] == 1


def test_labels_and_annotations_users_win_but_for_backend_and_metrics_of_the_graph() -> None:
    service = {
        "labels": {"team": "a", "tier": "gold", "nvidia.com/selector": "mine"},
        "annotations": {"note": "service", "both": "service", "nvidia.com/enable-metrics": "false"},
        "extraPodMetadata": {"labels": {"tier": "silver"}, "annotations": {"both": "pod"}},
        "modelRef": {"name": "Qwen/Qwen3-0.6B"},
        "subComponentType": "decode",
    }
    graph = graph_of({"w": service}, annotations={"nvidia.com/dynamo-discovery-backend": "etcd"})
    made = cliques(graph, Circumstances(RestartState("r", frozenset({"w"}))))["w"]
    assert made["labels"] == {
        "team": "a",
        "tier": "silver",
        "nvidia.com/selector": "mine",
        "nvidia.com/dynamo-component": "w",
        "nvidia.com/dynamo-namespace": "ns-g",
        "nvidia.com/dynamo-graph-deployment-name": "g",
        "nvidia.com/dynamo-base-model-hash": "fb68f5a6",
        "nvidia.com/metrics-enabled": "true",
        "nvidia.com/dynamo-sub-component-type": "decode",
    }
    assert made["annotations"] == {
        "note": "service",
        "both": "pod",
        "nvidia.com/enable-metrics": "false",
        "nvidia.com/dynamo-discovery-backend": "etcd",
        "nvidia.com/restartAt": "r",
    }
    assert "serviceAccountName" not in made["spec"]["podSpec"]


def test_metrics_off_for_the_graph_and_no_backend_named_nothing_is_said() -> None:
    steering = {"nvidia.com/enable-metrics": "false", "nvidia.com/dynamo-discovery-backend": ""}
    made = cliques(graph_of({"w": {}}, annotations=steering))["w"]
    assert "nvidia.com/metrics-enabled" not in made["labels"]
    assert "annotations" not in made


def test_a_restart_reaches_all_cliques_of_a_service_and_others_keep_theirs() -> None:
    restart = RestartState("r2", frozenset({"a"}), existing={"b": "r1"})
    made = cliques(graph_of({"a": SPREAD, "b": {}, "c": {}}), Circumstances(restart))
    told = {name: clique["annotations"].get("nvidia.com/restartAt") for name, clique in made.items()}
    assert told == {"a-ldr": "r2", "a-wkr": "r2", "b": "r1", "c": None}


def test_variables_of_the_graph_reach_every_service_and_services_win() -> None:
    service = {"envs": [{"name": "B", "value": "service"}]}
    graph = graph_of({"w": service}, envs=[{"name": "A", "value": "graph"}, {"name": "B", "value": "graph"}])
    (container,) = cliques(graph)["w"]["spec"]["podSpec"]["containers"]
    told = {variable["name"]: variable.get("value") for variable in container["env"]}
    assert (told["A"], told["B"]) == ("graph", "service")


def test_debugging_adds_no_container_here() -> None:
    made = cliques(graph_of({"w": {"annotations": {"nvidia.com/enable-debug-mode": "true"}}}))
    assert [container["name"] for container in made["w"]["spec"]["podSpec"]["containers"]] == ["main"]


def test_no_delay_configured_it_is_groves_own() -> None:
    assert "terminationDelay" not in template(graph_of({"w": {}}), site=replace(GROVE, grove_termination_delay=""))


QUEUES: list[tuple[str, dict[str, str], frozenset[str] | None, str]] = [
    ("none named: the default", {}, frozenset({"dynamo"}), "dynamo"),
    ("a blank: the default", {"nvidia.com/kai-scheduler-queue": "  "}, frozenset({"dynamo"}), "dynamo"),
    ("one named, with blanks around: that", {"nvidia.com/kai-scheduler-queue": " mine "}, frozenset({"mine"}), "mine"),
    ("nobody looked: it is believed", {"nvidia.com/kai-scheduler-queue": "mine"}, None, "mine"),
]


@pytest.mark.parametrize(("annotations", "known", "queue"), [q[1:] for q in QUEUES], ids=[q[0] for q in QUEUES])
def test_queue(annotations: dict[str, str], known: frozenset[str] | None, queue: str) -> None:
    graph = graph_of({"w": {}, "x": {"extraPodSpec": {"schedulerName": "kai-scheduler"}}}, annotations=annotations)
    for clique in cliques(graph, Circumstances(queues=known), site=KAI).values():
        assert clique["labels"]["kai.scheduler/queue"] == queue
        assert clique["spec"]["podSpec"]["schedulerName"] == "kai-scheduler"


THERE = [
    ("a set of another scheduler: it stays with it", "", {}, {}, ""),
    ("a set of KAI's: it stays with it", "kai-scheduler", {}, {}, "kai-scheduler"),
    ("the graph names a queue: KAI's", "", {"nvidia.com/kai-scheduler-queue": "dynamo"}, {}, "kai-scheduler"),
    ("a service names KAI's scheduler: that", "", {}, {"schedulerName": "kai-scheduler"}, "kai-scheduler"),
]


@pytest.mark.parametrize(
    ("stored", "annotations", "pod", "wanted"), [each[1:] for each in THERE], ids=[each[0] for each in THERE]
)
def test_kai_comes_to_a_set_that_is_there(
    stored: str, annotations: dict[str, str], pod: dict[str, str], wanted: str
) -> None:
    there = Circumstances(cliques=CliquesThere(schedulers=frozenset({stored})), queues=frozenset({"dynamo"}))
    made = cliques(graph_of({"w": {"extraPodSpec": pod}}, annotations=annotations), there, site=KAI)["w"]
    assert made["spec"]["podSpec"].get("schedulerName", "") == wanted
    assert ("kai.scheduler/queue" in made["labels"]) == bool(wanted)


def test_all_services_choose_another_scheduler_no_queue_is_needed() -> None:
    other = {"extraPodSpec": {"schedulerName": "mine"}}
    made = cliques(graph_of({"a": other, "b": other}), Circumstances(queues=frozenset()), site=KAI)
    assert all("kai.scheduler/queue" not in clique["labels"] for clique in made.values())
    assert {clique["spec"]["podSpec"]["schedulerName"] for clique in made.values()} == {"mine"}


FAILED = (
    "failed to reconcile Dynamo components deployments: failed to reconcile the Grove PodClique Set: "
    "failed to generate the Grove GangSet: "
)
VLLM_AND_SGLANG = ["python3 -m dynamo.vllm && python3 -m dynamo.sglang"]
PROBLEMS: list[tuple[str, Graph, Circumstances, str]] = [
    (
        "the queue does not exist: said",
        graph_of({"w": {}}),
        Circumstances(queues=frozenset()),
        (
            "failed to determine kai-scheduler queue: kai-scheduler queue validation failed: queue 'dynamo' not found "
            "in cluster. Ensure the queue exists before using kai-scheduler"
        ),
    ),
    (
        "several schedulers: which clique has which is said",
        graph_of({"a": {}, "b": {"extraPodSpec": {"schedulerName": "mine"}}}),
        NOBODY_LOOKED,
        (
            "spec.services: a gang has one scheduler, but there are several (a: kai-scheduler, b: mine); "
            "set extraPodSpec.schedulerName of all services to the same"
        ),
    ),
    (
        "a service called 0: renamed it must be",
        graph_of({"0": {}}),
        NOBODY_LOOKED,
        "spec.services[0]: its Service would have the name of Grove's own, g-0; rename it",
    ),
    (
        "an impossible pod: the service is named",
        graph_of({"Work": {"resources": {"limits": {"memory": "two"}}}}),
        NOBODY_LOOKED,
        (
            "failed to generate podSpec for role Work: failed to get resources config: parse limits memory quantity: "
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        ),
    ),
    (
        "two backends in one command: the service is named",
        graph_of({"Work": {**WORKER, "extraPodSpec": {"mainContainer": {"args": VLLM_AND_SGLANG}}}}),
        NOBODY_LOOKED,
        (
            "failed to determine backend framework for service Work: could not determine backend framework: multiple "
            f'backend frameworks detected from command: [vllm sglang] in "{VLLM_AND_SGLANG[0]}"'
        ),
    ),
    (
        "fewer nodes than Grove was promised: refused before Grove does",
        graph_of({"w": SPREAD}),
        Circumstances(cliques=CliquesThere(minimum={"w-ldr": 1, "w-wkr": 3})),
        (
            "spec.services[w].multinode.nodeCount: cannot go below 4, because minAvailable of the PodClique w-wkr is 3 "
            "and never changes; make the graph anew"
        ),
    ),
]


@pytest.mark.parametrize(("graph", "circumstances", "text"), [p[1:] for p in PROBLEMS], ids=[p[0] for p in PROBLEMS])
def test_problems(graph: Graph, circumstances: Circumstances, text: str) -> None:
    with pytest.raises(Unrenderable) as problem:
        render_services(graph, KAI, circumstances)
    assert str(problem.value) == FAILED + text


def test_the_same_graph_says_no_to_grove_it_becomes_component_deployments() -> None:
    graph = graph_of({"w": {}}, annotations={"nvidia.com/enable-grove": "False"})
    kinds = {child.manifest["kind"] for child in render_graph(graph, GROVE, NOBODY_LOOKED)}
    assert "DynamoComponentDeployment" in kinds
    assert not kinds & {"PodCliqueSet", "Service"}
