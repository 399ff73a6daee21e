"""Labels and annotations of objects and pods."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_operator.domain import labels
from dynamo_operator.domain.component import Component
from dynamo_operator.render.metadata import object_annotations, object_labels, pod_annotations, pod_labels
from tests.support.components import WORKER, component

BARE = Component(namespace="demo", name="solo")


def test_a_worker_of_a_graph_has_pods_with_all_labels_that_others_select_on() -> None:
    assert pod_labels(WORKER, "llm-decode") == {
        "nvidia.com/dynamo-component": "Decode",
        "nvidia.com/dynamo-component-type": "worker",
        "nvidia.com/dynamo-graph-deployment-name": "llm",
        "nvidia.com/dynamo-namespace": "demo-llm",
        "nvidia.com/metrics-enabled": "true",
        "nvidia.com/selector": "llm-decode",
    }


LABELS: list[tuple[str, dict[str, Any], str, str | None]] = [
    ("a model is served: its hash", {"model": "Qwen/Qwen3-0.6B"}, labels.BASE_MODEL_HASH, "fb68f5a6"),
    ("a finer role is given: labelled", {"sub_component_type": "decode"}, labels.SUB_COMPONENT_TYPE, "decode"),
    (
        "metrics are switched off: not labelled",
        {"annotations": {labels.ENABLE_METRICS: "false"}},
        labels.METRICS_ENABLED,
        None,
    ),
    (
        "metrics are switched off in another spelling: labelled",
        {"annotations": {labels.ENABLE_METRICS: "False"}},
        labels.METRICS_ENABLED,
        "true",
    ),
    ("the type is not given: not labelled", {"component_type": ""}, labels.COMPONENT_TYPE, None),
    ("there is no graph: an empty name", {"labels": {}}, labels.GRAPH_NAME, ""),
    (
        "the object's labels and the spec's meet: the object's",
        {"object_labels": {"team": "b"}, "labels": {"team": "a"}},
        "team",
        "b",
    ),
    ("the user labels pods: the user's", {"pod_labels": {labels.SELECTOR: "x"}}, labels.SELECTOR, "x"),
]


@pytest.mark.parametrize(("title", "changes", "key", "wanted"), LABELS, ids=[row[0] for row in LABELS])
def test_pod_labels(title: str, changes: dict[str, Any], key: str, wanted: str | None) -> None:
    assert pod_labels(component(**changes), "llm-decode").get(key) == wanted


def test_a_debug_pod_says_so() -> None:
    assert pod_labels(WORKER, "llm-decode-d", debug=True)[labels.DEPLOYMENT_TARGET] == "debug"


def test_nothing_is_said_and_objects_have_no_labels_and_annotations() -> None:
    assert (object_labels(BARE), object_annotations(BARE), pod_annotations(BARE)) == ({}, {}, {})


def test_annotations_of_service_and_pods_meet_and_the_pods_win_on_objects_too() -> None:
    subject = component(annotations={"a": "1", "b": "1"}, pod_annotations={"b": "2"}, model="m")
    assert object_annotations(subject) == {"a": "1", "b": "2", labels.BASE_MODEL: "m"}
    assert pod_annotations(subject) == {"b": "2"}


def test_a_restart_is_asked_for_and_only_pods_hear_of_it() -> None:
    subject = component(annotations={labels.RESTART_AT: "r1"})
    assert pod_annotations(subject) == {labels.RESTART_AT: "r1"}
    assert object_annotations(subject) == {}
