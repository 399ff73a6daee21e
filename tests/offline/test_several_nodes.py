"""What cannot work on several nodes is said before it is applied and afterwards, in the same words."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from dynamo_operator.controllers.doubts import doubts_of_component, doubts_of_graph
from dynamo_operator.domain.site import Offers, Site
from dynamo_operator.offline.documents import parse_documents
from dynamo_operator.offline.findings import Severity, find_all
from dynamo_operator.offline.sources import source_of

SETS = Offers(inference_pools=True, leader_worker_sets=True, volcano=True)
GROVE = Offers(inference_pools=True, grove=True)
MAIN, GPUS, NODES = "extraPodSpec.mainContainer", "resources.limits.gpu", "multinode"


def worker(line: str, *, nodes: int = 2, gpus: str = "8", script: bool = False, **members: Any) -> dict[str, Any]:
    """A worker on several nodes that starts so."""
    command, args = (["sh", "-c"], [line]) if script else (["python3", "-m"], line.split())
    limits = {"limits": {"gpu": gpus}} if gpus else {}
    main = {"command": command, "args": args}
    spec = {"componentType": "worker", "multinode": {"nodeCount": nodes}, "extraPodSpec": {"mainContainer": main}}
    return {**spec, "resources": limits, **members}


def graph(spec: dict[str, Any], name: str = "g", framework: str = "", off: bool = False) -> dict[str, Any]:
    """A graph of that worker."""
    metadata: dict[str, Any] = {"name": name}
    if off:
        metadata["annotations"] = {"nvidia.com/enable-grove": "false"}
    body: dict[str, Any] = {"services": {"w": spec}}
    if framework:
        body["backendFramework"] = framework
    kind = "DynamoGraphDeployment"
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": kind, "metadata": metadata, "spec": body}


def config(document: str) -> dict[str, str]:
    """The variable that holds a deployment config."""
    return {"name": "DYN_DEPLOYMENT_CONFIG", "value": document}


def component(spec: dict[str, Any]) -> dict[str, Any]:
    """A component deployment of its own."""
    kind = "DynamoComponentDeployment"
    spec = {"dynamoNamespace": "demo-", **spec}
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": kind, "metadata": {"name": "c"}, "spec": spec}


def site(offers: Offers, key: str = "keys") -> Site:
    return Site(offers=offers, mpi_secret_name=key, planner_cluster_role="planner")


def in_the_file(manifest: dict[str, Any], where: Site) -> list[tuple[Severity, str]]:
    """What `validate` says: how bad, and the text."""
    documents, flaws = parse_documents(yaml.safe_dump(manifest), "file.yaml")
    return [(one.severity, one.text) for one in find_all(documents, flaws, where, namespace="demo")]


def in_the_condition(manifest: dict[str, Any], where: Site) -> list[tuple[bool, str]]:
    """What the condition says: whether nothing is made, and the text."""
    source = source_of(manifest, "demo")
    tell = doubts_of_graph if manifest["kind"] == "DynamoGraphDeployment" else doubts_of_component
    return [(doubt.stops, doubt.message) for doubt in tell(source, where)]


SOUND: list[tuple[str, dict[str, Any], Offers]] = [
    ("SGLang, a rank for each GPU", graph(worker("dynamo.sglang --tp 16")), SETS),
    ("SGLang before another command", graph(worker("dynamo.sglang --tp 16; echo done")), SETS),
    ("SGLang with sizes in a file", graph(worker("dynamo.sglang --config=/sizes.yaml")), SETS),
    ("SGLang with GPUs by another name", graph(worker("dynamo.sglang --tp 16", gpus="")), GROVE),
    ("vLLM by Ray", graph(worker("dynamo.vllm --tensor-parallel-size 16")), SETS),
    ("vLLM by data parallelism", graph(worker("dynamo.vllm -tp 4 -dp 4")), GROVE),
    ("TensorRT-LLM", graph(worker("dynamo.trtllm --tensor-parallel-size 16")), SETS),
    ("TensorRT-LLM with sizes in a file", graph(worker("dynamo.trtllm --extra-engine-args /e.yaml")), SETS),
    ("a component of its own", component(worker("dynamo.sglang --tp 16")), SETS),
    (
        "GPUs by a deployment config",
        graph(
            worker(
                "dynamo.sglang --tp 16", gpus="", envs=[config('{"w": {"ServiceArgs": {"resources": {"GPU": "8"}}}}')]
            )
        ),
        SETS,
    ),
    ("one node, whatever it runs", graph({"componentType": "worker"}), Offers()),
    ("a service of which nothing is said", graph({}), Offers()),
]


@pytest.mark.parametrize(("manifest", "offers"), [row[1:] for row in SOUND], ids=[row[0] for row in SOUND])
def test_nothing_is_doubtful(manifest: dict[str, Any], offers: Offers) -> None:
    assert in_the_file(manifest, site(offers)) == []
    assert in_the_condition(manifest, site(offers)) == []


BOTH = "asks for 2 nodes, and the cluster lacks LeaderWorkerSet and Volcano; install LeaderWorkerSet and Volcano"
SIZES = "the tensor, pipeline and data parallel sizes ask for"
RANKS = "tensor times pipeline parallel size is"
CHANGE = "change the sizes, resources.limits.gpu or multinode.nodeCount"
SGLANG = worker("dynamo.sglang --tp 16")

STOPS: list[tuple[str, dict[str, Any], Offers, str, str]] = [
    (
        "no way to several nodes: all ways are named",
        graph(SGLANG),
        Offers(),
        NODES,
        f"{BOTH}, or install Grove, or take multinode out",
    ),
    (
        "Grove is refused: its annotation is named",
        graph(SGLANG, off=True),
        GROVE,
        NODES,
        f"{BOTH}, or take the annotation nvidia.com/enable-grove out, or take multinode out",
    ),
    (
        "half of it is installed: the other half is named",
        graph(SGLANG),
        Offers(leader_worker_sets=True),
        NODES,
        "asks for 2 nodes, and the cluster lacks Volcano; install Volcano, or install Grove, or take multinode out",
    ),
    (
        "a component of its own, which Grove does not take",
        component(SGLANG),
        GROVE,
        NODES,
        f"{BOTH}, or take multinode out",
    ),
    (
        "no GPUs on a set",
        graph(worker("dynamo.sglang --tp 16", gpus="")),
        SETS,
        GPUS,
        "is required on several nodes; give the GPUs of one node",
    ),
    (
        "the image's own command on a set",
        graph(worker("", extraPodSpec={"mainContainer": {"command": ["python3"]}}), framework="trtllm"),
        SETS,
        MAIN,
        "on several nodes nothing is left to the image; give command and args",
    ),
    (
        "two backends in one command",
        graph(worker("python3 -m dynamo.vllm; python3 -m dynamo.sglang", script=True)),
        SETS,
        MAIN,
        (
            "failed to determine backend framework: could not determine backend framework: multiple backend frameworks "
            'detected from command: [vllm sglang] in "sh -c python3 -m dynamo.vllm; python3 -m dynamo.sglang"; start '
            "one backend, and name the same in backendFramework"
        ),
    ),
]

WARNS: list[tuple[str, dict[str, Any], Offers, str, str]] = [
    (
        "an unknown backend",
        graph(worker("serve", script=True)),
        SETS,
        MAIN,
        (
            "its backend is unknown, so that each of the 2 nodes runs the command by itself; start dynamo.vllm, "
            "dynamo.sglang or dynamo.trtllm, or set spec.backendFramework"
        ),
    ),
    (
        "no worker",
        graph(worker("dynamo.frontend", componentType="frontend")),
        SETS,
        NODES,
        (
            "each of the 2 nodes runs all of it by itself, as only workers are spread over nodes; take multinode out, "
            "or set componentType to worker"
        ),
    ),
    (
        "SGLang in a script that hides it",
        graph(worker("/start.sh --tp 16", script=True), framework="sglang"),
        SETS,
        MAIN,
        (
            "nothing in the args starts dynamo.sglang, so that the nodes do not learn of each other; write python3 -m "
            "dynamo.sglang as a list, or into args under command [sh, -c]"
        ),
    ),
    (
        "vLLM's engines in a script that hides it",
        graph(worker("/start.sh --data-parallel-size 16", script=True), framework="vllm"),
        SETS,
        MAIN,
        (
            "nothing in the args starts dynamo.vllm, so that the nodes do not learn of each other; write python3 -m "
            "dynamo.vllm as a list, or into args under command [sh, -c]"
        ),
    ),
    (
        "SGLang on nodes that do not divide its ranks",
        graph(worker("dynamo.sglang --tp 16", nodes=3)),
        GROVE,
        MAIN,
        (
            f"{RANKS} 16, which 3 nodes do not divide, so that SGLang ends at once; "
            "change the sizes or multinode.nodeCount"
        ),
    ),
    (
        "SGLang with fewer ranks than GPUs",
        graph(worker("dynamo.sglang --tp 4 --pp-size 2")),
        SETS,
        MAIN,
        f"{RANKS} 8, 2 nodes of 8 GPUs have 16; {CHANGE}",
    ),
    (
        "vLLM that fits one node",
        graph(worker("dynamo.vllm -tp 4")),
        SETS,
        MAIN,
        (
            f"{SIZES} 4 GPUs, which one node has, so that each of the 2 nodes serves by itself; ask for 16, or take "
            "multinode out"
        ),
    ),
    (
        "vLLM that is larger than all nodes",
        graph(worker("dynamo.vllm --tensor-parallel-size 32")),
        SETS,
        MAIN,
        f"{SIZES} 32 GPUs, 2 nodes of 8 have 16; {CHANGE}",
    ),
    (
        "vLLM's engines do not divide a node",
        graph(worker("dynamo.vllm -tp 3 -dp 8", nodes=3)),
        SETS,
        MAIN,
        "one engine takes 3 GPUs, which do not divide the 8 of a node; change the sizes",
    ),
    (
        "vLLM with no number of GPUs",
        graph(worker("dynamo.vllm -tp 16", gpus="1500m")),
        GROVE,
        GPUS,
        "is no whole number, so that each of the 2 nodes serves by itself; give the GPUs of one node",
    ),
    (
        "TensorRT-LLM with other sizes than GPUs",
        graph(worker("dynamo.trtllm --tensor-parallel-size 4")),
        SETS,
        MAIN,
        f"{RANKS} 4, 2 nodes of 8 GPUs have 16; {CHANGE}",
    ),
    (
        "TensorRT-LLM with no number of GPUs",
        graph(worker("dynamo.trtllm", gpus="")),
        GROVE,
        GPUS,
        "is no whole number, so that MPI starts nothing; give the GPUs of one node",
    ),
    (
        "names beyond what the pods of a set can have",
        graph(worker("dynamo.sglang --tp 16", replicas=11), name="g" * 46),
        SETS,
        NODES,
        (
            f"the name of the LeaderWorkerSet {'g' * 46}-w-10 has 51 characters, and beyond 50 Kubernetes may "
            "refuse its pods; shorten the name of the graph or of the service"
        ),
    ),
]


def place_of(manifest: dict[str, Any], field: str) -> str:
    return f"spec.services[w].{field}" if manifest["kind"] == "DynamoGraphDeployment" else f"spec.{field}"


@pytest.mark.parametrize(
    ("manifest", "offers", "field", "text", "stops"),
    [pytest.param(*row[1:], True, id=row[0]) for row in STOPS]
    + [pytest.param(*row[1:], False, id=row[0]) for row in WARNS],
)
def test_file_and_condition_name_the_field_and_the_way_out(
    manifest: dict[str, Any], offers: Offers, field: str, text: str, *, stops: bool
) -> None:
    said = f"{place_of(manifest, field)}: {text}"
    assert in_the_file(manifest, site(offers)) == [(Severity.ERROR if stops else Severity.WARNING, said)]
    assert in_the_condition(manifest, site(offers)) == [(stops, said)]


TOO_LONG = (
    "spec.services[w]: the names that make up its pods' names have 46 characters, Grove allows 45; "
    "shorten the key or metadata.name"
)
NAMED: list[tuple[str, dict[str, Any], str]] = [
    (
        "names that are too long on several nodes",
        graph(SGLANG, name="g" * 40),
        TOO_LONG,
    ),
    (
        "names that are too long on one node",
        graph({"componentType": "worker"}, name="g" * 45),
        TOO_LONG,
    ),
]


@pytest.mark.parametrize(("manifest", "said"), [row[1:] for row in NAMED], ids=[row[0] for row in NAMED])
def test_file_and_condition_say_what_grove_has_against_names(manifest: dict[str, Any], said: str) -> None:
    assert in_the_file(manifest, site(GROVE)) == [(Severity.ERROR, said)]
    assert in_the_condition(manifest, site(GROVE)) == [(True, said)]
    assert in_the_condition(manifest, site(SETS)) == []


def test_an_operator_without_a_key_pair_says_so_of_trtllm() -> None:
    ((stops, said),) = in_the_condition(graph(worker("dynamo.trtllm")), site(SETS, key=""))
    assert stops
    assert said.endswith("start it with --mpi-run-ssh-secret-name and --mpi-run-ssh-secret-namespace")


def test_a_deployment_config_that_is_none_is_refused_and_raises_no_doubt() -> None:
    manifest = graph(worker("dynamo.sglang --tp 16", envs=[config("?")]))
    assert in_the_condition(manifest, site(SETS)) == []
    ((severity, text),) = in_the_file(manifest, site(SETS))
    assert severity is Severity.ERROR
    assert "spec.services[w]: failed to reconcile" in text


def test_a_refused_object_is_not_doubted() -> None:
    wrong = {"sharedMemory": {"disabled": False}}
    assert in_the_condition(graph(worker("serve", **wrong)), site(SETS)) == []
    assert in_the_condition(component(worker("serve", **wrong)), site(SETS)) == []


def test_words_that_no_schema_lets_in_are_passed_over() -> None:
    odd = {"command": ["python3", 1, "-m", None, "dynamo.sglang"], "args": "--tp 16", "env": 5}
    said = in_the_condition(graph(worker("", extraPodSpec={"mainContainer": odd})), site(SETS))
    assert [text.split(": ")[0] for _, text in said] == [f"spec.services[w].{MAIN}", f"spec.services[w].{MAIN}"]


def test_about_a_component_its_graph_tells() -> None:
    owned = component(worker("serve"))
    owned["metadata"]["ownerReferences"] = [{"kind": "DynamoGraphDeployment", "name": "g"}]
    assert in_the_condition(owned, site(Offers())) == []


def test_the_doubts_of_a_service_are_told_together_and_services_in_order() -> None:
    manifest = graph(worker("serve", script=True, gpus=""))
    manifest["spec"]["services"]["A"] = worker("serve", script=True)
    said = [text.split(":")[0] for _, text in in_the_condition(manifest, site(Offers()))]
    assert said == [
        f"spec.services[A].{NODES}",
        f"spec.services[A].{MAIN}",
        f"spec.services[w].{NODES}",
        f"spec.services[w].{GPUS}",
        f"spec.services[w].{MAIN}",
    ]
