"""The life of a graph: it comes, changes, is damaged and goes; told by what a user sees."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.audit import AuditLog
from tests.support.bed import COMPONENT, GRAPH, Bed, condition_of, graph, image, ready, service, services_patch
from tests.support.cluster import ControlPlane
from tests.support.dump import owned_by
from tests.support.operator import CLUSTER_WIDE, operating

pytestmark = pytest.mark.cluster

NEW = "registry.example/runtime:2"
# Pods that take a moment, so that there is something to see of a rollout.
SLOWLY = {
    "extraPodMetadata": {
        "labels": {"dynamo-operator.test/behaviour": "slow-start"},
        "annotations": {"dynamo-operator.test/delay": "1s"},
    }
}


def pair(name: str, **worker: Any) -> dict[str, Any]:
    """A graph of a frontend and a worker."""
    return graph(name, Frontend=service("frontend"), Worker=service(**worker))


def controllers(bed: Bed, kind: str) -> dict[str, str]:
    """Who controls the objects of a kind: kind and name by name."""
    return {
        item["metadata"]["name"]: f"{owner['kind']}/{owner['name']}"
        for item in bed.items(kind)
        for owner in item["metadata"].get("ownerReferences", [])
        if owner["controller"]
    }


def events(bed: Bed, kind: str, name: str) -> set[tuple[str, str]]:
    """Reason and message of what was told about an object."""
    about = ((item["involvedObject"], item) for item in bed.items("Event"))
    return {(item["reason"], item["message"]) for obj, item in about if (obj["kind"], obj["name"]) == (kind, name)}


def test_new_graph_becomes_ready_and_every_child_has_its_owner(stage: Bed) -> None:
    stage.create(pair("born"))
    stage.comes_to_rest("born")
    assert owned_by(stage, "born") == {
        "DynamoComponentDeployment/born-frontend",
        "DynamoComponentDeployment/born-worker",
        "Deployment/born-frontend",
        "Deployment/born-worker",
        "Service/born-frontend",
        "Service/born-worker",
        "ServiceAccount/born-k8s-service-discovery",
        "Role/born-k8s-service-discovery-role",
        "RoleBinding/born-k8s-service-discovery-binding",
    }
    assert controllers(stage, COMPONENT)["born-worker"] == f"{GRAPH}/born"
    assert controllers(stage, "Deployment")["born-worker"] == f"{COMPONENT}/born-worker"


def test_ready_graph_says_for_which_generation_and_counts_its_pods(stage: Bed) -> None:
    stage.create(pair("told", replicas=2))
    status = stage.comes_to_rest("told")["status"]
    counters = {"replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2}
    assert status["state"] == "successful"
    assert status["services"]["Worker"].items() >= counters.items()
    component = stage.read(COMPONENT, "told-worker") or {}
    said = [*status["conditions"], *component["status"]["conditions"]]
    assert {(each["type"], each["status"], each["observedGeneration"]) for each in said} == {
        ("Ready", "True", 1),
        ("Valid", "True", 1),
        ("Available", "True", 1),
    }
    created = ("CreateDynamoComponentDeployment", "Created DynamoComponentDeployment told-frontend, told-worker")
    assert created in stage.eventually("the graph's events", lambda: events(stage, GRAPH, "told"))
    assert ("CreateDeployment", "Created Deployment told-worker") in events(stage, COMPONENT, "told-worker")


def rolled_out(deployment: dict[str, Any], wanted: str) -> bool:
    """Whether all pods of a version of a Deployment are of the wanted image, and no other is left."""
    spec, status = deployment["spec"], deployment.get("status", {})
    return (
        spec["template"]["spec"]["containers"][0]["image"] == wanted
        and status.get("observedGeneration", 0) >= deployment["metadata"]["generation"]
        and status.get("updatedReplicas") == status.get("availableReplicas") == status.get("replicas")
    )


def test_new_image_rolls_and_the_graph_is_not_ready_before_the_last_pod_is_new(stage: Bed) -> None:
    stage.create(pair("roll", replicas=2, **SLOWLY))
    stage.comes_to_rest("roll")
    before = stage.version()
    stage.patch(GRAPH, "roll", services_patch(Worker=image(NEW)))
    stage.comes_to_rest("roll")
    seen = [each for each in stage.history(GRAPH, before) if each["metadata"]["name"] == "roll"]
    verdicts = [(ready(each) is not None, int(each["metadata"]["resourceVersion"])) for each in seen]
    done = next(
        int(each["metadata"]["resourceVersion"])
        for each in stage.history("Deployment", before)
        if each["metadata"]["name"] == "roll-worker" and rolled_out(each, NEW)
    )
    assert False in {verdict for verdict, _ in verdicts}
    assert [version for verdict, version in verdicts if verdict and version < done] == []
    during = [condition_of(each, "Ready") for each in seen if condition_of(each, "Ready")["observedGeneration"] == 2]
    assert during[0]["reason"] == "some_resources_are_not_ready"


def test_more_replicas_are_wanted_there_are_more_pods(stage: Bed) -> None:
    stage.create(pair("grow"))
    stage.comes_to_rest("grow")
    stage.patch(GRAPH, "grow", services_patch(Worker={"replicas": 3}))
    assert stage.comes_to_rest("grow")["status"]["services"]["Worker"]["readyReplicas"] == 3
    assert len([name for name in stage.names("Pod") if name.startswith("grow-worker-")]) == 3


def test_adapter_is_scaled_its_service_follows(stage: Bed) -> None:
    adapter = "DynamoGraphDeploymentScalingAdapter"
    stage.create(pair("wide", scalingAdapter={"enabled": True}))
    stage.comes_to_rest("wide")
    stage.patch(adapter, "wide-worker", {"spec": {"replicas": 2}})
    stage.eventually(
        "two workers are asked for",
        lambda: (stage.read(GRAPH, "wide") or {})["spec"]["services"]["Worker"].get("replicas") == 2,
    )
    assert stage.comes_to_rest("wide")["status"]["services"]["Worker"]["readyReplicas"] == 2
    stage.eventually("its event", lambda: "Scaled" in {reason for reason, _ in events(stage, adapter, "wide-worker")})


def test_service_is_removed_its_component_goes_and_the_other_stays(stage: Bed) -> None:
    stage.create(pair("less"))
    stage.comes_to_rest("less")
    stage.patch(GRAPH, "less", services_patch(Worker=None))
    stage.eventually("the worker is gone", lambda: "Deployment/less-worker" not in owned_by(stage, "less"))
    assert set(stage.comes_to_rest("less")["status"]["services"]) == {"Frontend"}
    gone = ("DeleteDynamoComponentDeployment", "Deleted DynamoComponentDeployment less-worker")
    stage.eventually("its event", lambda: gone in events(stage, GRAPH, "less"))


EDITS = [
    ("Deployment", "bent-worker", {"spec": {"replicas": 5, "template": {"spec": {"serviceAccountName": "other"}}}}),
    ("Service", "bent-worker", {"spec": {"selector": {"nvidia.com/dynamo-component-type": "other"}}}),
    ("Role", "bent-k8s-service-discovery-role", {"rules": []}),
    ("ServiceAccount", "bent-k8s-service-discovery", {"metadata": {"labels": {"app.kubernetes.io/name": "other"}}}),
    (COMPONENT, "bent-worker", {"spec": {"componentType": "frontend"}}),
]


def wish_of(subject: dict[str, Any] | None) -> dict[str, Any]:
    """What an object wants: neither ids nor status."""
    assert subject is not None
    wish = {key: value for key, value in subject.items() if key not in ("metadata", "status")}
    return wish | {"labels": subject["metadata"].get("labels")}


def test_children_are_edited_by_hand_they_are_as_before_again(stage: Bed) -> None:
    stage.create(pair("bent"))
    stage.comes_to_rest("bent")
    before = [wish_of(stage.read(kind, name)) for kind, name, _ in EDITS]
    for kind, name, edit in EDITS:
        stage.patch(kind, name, edit, manager="kubectl-edit")
    for (kind, name, _), wish in zip(EDITS, before, strict=True):
        stage.eventually(f"{kind} {name} is repaired", lambda k=kind, n=name, w=wish: wish_of(stage.read(k, n)) == w)
    stage.comes_to_rest("bent")


def test_children_are_deleted_they_come_back(stage: Bed) -> None:
    stage.create(pair("torn"))
    stage.comes_to_rest("torn")
    children = owned_by(stage, "torn")
    for child in sorted(child for child in children if not child.startswith(COMPONENT)):
        stage.delete(*child.split("/"))
    stage.eventually("everything is back", lambda: owned_by(stage, "torn") == children)
    stage.delete(COMPONENT, "torn-worker")
    stage.eventually("the component is back", lambda: owned_by(stage, "torn") == children)
    stage.comes_to_rest("torn")


def test_graph_is_deleted_only_the_accounts_of_the_namespace_stay(whole_bed: Bed, tmp_path: Any) -> None:
    plane: ControlPlane = whole_bed.plane
    with operating(plane.operator_kubeconfig, tmp_path, *CLUSTER_WIDE) as operator:
        whole_bed.explain = operator.last_words
        whole_bed.create(pair("gone"))
        whole_bed.comes_to_rest("gone")
        whole_bed.delete(GRAPH, "gone")
        left = {"ServiceAccount/planner-serviceaccount", "RoleBinding/planner-serviceaccount-binding"}
        whole_bed.eventually("nothing else is left", lambda: left_in(whole_bed) == left)
        if plane.audit_log is not None:
            log = AuditLog(plane, whole_bed.namespace)
            log.quiet(2.0)
            assert log.writes() == []


def left_in(bed: Bed) -> set[str]:
    """Kind and name of what is in a namespace, events and what Kubernetes puts into each aside."""
    kinds = (GRAPH, COMPONENT, "Deployment", "Pod", "Service", "ServiceAccount", "Role", "RoleBinding", "ConfigMap")
    everywhere = {"ServiceAccount/default", "ConfigMap/kube-root-ca.crt"}
    return {f"{kind}/{name}" for kind in kinds for name in bed.names(kind)} - everywhere
