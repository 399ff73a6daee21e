"""Services that adapters scale, as stories look at them: one number in five places."""

from __future__ import annotations

from typing import Any

import requests

from tests.support.bed import COMPONENT, GRAPH, Bed, graph, service

ADAPTER = "DynamoGraphDeploymentScalingAdapter"
AUTOSCALER = "HorizontalPodAutoscaler"
ON, OFF = {"scalingAdapter": {"enabled": True}}, {"scalingAdapter": {"enabled": False}}


def scaled_graph(name: str, **worker: Any) -> dict[str, Any]:
    """A graph of one service, `Worker`, that an adapter scales."""
    return graph(name, Worker=service(**ON, **worker))


def scale(bed: Bed, adapter: str, replicas: int) -> requests.Response:
    """Set the number as autoscalers do."""
    body = {"spec": {"replicas": replicas}}
    path = bed.path(ADAPTER, adapter, "scale")
    return bed.send("PATCH", path, body, media="application/merge-patch+json", fieldManager="autoscaler")


def sizes(bed: Bed, name: str) -> dict[str, Any]:
    """The size of a graph's worker: as asked for on the way from adapter to Deployment, and as told on the way back."""
    child = f"{name}-worker"
    adapter, graph = bed.read(ADAPTER, child) or {}, bed.read(GRAPH, name) or {}
    component, deployment = bed.read(COMPONENT, child) or {}, bed.read("Deployment", child) or {}
    return {
        "adapter asks": adapter["spec"]["replicas"],
        "graph asks": graph["spec"]["services"]["Worker"].get("replicas", 1),
        "component asks": component["spec"].get("replicas"),
        "Deployment asks": deployment["spec"]["replicas"],
        "Deployment has": deployment["status"].get("readyReplicas", 0),
        "graph tells": graph["status"]["services"]["Worker"]["replicas"],
        "adapter tells": adapter["status"]["replicas"],
    }


def comes_to(bed: Bed, name: str, replicas: int, seconds: float = 30.0) -> None:
    """Return when all of them are the number."""

    def all_so() -> bool:
        found.update(sizes(bed, name))
        return set(found.values()) == {replicas}

    found: dict[str, Any] = {}
    before, bed.explain = bed.explain, lambda: f"{found}\n{before()}"
    bed.eventually(f"{name}-worker has {replicas} replicas", all_so, seconds)
    bed.explain = before


def arrived(bed: Bed, name: str, replicas: int) -> bool:
    """Whether the number is everywhere."""
    return set(sizes(bed, name).values()) == {replicas}


def events_of(bed: Bed, adapter: str) -> dict[str, str]:
    """Messages of an adapter's events by reason; the newest of each."""
    about = [each for each in bed.items("Event") if each["involvedObject"]["name"] == adapter]
    return {each["reason"]: each["message"] for each in about if each["involvedObject"]["kind"] == ADAPTER}
