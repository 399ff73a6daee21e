"""The main container: defaults, the user's say, the backend's additions."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_operator.render.backends.contract import Launch
from dynamo_operator.render.container import launched
from tests.support.components import component, rendered_main

LIVE = {"httpGet": {"path": "/live", "port": "system"}, "periodSeconds": 5, "timeoutSeconds": 4, "failureThreshold": 1}
EXEC = {"exec": {"command": ["true"]}}

PROBES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("nothing is said: the default", {}, LIVE),
    (
        "the container changes the timing: merged",
        {"main_container": {"livenessProbe": {"periodSeconds": 30}}},
        {**LIVE, "periodSeconds": 30},
    ),
    (
        "the container changes path and port number: the named port stays",
        {"main_container": {"livenessProbe": {"httpGet": {"path": "/alive", "port": 1234}}}},
        {**LIVE, "httpGet": {"path": "/alive", "port": "system"}},
    ),
    ("the container asks in another way: replaced", {"main_container": {"livenessProbe": EXEC}}, EXEC),
    ("the component has a probe: replaced", {"liveness_probe": {"httpGet": {"port": 1}}}, {"httpGet": {"port": 1}}),
    (
        "both have one: the component's",
        {"liveness_probe": EXEC, "main_container": {"livenessProbe": {"periodSeconds": 30}}},
        EXEC,
    ),
]


@pytest.mark.parametrize(("title", "changes", "wanted"), PROBES, ids=[row[0] for row in PROBES])
def test_liveness_probe(title: str, changes: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert rendered_main(component(**changes))["livenessProbe"] == wanted


def test_a_startup_probe_is_given_and_nothing_of_the_default_is_left() -> None:
    given = {"httpGet": {"path": "/started", "port": 1}}
    assert rendered_main(component(main_container={"startupProbe": given}))["startupProbe"] == given


def test_a_readiness_probe_is_given_and_it_replaces_the_default() -> None:
    assert rendered_main(component(readiness_probe=EXEC))["readinessProbe"] == EXEC


COMMANDS = [
    ("a worker says nothing: a shell without a script", "worker", {}, (["/bin/sh", "-c"], None)),
    ("a worker says all: its words", "worker", {"command": ["x"], "args": ["y"]}, (["x"], ["y"])),
    ("a frontend says nothing: the frontend", "frontend", {}, (["python3"], ["-m", "dynamo.frontend"])),
    (
        "a frontend gives a command: the default arguments stay",
        "frontend",
        {"command": ["x"]},
        (["x"], ["-m", "dynamo.frontend"]),
    ),
]


@pytest.mark.parametrize(("title", "role", "given", "wanted"), COMMANDS, ids=[row[0] for row in COMMANDS])
def test_command(title: str, role: str, given: dict[str, Any], wanted: tuple[object, object]) -> None:
    main = rendered_main(component(component_type=role, main_container=given))
    assert (main["command"], main.get("args")) == wanted


OTHER_FIELDS = [
    ("a name is given: the container is renamed", "name", "engine", "engine"),
    ("an empty name is given: main", "name", "", "main"),
    ("ports are given: they replace the default ones", "ports", [{"containerPort": 1}], [{"containerPort": 1}]),
    ("an empty security context is given: it stays", "securityContext", {}, {}),
    ("a field without default is given: taken", "workingDir", "/work", "/work"),
]


@pytest.mark.parametrize(("title", "field", "given", "wanted"), OTHER_FIELDS, ids=[row[0] for row in OTHER_FIELDS])
def test_other_fields(title: str, field: str, given: object, wanted: object) -> None:
    assert rendered_main(component(main_container={field: given}))[field] == wanted


def test_resources_are_given_but_empty_and_they_are_left_out() -> None:
    assert "resources" not in rendered_main(component(main_container={"resources": {}}))


def test_a_secret_for_the_environment_is_named_and_it_follows_the_users_sources() -> None:
    own = {"configMapRef": {"name": "settings"}}
    main = rendered_main(component(env_from_secret="token", main_container={"envFrom": [own]}))
    assert main["envFrom"] == [own, {"secretRef": {"name": "token"}}]


LAUNCHES: list[tuple[str, Launch, str, object]] = [
    ("the backend says nothing: the command stays", Launch(), "command", ["run"]),
    ("the backend gives a command: it replaces", Launch(command=("sh", "-c")), "command", ["sh", "-c"]),
    ("the backend gives arguments: they replace", Launch(args=("go",)), "args", ["go"]),
    ("the backend adds a mount: it stands last", Launch(mounts=({"name": "k"},)), "volumeMounts", [{"name": "k"}]),
    (
        "the backend adds a variable: it stands last",
        Launch(environment=({"name": "A"},)),
        "env",
        [{"name": "B"}, {"name": "A"}],
    ),
    ("the backend replaces a probe: its probe", Launch(probes=(("livenessProbe", EXEC),)), "livenessProbe", EXEC),
    ("the backend removes a probe: none", Launch(probes=(("livenessProbe", None),)), "livenessProbe", None),
]


@pytest.mark.parametrize(("title", "launch", "field", "wanted"), LAUNCHES, ids=[row[0] for row in LAUNCHES])
def test_launched(title: str, launch: Launch, field: str, wanted: object) -> None:
    container = {"command": ["run"], "env": [{"name": "B"}], "livenessProbe": LIVE}
    assert launched(container, launch).get(field) == wanted
    assert container == {"command": ["run"], "env": [{"name": "B"}], "livenessProbe": LIVE}
