"""What a registry knows, all that lists the same set knows too."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import get_args

import pytest

from dynamo_operator.api.v1alpha1.component_deployment import ComponentKind
from dynamo_operator.render.backends.registry import FRAMEWORKS, NOOP
from dynamo_operator.render.components.registry import COMPONENT_TYPES, component_type_named
from dynamo_operator.render.pathways.registry import RENDERERS
from dynamo_operator.render.workloads.registry import WORKLOADS
from dynamo_operator.status.component_deployment import _PROGRESS

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
CONTRACTS = {each["name"]: each for each in PROJECT["tool"]["importlinter"]["contracts"]}
MEMBERS: dict[str, list[object]] = {
    "backends": [*FRAMEWORKS, NOOP],
    "component types": [*COMPONENT_TYPES.values(), component_type_named("unknown")],
    "pathways": [*RENDERERS.values()],
    "workloads": [*WORKLOADS],
}


@pytest.mark.parametrize("what", MEMBERS)
def test_the_contract_keeps_all_of_them_apart(what: str) -> None:
    modules = CONTRACTS[f"{what} are unaware of each other"]["modules"]
    assert set(modules) == {type(each).__module__ for each in MEMBERS[what]}


def test_of_every_workload_a_status_can_tell_how_far_it_is() -> None:
    kinds = {workload.kind for workload in WORKLOADS}
    assert kinds == set(_PROGRESS)
    assert kinds <= set(get_args(ComponentKind))
