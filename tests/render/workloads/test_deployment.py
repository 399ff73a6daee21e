"""Deployments of a component."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dynamo_operator.domain import labels
from tests.support.components import SITE, component, rendered, rendered_manifest

STEALING = {labels.STEALING_TRAFFIC: "true"}


def rolling(surge: object, unavailable: object) -> dict[str, Any]:
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


STRATEGIES: list[tuple[str, dict[str, str], dict[str, Any]]] = [
    ("nothing is said: a quarter each", {}, rolling("25%", "25%")),
    ("all at once: no numbers", {labels.DEPLOYMENT_STRATEGY: "Recreate", labels.MAX_SURGE: "1"}, {"type": "Recreate"}),
    ("an unknown strategy: rolling", {labels.DEPLOYMENT_STRATEGY: "Sometimes"}, rolling("25%", "25%")),
    ("one number is given: the other stays", {labels.MAX_SURGE: "0"}, rolling(0, "25%")),
    ("whole numbers: numbers", {labels.MAX_SURGE: "1", labels.MAX_UNAVAILABLE: "-2"}, rolling(1, -2)),
    ("a percentage: text", {labels.MAX_UNAVAILABLE: "50%"}, rolling("25%", "50%")),
    ("too large for a number: text", {labels.MAX_SURGE: "2147483648"}, rolling("2147483648", "25%")),
    ("thousands of digits: text", {labels.MAX_SURGE: "1" * 5000}, rolling("1" * 5000, "25%")),
    ("an empty number: a quarter", {labels.MAX_SURGE: ""}, rolling("25%", "25%")),
]


@pytest.mark.parametrize(("title", "annotations", "wanted"), STRATEGIES, ids=[row[0] for row in STRATEGIES])
def test_strategy(title: str, annotations: dict[str, str], wanted: dict[str, Any]) -> None:
    subject = component(annotations=annotations)
    assert rendered_manifest("Deployment/llm-decode", subject)["spec"]["strategy"] == wanted


def test_a_number_is_annotated_for_pods_too_and_that_one_wins() -> None:
    subject = component(annotations={labels.MAX_SURGE: "1"}, pod_annotations={labels.MAX_SURGE: "2"})
    strategy = rendered_manifest("Deployment/llm-decode", subject)["spec"]["strategy"]
    assert strategy == rolling(2, "25%")


REPLICAS = [("a number: that many", 3, 3), ("zero: none", 0, 0), ("not given: left to others", None, "absent")]


@pytest.mark.parametrize(("title", "replicas", "wanted"), REPLICAS, ids=[row[0] for row in REPLICAS])
def test_replicas(title: str, replicas: int | None, wanted: object) -> None:
    spec = rendered_manifest("Deployment/llm-decode", component(replicas=replicas))["spec"]
    assert spec.get("replicas", "absent") == wanted


def test_it_selects_its_pods_by_name() -> None:
    manifest = rendered_manifest("Deployment/llm-decode", component())
    assert manifest["metadata"]["namespace"] == "demo"
    assert manifest["spec"]["selector"] == {"matchLabels": {labels.SELECTOR: "llm-decode"}}
    assert manifest["spec"]["template"]["metadata"]["labels"][labels.SELECTOR] == "llm-decode"


def test_a_restart_is_asked_for_and_the_template_changes() -> None:
    subject = component(annotations={labels.RESTART_AT: "r1"})
    template = rendered_manifest("Deployment/llm-decode", subject)["spec"]["template"]
    assert template["metadata"]["annotations"] == {labels.RESTART_AT: "r1"}


def test_debugging_steals_traffic_and_a_second_deployment_has_one_debug_pod() -> None:
    debug = rendered_manifest("Deployment/llm-decode-d", component(annotations=STEALING, replicas=4))["spec"]
    assert (debug["replicas"], debug["selector"]["matchLabels"]) == (1, {labels.SELECTOR: "llm-decode-d"})
    assert debug["template"]["metadata"]["labels"][labels.DEPLOYMENT_TARGET] == "debug"
    assert [container["name"] for container in debug["template"]["spec"]["containers"]] == ["main", "debugger"]
    assert debug["template"]["spec"]["shareProcessNamespace"] is True


def test_debugging_steals_traffic_and_production_pods_stay_as_they_are() -> None:
    template = rendered_manifest("Deployment/llm-decode", component(annotations=STEALING))["spec"]["template"]
    assert template == rendered_manifest("Deployment/llm-decode", component())["spec"]["template"]


def test_no_debugging_and_there_is_one_deployment() -> None:
    assert [name for name in rendered(component()) if name.startswith("Deployment/")] == ["Deployment/llm-decode"]


def test_debug_mode_is_on_and_each_pod_has_a_debugger() -> None:
    subject = component(annotations={labels.DEBUG_MODE: "true"})
    pod = rendered_manifest("Deployment/llm-decode", subject, replace(SITE, debugger_image="tools:1"))
    debugger = pod["spec"]["template"]["spec"]["containers"][-1]
    assert (debugger["name"], debugger["image"], debugger["command"]) == ("debugger", "tools:1", ["sleep", "infinity"])
    assert debugger["securityContext"] == {"capabilities": {"add": ["SYS_PTRACE"]}}
