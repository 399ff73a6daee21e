"""Which variable wins, and in which order they stand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamo_operator.domain.labels import DISCOVERY_BACKEND
from dynamo_operator.render.environment import append_environment, merge_environment
from tests.support.components import SITE, component, rendered_main

ENTRIES = st.lists(st.fixed_dictionaries({"name": st.sampled_from("ABCab_"), "value": st.text(max_size=3)}), max_size=6)


def values(subject: object) -> dict[str, object]:
    return {entry["name"]: entry.get("value") for entry in rendered_main(subject)["env"]}  # type: ignore[arg-type]


def test_a_variable_is_given_at_two_levels_and_the_whole_entry_of_the_later_one_wins() -> None:
    source = {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
    assert merge_environment([{"name": "A", "value": "x"}], [source]) == [source]


def test_the_order_is_that_of_bytes() -> None:
    names = ["DYN_X", "DYNAMO_PORT", "a", "Z"]
    merged = merge_environment([{"name": name} for name in names])
    assert [entry["name"] for entry in merged] == ["DYNAMO_PORT", "DYN_X", "Z", "a"]


@given(ENTRIES, ENTRIES)
def test_merged_names_are_sorted_and_unique(first: list[dict[str, str]], second: list[dict[str, str]]) -> None:
    names = [entry["name"] for entry in merge_environment(first, second)]
    assert names == sorted(set(names))
    assert set(names) == {entry["name"] for entry in first + second}


@given(ENTRIES)
def test_an_appended_variable_stands_last_and_once(entries: list[dict[str, str]]) -> None:
    appended = append_environment(merge_environment(entries), [{"name": "A", "value": "new"}])
    assert [entry for entry in appended if entry["name"] == "A"] == [{"name": "A", "value": "new"}]
    assert appended[-1]["name"] == "A"


PRECEDENCE = [
    ("only the platform sets it: its address", (), (), "nats://bus:4222"),
    ("the container sets it too: the container's", ("container",), (), "container"),
    ("the service sets it too: the service's", ("container",), ("service",), "service"),
    ("the service sets it twice: its last", (), ("one", "two"), "two"),
]


@pytest.mark.parametrize(("title", "container", "service", "wanted"), PRECEDENCE, ids=[row[0] for row in PRECEDENCE])
def test_precedence(title: str, container: tuple[str, ...], service: tuple[str, ...], wanted: str) -> None:
    subject = component(
        main_container={"env": [{"name": "NATS_SERVER", "value": value} for value in container]},
        envs=tuple({"name": "NATS_SERVER", "value": value} for value in service),
    )
    assert values(subject)["NATS_SERVER"] == wanted


BACKENDS = [
    ("nothing is said: the installation's", None, "kubernetes", True),
    ("the installation uses etcd: the runtime's default", None, "etcd", False),
    ("the component asks for etcd: not announced", "etcd", "kubernetes", False),
    ("the component asks for Kubernetes: announced", "kubernetes", "etcd", True),
    ("an unknown backend is asked for: announced, as the Go operator does", "zookeeper", "etcd", True),
]


@pytest.mark.parametrize(("title", "asked", "installed", "announced"), BACKENDS, ids=[row[0] for row in BACKENDS])
def test_discovery_backend(title: str, asked: str | None, installed: str, announced: bool) -> None:
    subject = component(annotations={} if asked is None else {DISCOVERY_BACKEND: asked})
    env = rendered_main(subject, replace(SITE, discovery_backend=installed))["env"]
    wanted = [{"name": "DYN_DISCOVERY_BACKEND", "value": "kubernetes"}] if announced else []
    assert [entry for entry in env if entry["name"] == "DYN_DISCOVERY_BACKEND"] == wanted


def test_every_address_is_configured_and_all_are_passed() -> None:
    site = replace(SITE, model_express_url="http://express", prometheus_endpoint="http://prometheus")
    env = {entry["name"]: entry.get("value") for entry in rendered_main(component(), site)["env"]}
    assert env["MODEL_EXPRESS_URL"] == "http://express"
    assert env["PROMETHEUS_ENDPOINT"] == "http://prometheus"
    assert env["ETCD_ENDPOINTS"] == "store:2379"


def test_no_address_is_configured_and_none_is_passed() -> None:
    site = replace(SITE, nats_address="", etcd_address="")
    assert not {"NATS_SERVER", "ETCD_ENDPOINTS"} & {entry["name"] for entry in rendered_main(component(), site)["env"]}


def test_a_component_has_no_graph_and_the_variable_is_there_without_a_value() -> None:
    env = rendered_main(component(graph=""))["env"]
    assert {"name": "DYN_PARENT_DGD_K8S_NAME"} in env
