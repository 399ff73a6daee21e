"""What only rendering refuses is said beforehand, at its place, and once."""

from __future__ import annotations

import pytest

from dynamo_operator.domain.site import Offers, Site
from dynamo_operator.offline.documents import Document, parse_documents
from dynamo_operator.offline.findings import find_all, refusals_of

HEAD = "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata: {name: llm}\nspec:\n  services:\n"
OWN = "apiVersion: nvidia.com/v1alpha1\nkind: DynamoComponentDeployment\nmetadata: {name: w}\nspec:\n"
PLAIN = Offers()
SETS = Offers(leader_worker_sets=True, volcano=True)
GROVE = Offers(leader_worker_sets=True, volcano=True, grove=True)
TWINS = "services Decode and decode differ in case only and would both be called llm-decode: rename one"
LIMITS = "spec.services[A].resources.limits"
NO_CONFIG = "{envs: [{name: DYN_DEPLOYMENT_CONFIG, value: x}]}"
CLASH = "    A: {extraPodSpec: {schedulerName: a}}\n    B: {extraPodSpec: {schedulerName: b}}\n"


def document(text: str) -> Document:
    ((only,), flaws) = parse_documents(text, "llm.yaml")
    assert flaws == []
    return only


def site(offers: Offers) -> Site:
    return Site(planner_cluster_role="planner", mpi_secret_name="keys", offers=offers)


def told(text: str, offers: Offers) -> list[tuple[int, str]]:
    return [(one.line, one.text) for one in find_all([document(text)], [], site(offers), namespace="demo")]


def amount(member: str, text: str, such: str) -> str:
    return f'{LIMITS}.{member}: must be a quantity such as {such}, not "{text}"'


CASES: list[tuple[str, str, Offers, list[tuple[int, str]]]] = [
    (
        "amounts that are no quantities: each is named at its line",
        HEAD + "    A:\n      resources:\n        limits:\n          cpu: four\n          memory: 10 Gi\n"
        "          gpu: eight\n          custom: {x/y.z: 1Xi}\n        requests: {gpu: any}\n",
        GROVE,
        [
            (9, amount("cpu", "four", "4 or 500m")),
            (10, amount("memory", "10 Gi", "32Gi or 500M")),
            (11, amount("gpu", "eight", "8")),
            (12, amount("custom[x/y.z]", "1Xi", "8Gi, 500m or 2")),
        ],
    ),
    (
        "an endless amount: it is shortened",
        HEAD + f"    A: {{resources: {{limits: {{cpu: {'x' * 99}}}}}}}\n",
        PLAIN,
        [(6, f'{LIMITS}.cpu: must be a quantity such as 4 or 500m, not "{"x" * 56}...')],
    ),
    (
        "an amount beside a member that the schema refuses: both are said",
        HEAD + "    A:\n      replicas: two\n      resources: {limits: {cpu: four, memory: 1}}\n",
        PLAIN,
        [
            (7, 'spec.services[A].replicas: must be an integer, not "two"'),
            (8, f'{LIMITS}.memory: must be text, not 1; write it in quotes: "1"'),
            (8, amount("cpu", "four", "4 or 500m")),
        ],
    ),
    (
        "a component of its own: its amounts are looked at too",
        OWN + "  dynamoNamespace: demo-\n  resources: {requests: {memory: lots}}\n",
        PLAIN,
        [(6, 'spec.resources.requests.memory: must be a quantity such as 32Gi or 500M, not "lots"')],
    ),
    (
        "services that become one object: said at the second",
        HEAD + "    Decode: {}\n    Frontend: {}\n    decode: {}\n",
        SETS,
        [(8, f"spec.services[decode]: {TWINS}")],
    ),
    (
        "services that become one object, one of them refused: both are said",
        HEAD + "    Decode: {resources: {limits: {cpu: four}}}\n    decode: {}\n",
        SETS,
        [
            (6, 'spec.services[Decode].resources.limits.cpu: must be a quantity such as 4 or 500m, not "four"'),
            (7, f"spec.services[decode]: {TWINS}"),
        ],
    ),
    (
        "two services that cannot be made: both are said",
        HEAD + f"    A: {NO_CONFIG}\n    B: {NO_CONFIG}\n",
        PLAIN,
        [(6, "spec.services[A]: "), (7, "spec.services[B]: ")],
    ),
    (
        "no way to several nodes: the doubt says it, nothing else does",
        HEAD + "    A:\n      resources: {limits: {gpu: '8'}}\n      multinode: {nodeCount: 2}\n"
        "      componentType: worker\n      extraPodSpec: {mainContainer: {args: [python3 -m dynamo.vllm -tp 16]}}\n",
        PLAIN,
        [(8, "spec.services[A].multinode: asks for 2 nodes")],
    ),
    (
        "GPUs that are no number: no doubt repeats it",
        HEAD + "    A:\n      componentType: worker\n      multinode: {nodeCount: 2}\n"
        "      resources: {limits: {gpu: many}}\n"
        "      extraPodSpec: {mainContainer: {args: [python3 -m dynamo.vllm -tp 16]}}\n",
        GROVE,
        [(9, amount("gpu", "many", "8"))],
    ),
    ("two schedulers in a gang: said at the second", HEAD + CLASH, GROVE, [(7, "spec.services[B]: ")]),
    ("two schedulers without a gang: nothing to say", HEAD + CLASH, SETS, []),
    ("a component without a Dynamo namespace: refused", OWN + "  serviceName: A\n", PLAIN, [(4, "spec: failed")]),
    (
        "a name that is yet to be made up: rendered all the same",
        HEAD.replace("name: llm", "generateName: llm-") + f"    A: {NO_CONFIG}\n",
        PLAIN,
        [(6, "spec.services[A]: ")],
    ),
    (
        "another kind: nothing is rendered",
        OWN.replace("ComponentDeployment", "Model") + "  modelName: a\n  baseModelName: a\n",
        PLAIN,
        [],
    ),
]


@pytest.mark.parametrize(("text", "offers", "said"), [row[1:] for row in CASES], ids=[row[0] for row in CASES])
def test_refused(text: str, offers: Offers, said: list[tuple[int, str]]) -> None:
    found = told(text, offers)
    assert [(line, words[: len(start)]) for (line, words), (_, start) in zip(found, said, strict=True)] == said


def test_render_is_told_the_field_that_keeps_a_service_from_being_made() -> None:
    spread = HEAD + "    A:\n      componentType: worker\n      multinode: {nodeCount: 2}\n"
    (finding,) = refusals_of(document(spread), site(PLAIN), namespace="demo")
    assert (finding.line, finding.path) == (8, "spec.services[A].multinode")
    assert finding.message.endswith("no multinode orchestrator available")


def test_what_the_rules_refuse_is_not_said_again() -> None:
    findings = refusals_of(document(HEAD.replace("  services:\n", "  pvcs: []\n")), site(PLAIN), namespace="demo")
    assert [one.path for one in findings] == ["spec.services"]
