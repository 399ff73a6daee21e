"""Components that stand on several nodes per replica."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dynamo_operator.domain import labels
from dynamo_operator.domain.component import Component, ResourceAmounts, Resources
from dynamo_operator.domain.manifest import Manifest
from dynamo_operator.domain.outcome import Unrenderable
from dynamo_operator.domain.site import Offers
from dynamo_operator.render.component import render_component
from tests.support import components
from tests.support.components import NOWHERE, component, rendered

SITE = replace(components.SITE, offers=Offers(leader_worker_sets=True, volcano=True))
GPUS = Resources(limits=ResourceAmounts(gpu="8"))
MAIN = {"image": "images.example/runtime:1", "command": ["python3", "-m", "dynamo.sglang"], "args": ["--tp", "16"]}


def spread(**changes: Any) -> Component:
    return component(**{"nodes": 2, "resources": GPUS, "main_container": MAIN, **changes})


def set_of(subject: Component, index: int = 0) -> Manifest:
    return rendered(subject, SITE)[f"LeaderWorkerSet/llm-decode-{index}"].manifest


def templates(subject: Component, index: int = 0) -> dict[str, Manifest]:
    template = set_of(subject, index)["spec"]["leaderWorkerTemplate"]
    return {"leader": template["leaderTemplate"], "worker": template["workerTemplate"]}


REPLICAS: list[tuple[str, int | None, list[str]]] = [
    ("two: two sets", 2, ["0", "1"]),
    ("none: no set", 0, []),
    ("not given: one set", None, ["0"]),
]


@pytest.mark.parametrize(("title", "replicas", "wanted"), REPLICAS, ids=[row[0] for row in REPLICAS])
def test_replicas(title: str, replicas: int | None, wanted: list[str]) -> None:
    names = [name for name in rendered(spread(replicas=replicas), SITE) if not name.startswith("Service/")]
    assert names == [f"{kind}/llm-decode-{index}" for index in wanted for kind in ("PodGroup", "LeaderWorkerSet")]


def test_a_set_has_a_group_of_its_own_that_is_placed_together() -> None:
    group = rendered(spread(nodes=3, replicas=6), SITE)["PodGroup/llm-decode-5"].manifest
    assert group["metadata"]["labels"] == {"instance-id": "5"}
    assert group["spec"] == {"minMember": 3}
    for template in templates(spread(nodes=3, replicas=6), 5).values():
        assert template["metadata"]["annotations"] == {"scheduling.k8s.io/group-name": "llm-decode-5"}
        assert template["spec"]["schedulerName"] == "volcano"


def test_a_set_is_one_replica_and_tells_itself_apart() -> None:
    manifest = set_of(spread(nodes=3))
    assert manifest["metadata"]["labels"] == {**components.WORKER.labels, "instance-id": "0"}
    assert "annotations" not in manifest["metadata"]
    assert (manifest["spec"]["replicas"], manifest["spec"]["leaderWorkerTemplate"]["size"]) == (1, 3)
    assert manifest["spec"]["startupPolicy"] == "LeaderCreated"


def test_pods_carry_their_role_and_no_selector() -> None:
    fighting = {"instance-id": "9", "role": "mine", labels.COMPONENT: "mine", labels.SELECTOR: "mine", "own": "kept"}
    for role, template in templates(spread(pod_labels=fighting)).items():
        told = template["metadata"]["labels"]
        assert (told["role"], told["instance-id"], told[labels.COMPONENT]) == (role, "0", "Decode")
        assert labels.SELECTOR not in told
        assert told["own"] == "kept"


def test_the_user_names_a_scheduler_and_a_group_in_vain() -> None:
    subject = spread(pod_spec={"schedulerName": "mine"}, pod_annotations={labels.POD_GROUP: "mine", "own": "kept"})
    template = templates(subject)["leader"]
    assert template["spec"]["schedulerName"] == "volcano"
    assert template["metadata"]["annotations"] == {labels.POD_GROUP: "llm-decode-0", "own": "kept"}


def test_leader_and_worker_find_each_other_by_what_sets_put_into_containers() -> None:
    leader, worker = (each["spec"]["containers"][-1] for each in templates(spread()).values())
    assert leader["args"][2:] == [
        "--dist-init-addr",
        "$(LWS_LEADER_ADDRESS):29500",
        "--nnodes",
        "2",
        "--node-rank",
        "0",
    ]
    assert worker["args"][0].endswith("$LWS_LEADER_ADDRESS:29500 --nnodes 2 --node-rank $(LWS_WORKER_INDEX)")
    assert "livenessProbe" in leader
    assert not [field for field in worker if field.endswith("Probe")]


def test_the_service_selects_leaders_only() -> None:
    assert rendered(spread(), SITE)["Service/llm-decode"].manifest["spec"]["selector"]["role"] == "leader"
    assert "role" not in rendered(component(), SITE)["Service/llm-decode"].manifest["spec"]["selector"]


FAILED = "failed to reconcile the resources: failed to sync the LeaderWorkerSet: generateLeaderWorkerSet: "
LEADER = "failed to generate leader pod template: "
WORKER = "failed to generate worker pod template: "
CHECK = "generateLeaderPodTemplateSpec: failed to check main container"
MISMATCH = 'backend framework mismatch: detected "sglang" from command but explicitly configured as "vllm"'
REFUSALS: list[tuple[str, dict[str, Any], str]] = [
    (
        "no arguments",
        {"main_container": {"command": ["run"]}},
        f"{LEADER}{CHECK}: container Args cannot be empty for LWS pod",
    ),
    (
        "no command",
        {"component_type": "epp", "main_container": {"args": ["run"]}},
        f"{LEADER}{CHECK}: container Command cannot be nil for LWS pod",
    ),
    (
        "no GPU limit",
        {"resources": None},
        f"{WORKER}generateWorkerPodTemplateSpec: GPU limit is not set for LWS worker pod",
    ),
    (
        "no pod",
        {"backend_framework": "vllm"},
        f"{LEADER}{LEADER}failed to generate base pod spec: failed to determine backend framework: {MISMATCH}",
    ),
]


@pytest.mark.parametrize(("title", "changes", "message"), REFUSALS, ids=[row[0] for row in REFUSALS])
def test_refused(title: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(Unrenderable) as refused:
        render_component(spread(replicas=2, **changes), SITE, NOWHERE)
    assert str(refused.value) == FAILED + message
    made = [(child.manifest["kind"], child.manifest["metadata"]["name"]) for child in refused.value.made]
    assert made == [("PodGroup", "llm-decode-0")]


@pytest.mark.parametrize("offers", [Offers(), Offers(leader_worker_sets=True), Offers(volcano=True)])
def test_the_cluster_lacks_sets_or_their_scheduler_and_nothing_spreads(offers: Offers) -> None:
    with pytest.raises(Unrenderable, match="no multinode orchestrator available"):
        rendered(spread(), replace(SITE, offers=offers))
