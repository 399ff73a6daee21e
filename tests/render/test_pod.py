"""The pod around the main container."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dynamo_operator.domain import labels
from dynamo_operator.domain.component import Surroundings
from tests.support.components import SITE, component, rendered_pod

DEFAULTS: list[tuple[str, dict[str, Any], str, object]] = [
    ("nothing is said: a minute to finish", {}, "terminationGracePeriodSeconds", 60),
    ("another time is given: that time", {"terminationGracePeriodSeconds": 10}, "terminationGracePeriodSeconds", 10),
    (
        "no time is given: a minute, as zero says nothing",
        {"terminationGracePeriodSeconds": 0},
        "terminationGracePeriodSeconds",
        60,
    ),
    ("nothing is said: restarted always", {}, "restartPolicy", "Always"),
    ("nothing is said: volumes belong to a group", {}, "securityContext", {"fsGroup": 1000}),
    (
        "a security context is given: exactly that",
        {"securityContext": {"runAsUser": 1}},
        "securityContext",
        {"runAsUser": 1},
    ),
    ("an empty security context is given: exactly that", {"securityContext": {}}, "securityContext", {}),
    ("tolerations are given: taken", {"tolerations": [{"key": "gpu"}]}, "tolerations", [{"key": "gpu"}]),
]


@pytest.mark.parametrize(("title", "given", "field", "wanted"), DEFAULTS, ids=[row[0] for row in DEFAULTS])
def test_pod_fields(title: str, given: dict[str, Any], field: str, wanted: object) -> None:
    assert rendered_pod(component(pod_spec=given))[field] == wanted


def test_sidecars_are_given_and_they_stand_before_the_main_container() -> None:
    pod = rendered_pod(component(pod_spec={"containers": [{"name": "a"}, {"name": "b"}]}))
    assert [container["name"] for container in pod["containers"]] == ["a", "b", "main"]


ACCOUNTS = [
    (
        "a graph under Kubernetes discovery: its discovery account",
        "kubernetes",
        {},
        ("labelled",),
        "llm-k8s-service-discovery",
    ),
    ("the user names one: that one", "kubernetes", {"pod_spec": {"serviceAccountName": "mine"}}, (), "mine"),
    ("a planner: the planner's", "kubernetes", {"component_type": "planner"}, (), "planner-serviceaccount"),
    ("no Kubernetes discovery: the first labelled account", "etcd", {}, ("a", "b"), "a"),
    ("no Kubernetes discovery and no labelled account: default", "etcd", {}, (), "default"),
    ("a component on its own: the labelled account", "kubernetes", {"graph": ""}, ("a",), "a"),
]


@pytest.mark.parametrize(("title", "backend", "changes", "known", "wanted"), ACCOUNTS, ids=[row[0] for row in ACCOUNTS])
def test_service_account(
    title: str, backend: str, changes: dict[str, Any], known: tuple[str, ...], wanted: str
) -> None:
    site = replace(SITE, discovery_backend=backend)
    pod = rendered_pod(component(**changes), site, Surroundings(service_accounts=known))
    assert pod["serviceAccountName"] == wanted


SECRETS = Surroundings(pull_secrets={"images.example": ("both", "found")})

PULLS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("the registry is known: its secrets", {}, ["both", "found"]),
    (
        "the user has some: those first, each once",
        {"pod_spec": {"imagePullSecrets": [{"name": "own"}, {"name": "both"}]}},
        ["own", "both", "found"],
    ),
    ("another registry: none", {"main_container": {"image": "elsewhere.example/x"}}, []),
    ("no image: none", {"main_container": {}}, []),
    ("discovery is switched off: none", {"annotations": {labels.DISABLE_PULL_SECRET_DISCOVERY: "true"}}, []),
    (
        "discovery is nearly switched off: found",
        {"annotations": {labels.DISABLE_PULL_SECRET_DISCOVERY: "True"}},
        ["both", "found"],
    ),
]


@pytest.mark.parametrize(("title", "changes", "wanted"), PULLS, ids=[row[0] for row in PULLS])
def test_pull_secrets(title: str, changes: dict[str, Any], wanted: list[str]) -> None:
    pod = rendered_pod(component(**changes), SITE, SECRETS)
    assert [secret["name"] for secret in pod.get("imagePullSecrets", [])] == wanted


CONFIG = {"name": "epp-config", "configMap": {"name": "own"}}

PICKER_VOLUMES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("nothing is said: configuration and cache", {}, ["epp-config", "hf-cache"]),
    (
        "the user adds one: what is mounted stays",
        {"pod_spec": {"volumes": [{"name": "x"}]}},
        ["x", "epp-config", "hf-cache"],
    ),
    ("the user replaces one: only the other is added", {"pod_spec": {"volumes": [CONFIG]}}, ["epp-config", "hf-cache"]),
    (
        "the user mounts only one: the other is not needed",
        {
            "pod_spec": {"volumes": [CONFIG]},
            "main_container": {"volumeMounts": [{"name": "epp-config", "mountPath": "/etc/epp"}]},
        },
        ["epp-config"],
    ),
]


@pytest.mark.parametrize(("title", "changes", "wanted"), PICKER_VOLUMES, ids=[row[0] for row in PICKER_VOLUMES])
def test_volumes_of_an_endpoint_picker(title: str, changes: dict[str, Any], wanted: list[str]) -> None:
    pod = rendered_pod(component(component_type="epp", **changes))
    assert [volume["name"] for volume in pod["volumes"]] == [*wanted, "shared-memory"]
