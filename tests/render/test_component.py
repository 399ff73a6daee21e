"""Everything of a component together: order, errors, laws."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamo_operator.domain.component import Component, Exposure, ResourceAmounts, Resources, Surroundings, VolumeMount
from dynamo_operator.domain.outcome import Unrenderable
from dynamo_operator.render.component import render_component
from tests.support.components import NOWHERE, SITE, component, rendered

POD = (
    "failed to reconcile the resources: failed to create or update the deployment: create or update deployment: "
    "failed to generate base pod spec: "
)

REFUSALS: list[tuple[str, dict[str, Any], str]] = [
    (
        "a limit is no quantity",
        {"resources": Resources(limits=ResourceAmounts(memory="lots"))},
        POD + "failed to get resources config: parse limits memory quantity: quantities must match the regular "
        "expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ),
    (
        "command and declaration disagree",
        {"main_container": {"args": ["python3 -m dynamo.vllm"]}, "backend_framework": "sglang"},
        POD + "failed to determine backend framework: backend framework mismatch: detected "
        '"vllm" from command but explicitly configured as "sglang"',
    ),
    (
        "a cache has no place",
        {"volume_mounts": (VolumeMount("c", compilation_cache=True),), "backend_framework": "sglang"},
        POD + "volumeMount with useAsCompilationCache=true requires an explicit mountPoint for backend framework "
        "sglang (no default available)",
    ),
    (
        "several nodes and nothing to spread over them",
        {"nodes": 2},
        "failed to reconcile the resources: no multinode orchestrator available",
    ),
]


@pytest.mark.parametrize(("title", "changes", "message"), REFUSALS, ids=[row[0] for row in REFUSALS])
def test_refused(title: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(Unrenderable) as refused:
        render_component(component(**changes), SITE, NOWHERE)
    assert (str(refused.value), refused.value.made) == (message, ())


def test_there_is_no_dynamo_namespace_and_the_deployment_is_made_all_the_same() -> None:
    with pytest.raises(Unrenderable) as refused:
        render_component(component(declared_namespace=""), SITE, NOWHERE)
    assert str(refused.value) == (
        "failed to create or update the service: "
        "expected DynamoComponentDeployment llm-decode to have a dynamoNamespace"
    )
    assert [child.manifest["kind"] for child in refused.value.made] == ["Deployment"]


def test_children_come_in_the_order_in_which_they_are_to_be_applied() -> None:
    exposure = Exposure(enabled=True, host="h", controller_class="nginx")
    assert list(rendered(component(model="m", exposure=exposure))) == [
        "Deployment/llm-decode",
        "Service/llm-decode",
        "Service/dynamo-model-62c66a7a",
        "Ingress/llm-decode",
    ]


NAMES = st.sampled_from(["a", "b", "main", "NATS_SERVER", "VLLM_CACHE_ROOT"])
ENTRIES = st.lists(st.fixed_dictionaries({"name": NAMES, "value": st.sampled_from(["", "x"])}), max_size=4)
MAPS = st.dictionaries(st.sampled_from(["nvidia.com/enable-debug-mode", "team"]), st.sampled_from(["true", "x"]))

COMPONENTS = st.builds(
    component,
    component_type=st.sampled_from(["frontend", "worker", "planner", "epp", "gadget", ""]),
    backend_framework=st.sampled_from(["", "vllm", "sglang", "trtllm"]),
    replicas=st.sampled_from([None, 0, 1]),
    annotations=MAPS,
    pod_labels=MAPS,
    envs=ENTRIES.map(tuple),
    env_from_secret=st.sampled_from(["", "token"]),
    model=st.sampled_from(["", "m"]),
    volume_mounts=st.lists(st.builds(VolumeMount, st.just("c"), st.just("/c"), st.booleans()), max_size=2).map(tuple),
    pod_spec=st.fixed_dictionaries(
        {}, optional={"containers": st.just([{"name": "side"}]), "volumes": st.just([{"name": "v"}])}
    ),
    main_container=st.fixed_dictionaries(
        {}, optional={"env": ENTRIES, "livenessProbe": st.just({"periodSeconds": 3}), "image": st.just("i.example/x:1")}
    ),
)
AROUND = Surroundings(pull_secrets={"i.example": ("s",)}, service_accounts=("a",))


def text(subject: Component) -> str:
    return json.dumps([child.manifest for child in render_component(subject, SITE, AROUND)])


@given(COMPONENTS)
def test_rendering_twice_gives_the_same_bytes_and_changes_nothing_given(subject: Component) -> None:
    before = copy.deepcopy(subject)
    assert text(subject) == text(subject)
    assert subject == before


@given(COMPONENTS)
def test_no_null_and_no_variable_twice_is_ever_rendered(subject: Component) -> None:
    assert "null" not in text(subject)
    pods = [
        child.manifest for child in render_component(subject, SITE, AROUND) if child.manifest["kind"] == "Deployment"
    ]
    names = [entry["name"] for entry in pods[0]["spec"]["template"]["spec"]["containers"][-1].get("env", [])]
    assert len(names) == len(set(names))
