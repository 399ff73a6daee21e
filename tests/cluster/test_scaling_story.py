"""A service is scaled: by hand, by an autoscaler, in a hurry, against others; told by what each of them sees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import Any

import pytest
import requests

from tests.support.audit import AuditLog
from tests.support.bed import COMPONENT, GRAPH, Bed, condition_of, graph, image, ready, service, services_patch
from tests.support.cluster import CHECKOUT, ControlPlane
from tests.support.operator import operating, restricted_to
from tests.support.scaling import ADAPTER, AUTOSCALER, OFF, ON, comes_to, events_of, scale, scaled_graph, sizes

pytestmark = pytest.mark.cluster

EXAMPLES = CHECKOUT / "examples" / "autoscaling"


def selected(bed: Bed, adapter: str) -> set[str]:
    """Names of the pods that the scale subresource tells autoscalers to look at."""
    told = bed.send("GET", bed.path(ADAPTER, adapter, "scale")).json()["status"]["selector"]
    found = bed.send("GET", bed.path("Pod"), labelSelector=told).json()["items"]
    return {pod["metadata"]["name"] for pod in found}


def test_kubectl_scales_and_everybody_tells_the_number(stage: Bed) -> None:
    stage.create(scaled_graph("byhand"))
    comes_to(stage, "byhand", 1)
    assert "lastScaleTime" not in stage.read(ADAPTER, "byhand-worker")["status"]
    stage.plane.kubectl("scale", "dgdsa/byhand-worker", "--replicas=3", f"--namespace={stage.namespace}")
    comes_to(stage, "byhand", 3)
    pods = selected(stage, "byhand-worker")
    assert (len(pods), pods <= stage.names("Pod")) == (3, True)
    said = stage.eventually("the event", lambda: events_of(stage, "byhand-worker").get("Scaled"))
    assert said == "Scaled service Worker from 1 to 3 replicas"
    stage.eventually("its time", lambda: (stage.read(ADAPTER, "byhand-worker") or {})["status"]["lastScaleTime"])
    table = stage.plane.kubectl("get", "dgdsa", "byhand-worker", f"--namespace={stage.namespace}", "--no-headers")
    assert table.split()[:4] == ["byhand-worker", "byhand", "Worker", "3"]


def test_scaled_to_zero_the_graph_is_ready_and_comes_back(stage: Bed) -> None:
    stage.create(scaled_graph("sleepy", replicas=2))
    comes_to(stage, "sleepy", 2)
    assert scale(stage, "sleepy-worker", 0).ok
    comes_to(stage, "sleepy", 0)
    stage.becomes_ready("sleepy")
    stage.eventually("no pod is left", lambda: not selected(stage, "sleepy-worker"))
    assert scale(stage, "sleepy-worker", 2).ok
    comes_to(stage, "sleepy", 2)


def test_number_below_zero_is_refused(stage: Bed) -> None:
    stage.create(scaled_graph("below"))
    comes_to(stage, "below", 1)
    assert scale(stage, "below-worker", -1).status_code == 422
    assert set(sizes(stage, "below").values()) == {1}


@pytest.mark.slow
def test_autoscaler_of_the_examples_moves_the_service_of_their_graph(stage: Bed) -> None:
    """No metrics are served here: what moves the service is `minReplicas`.

    This proves the path (find the target, read its scale, write it, read it back). That the metric is asked for at all
    proves that the selector can be read; a HorizontalPodAutoscaler stops before that where it cannot.
    """
    files = [f"--filename={EXAMPLES / name}.yaml" for name in ("graph", "hpa")]
    stage.plane.kubectl("apply", f"--namespace={stage.namespace}", *files)

    def told() -> dict[str, str]:
        hpa = stage.read(AUTOSCALER, "chat-decode") or {}
        numbers = hpa["status"].get("currentReplicas"), hpa["status"].get("desiredReplicas")
        said = {kind: condition_of(hpa, kind) for kind in ("AbleToScale", "ScalingActive")}
        return {kind: f"{each['status']} {each['reason']}" for kind, each in said.items() if numbers == (2, 2)}

    stage.eventually("it was moved, and asks for metrics", lambda: told()["ScalingActive"].endswith("Metric"), 90)
    assert told()["AbleToScale"].startswith("True ")
    stage.comes_to_rest("chat")
    assert len(selected(stage, "chat-decode")) == 2
    # Zero is a switch: a HorizontalPodAutoscaler leaves it alone.
    assert scale(stage, "chat-decode", 0).ok
    stage.eventually(
        "it stands still",
        lambda: (
            condition_of(stage.read(AUTOSCALER, "chat-decode") or {}, "ScalingActive")["reason"] == "ScalingDisabled"
        ),
        60,
    )
    assert stage.read(ADAPTER, "chat-decode")["spec"]["replicas"] == 0


@pytest.mark.parametrize(
    "edit",
    [pytest.param({"replicas": 7}, id="another number"), pytest.param({"replicas": None}, id="no number")],
)
def test_graph_is_given_another_number_no_pod_notices(stage: Bed, edit: dict[str, Any]) -> None:
    name = f"mine-{'x' if edit['replicas'] else 'y'}"
    stage.create(scaled_graph(name))
    comes_to(stage, name, 1)
    assert scale(stage, f"{name}-worker", 2).ok
    comes_to(stage, name, 2)
    before = stage.version()
    stage.patch(GRAPH, name, services_patch(Worker=edit))
    comes_to(stage, name, 2)
    stage.becomes_ready(name)
    history = {kind: stage.history(kind, before) for kind in (COMPONENT, "Deployment", ADAPTER)}
    asked = {each["spec"]["replicas"] for kind in history.values() for each in kind if name in each["metadata"]["name"]}
    assert asked <= {2}


def test_image_and_number_change_at_once_both_arrive(stage: Bed) -> None:
    stage.create(scaled_graph("both"))
    comes_to(stage, "both", 1)
    with ThreadPoolExecutor(2) as pool:
        for turn in range(2, 8):
            new, replicas = f"registry.example/runtime:{turn}", turn % 4 + 1
            edited = pool.submit(stage.patch, GRAPH, "both", services_patch(Worker=image(new)))
            scaled = pool.submit(scale, stage, "both-worker", replicas)
            assert edited.result()
            assert scaled.result().ok
            comes_to(stage, "both", replicas)
            deployment = stage.read("Deployment", "both-worker") or {}
            assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == new


@pytest.mark.slow
def test_a_hundred_numbers_in_ten_seconds_the_last_one_counts(
    control_plane: ControlPlane, empty_stage: Bed, tmp_path: Path
) -> None:
    flags = restricted_to(empty_stage.namespace)
    with operating(control_plane.operator_kubeconfig, tmp_path, *flags) as operator:
        empty_stage.explain = operator.last_words
        empty_stage.create(scaled_graph("storm"))
        comes_to(empty_stage, "storm", 1)
        audit = AuditLog(control_plane, empty_stage.namespace)
        started = monotonic()
        for turn in range(100):
            assert scale(empty_stage, "storm-worker", turn * 7 % 10).ok
            Event().wait(max(0.0, started + turn * 0.1 - monotonic()))
        assert scale(empty_stage, "storm-worker", 4).ok
        comes_to(empty_stage, "storm", 4)
        audit.quiet(2.0)
        writes = Counter(
            each.uri.partition("?")[0].partition(f"/{empty_stage.namespace}/")[2] for each in audit.writes()
        )
        log = operator.log_text()
    del writes["events"]
    # Once for each number on the way up, and on the way back at most twice: when pods are asked for, and when they run.
    assert {path: count for path, count in writes.items() if count > (202 if path.endswith("/status") else 101)} == {}
    assert [line for line in log.splitlines() if '"error"' in line or '"warning"' in line] == []


@contextmanager
def busy(bed: Bed, *names: str) -> Iterator[None]:
    """Graphs that get new images all the time, until the block ends."""
    over = Event()

    def edit() -> None:
        turn = 0
        while not over.wait(0.05):
            turn += 1
            bed_of_its_own = Bed(bed.plane, bed.url, bed.namespace)
            bed_of_its_own.patch(
                GRAPH, names[turn % len(names)], services_patch(Worker=image(f"registry.example/x:{turn}"))
            )

    thread = Thread(target=edit)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_adapter_comes_and_goes_among_busy_graphs_the_number_stays_and_nothing_rolls(stage: Bed) -> None:
    others = [f"busy-{number}" for number in range(3)]
    for other in others:
        stage.create(graph(other, Worker=service()))
    stage.create(graph("calm", Worker=service(replicas=2)))
    stage.comes_to_rest("calm")
    before, pods = stage.version(), selected_by_graph(stage, "calm")
    with busy(stage, *others):
        stage.patch(GRAPH, "calm", services_patch(Worker=ON))
        comes_to(stage, "calm", 2)
        assert scale(stage, "calm-worker", 3).ok
        comes_to(stage, "calm", 3)
        stage.delete(ADAPTER, "calm-worker")
        comes_to(stage, "calm", 3)
        stage.patch(GRAPH, "calm", services_patch(Worker=OFF))
        stage.eventually("the adapter is gone", lambda: stage.read(ADAPTER, "calm-worker") is None)
        stage.comes_to_rest("calm")
    assert pods < selected_by_graph(stage, "calm")
    history = [each for each in stage.history("Deployment", before) if each["metadata"]["name"] == "calm-worker"]
    numbers = [each["spec"]["replicas"] for each in history]
    assert (sorted(numbers), numbers[-1]) == (numbers, 3)
    assert len({str(each["spec"]["template"]) for each in history}) == 1


def selected_by_graph(bed: Bed, name: str) -> set[str]:
    """Names of a graph's pods."""
    return {pod for pod in bed.names("Pod") if pod.startswith(f"{name}-")}


def test_adapter_is_switched_off_and_another_number_set_at_once_the_number_counts(stage: Bed) -> None:
    stage.create(scaled_graph("leaving", replicas=3))
    comes_to(stage, "leaving", 3)
    before = stage.version()
    stage.patch(GRAPH, "leaving", services_patch(Worker={"replicas": 1, **OFF}))
    stage.eventually("the adapter is gone", lambda: stage.read(ADAPTER, "leaving-worker") is None)
    assert stage.comes_to_rest("leaving")["spec"]["services"]["Worker"]["replicas"] == 1
    history = [each for each in stage.history(GRAPH, before) if each["metadata"]["name"] == "leaving"]
    assert {each["spec"]["services"]["Worker"]["replicas"] for each in history} == {1}


def adapter_by_hand(name: str, target: str, replicas: int) -> dict[str, Any]:
    """An adapter of a user's own making, for the worker of a graph."""
    spec = {"replicas": replicas, "dgdRef": {"name": target, "serviceName": "Worker"}}
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": ADAPTER, "metadata": {"name": name}, "spec": spec}


def asked(bed: Bed, name: str) -> int:
    """Replicas that a graph's worker asks for."""
    return (bed.read(GRAPH, name) or {})["spec"]["services"]["Worker"].get("replicas", 1)


def test_two_adapters_for_one_service_one_counts_and_the_other_says_why_not(stage: Bed) -> None:
    stage.create(graph("shared", Worker=service()))
    stage.comes_to_rest("shared")
    stage.create(adapter_by_hand("hand", "shared", 2))
    stage.eventually("the one by hand counts", lambda: asked(stage, "shared") == 2)
    stage.patch(GRAPH, "shared", services_patch(Worker=ON))
    comes_to(stage, "shared", 2)
    assert scale(stage, "shared-worker", 3).ok
    assert scale(stage, "hand", 1).ok
    comes_to(stage, "shared", 3)
    taken = "service Worker of DynamoGraphDeployment shared is scaled by adapter shared-worker already"
    stage.eventually("why not", lambda: taken in events_of(stage, "hand").get("TargetTaken", ""))
    stage.patch(GRAPH, "shared", services_patch(Worker=OFF))
    stage.eventually("it counts again", lambda: asked(stage, "shared") == 1)


def test_adapter_points_nowhere_it_says_so_and_goes_on_when_the_graph_comes(stage: Bed) -> None:
    stage.create(adapter_by_hand("early", "late", 2))
    stage.eventually("it is lost", lambda: "late not found" in events_of(stage, "early").get("TargetNotFound", ""))
    stage.create(graph("late", Worker=service()))
    stage.eventually("it is found", lambda: asked(stage, "late") == 2)
    assert ready(stage.comes_to_rest("late"))


def applied(bed: Bed, manifest: dict[str, Any], *, force: bool = False) -> requests.Response:
    """Apply as GitOps tools do."""
    query = {"fieldManager": "gitops", "force": str(force).lower()}
    path = bed.path(manifest["kind"], manifest["metadata"]["name"])
    return bed.send("PATCH", path, manifest, media="application/apply-patch+yaml", **query)


def test_manifest_from_git_is_applied_again_the_number_stays(stage: Bed) -> None:
    manifest = scaled_graph("kept")
    assert applied(stage, manifest).ok
    comes_to(stage, "kept", 1)
    assert scale(stage, "kept-worker", 3).ok
    comes_to(stage, "kept", 3)
    before = stage.version()
    refused = applied(stage, manifest)
    assert (refused.status_code, '"dynamo-operator"' in refused.json()["message"]) == (409, True)
    assert applied(stage, manifest, force=True).ok
    comes_to(stage, "kept", 3)
    del manifest["spec"]["services"]["Worker"]["replicas"]
    for _ in range(2):
        assert applied(stage, manifest).ok
        comes_to(stage, "kept", 3)
    stage.becomes_ready("kept")
    history = [each for each in stage.history("Deployment", before) if each["metadata"]["name"] == "kept-worker"]
    assert {each["spec"]["replicas"] for each in history} <= {3}


DAMAGE: list[dict[str, Any]] = [
    {"metadata": {"labels": {"nvidia.com/dynamo-component": "Other"}}},
    {"metadata": {"ownerReferences": []}},
    {"spec": {"dgdRef": {"serviceName": "Other"}}},
]


def test_adapter_is_bent_it_is_right_again_and_keeps_its_number(stage: Bed) -> None:
    stage.create(scaled_graph("bent"))
    comes_to(stage, "bent", 1)
    assert scale(stage, "bent-worker", 2).ok
    comes_to(stage, "bent", 2)

    def wish() -> tuple[Any, ...]:
        found = stage.read(ADAPTER, "bent-worker") or {}
        return found["metadata"]["labels"], found["metadata"].get("ownerReferences"), found["spec"]

    before = wish()
    for damage in DAMAGE:
        stage.patch(ADAPTER, "bent-worker", damage, manager="kubectl-edit")
        stage.eventually("it is repaired", lambda: wish() == before)
    comes_to(stage, "bent", 2)
