"""The commands, as users call them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from dynamo_operator import __version__
from dynamo_operator.cli.tree import COMMANDS, tree
from dynamo_operator.settings import Settings

GRAPH = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: llm}
spec:
  services:
    Frontend: {componentType: frontend, replicas: 1}
"""
BROKEN = GRAPH + "    Worker:\n      replicas: two\n      ingress: {enabled: true}\n"
VAIN = GRAPH + "    Worker:\n      autoscaling: {}\n"
SERVICE = "---\napiVersion: v1\nkind: Service\nmetadata: {name: other}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"graph": GRAPH + SERVICE, "broken": BROKEN, "vain": VAIN, "torn": "a: ["}.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    (tmp_path / "binary.yaml").write_bytes(b"\xff")
    (tmp_path / "empty").mkdir()
    return tmp_path


def call(*words: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(tree, list(words), input=stdin, env={"KUBECONFIG": "", "INTERNAL_IMAGES_DEBUGGER": ""})


def test_help_names_every_command() -> None:
    said = call("--help").output
    assert all(command in said for command in COMMANDS)


def test_an_unknown_command_is_refused() -> None:
    assert call("deploy").exit_code == 2


def test_version_for_people_and_for_programs() -> None:
    assert call("version").stdout.startswith(f"dynamo-operator {__version__} (nvidia.com/v1alpha1")
    assert json.loads(call("version", "-o", "json").stdout)["version"] == __version__
    assert yaml.safe_load(call("version", "-o", "yaml").stdout)["api"] == "nvidia.com/v1alpha1"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    seen: list[Settings] = []
    composition = SimpleNamespace(run=lambda settings: seen.append(settings) or 3)
    monkeypatch.setitem(sys.modules, "dynamo_operator.bootstrap", composition)
    monkeypatch.setattr("dynamo_operator.bootstrap", composition, raising=False)
    return seen


def test_run_hands_its_settings_to_bootstrap_and_ends_with_its_code(started: list[Settings]) -> None:
    assert call("run", "-planner-cluster-role-name", "planner", "--leader-elect=f").exit_code == 3
    assert started[0].planner_cluster_role == "planner"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        pytest.param(["--nope"], 2, "run: unknown flag --nope", id="unknown flag: exit 2"),
        pytest.param([], 1, "run: --planner-cluster-role-name is required", id="missing setting: exit 1"),
        pytest.param(["--config=absent.yaml"], 1, "run: --config: cannot read absent.yaml", id="no such file: exit 1"),
    ],
)
def test_run_refuses_with_the_reason(words: list[str], code: int, said: str, started: list[Settings]) -> None:
    result = call("run", *words)
    assert (result.exit_code, started) == (code, [])
    assert said in result.stderr


def test_run_explains_its_flags() -> None:
    result = call("run", "-help")
    assert result.exit_code == 0
    assert "--grove-termination-delay DURATION" in result.stdout


@pytest.mark.usefixtures("folder")
def test_render_writes_yaml_in_the_order_of_application_and_says_whose_it_is() -> None:
    result = call("render", "graph.yaml", "-n", "demo", "--", "--natsAddr=nats://n:4222")
    manifests = [one for one in yaml.safe_load_all(result.stdout) if one]
    assert result.exit_code == 0
    assert [one["kind"] for one in manifests][-2:] == ["Deployment", "Service"]
    assert "# owned by DynamoComponentDeployment demo/llm-frontend\n" in result.stdout
    assert "nats://n:4222" in result.stdout
    assert "graph.yaml:8: Service/other: nothing to render, passed over" in result.stderr


@pytest.mark.usefixtures("folder")
def test_render_gives_the_same_bytes_from_a_file_and_from_standard_input() -> None:
    assert call("render", "graph.yaml").stdout == call("render", "-", stdin=GRAPH).stdout


def test_render_refuses_a_misspelt_kind() -> None:
    result = call("render", "-", stdin=GRAPH.replace("Deployment", "Deploymnet"))
    assert (result.exit_code, result.stdout) == (1, "")
    assert "did you mean DynamoGraphDeployment?" in result.stderr


@pytest.mark.usefixtures("folder")
def test_render_as_json_is_one_list() -> None:
    rendered: dict[str, Any] = json.loads(call("render", "graph.yaml", "-o", "json").stdout)
    assert rendered["kind"] == "List"
    assert rendered["items"][0]["kind"] == "ServiceAccount"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        pytest.param(
            ["graph.yaml", "graph.yaml"], 1, "graph.yaml:3: DynamoGraphDeployment/llm: Dyn", id="given twice: exit 1"
        ),
        pytest.param(["broken.yaml"], 1, "broken.yaml:8: DynamoGraphDeployment/llm: ", id="refused graph: exit 1"),
        pytest.param(["torn.yaml"], 2, "torn.yaml:2: not valid YAML", id="broken YAML: exit 2"),
        pytest.param(["absent.yaml"], 2, "absent.yaml: no such file or directory", id="no such file: exit 2"),
        pytest.param(["binary.yaml"], 2, "binary.yaml: not text in UTF-8", id="no text: exit 2"),
        pytest.param(["empty"], 2, "empty: no file that ends in", id="folder without manifests: exit 2"),
        pytest.param(["graph.yaml", "--cluster=moon"], 2, "unknown moon, use istio", id="unknown add-on: exit 2"),
        pytest.param(["graph.yaml", "--cluster=kai"], 2, "kai changes nothing without grove", id="kai alone: exit 2"),
        pytest.param(["graph.yaml", "--cluster=lws"], 2, "lws,volcano; grove; grove,kai;", id="half a pair: exit 2"),
        pytest.param(["graph.yaml", "--cluster=,"], 2, "nothing said, use plain", id="an empty list: exit 2"),
        pytest.param(["graph.yaml", "--cluster=plain,lws"], 2, "plain offers none", id="plain and more: exit 2"),
        pytest.param(["graph.yaml", "--", "--nope"], 2, "unknown flag --nope", id="unknown setting: exit 2"),
        pytest.param(["graph.yaml", "--config=absent"], 2, "cannot read absent", id="no settings file: exit 2"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_render_refuses_with_the_reason(words: list[str], code: int, said: str) -> None:
    result = call("render", *words)
    assert result.exit_code == code
    assert said in result.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        pytest.param(["graph.yaml"], 0, "", id="all well: silence"),
        pytest.param(
            ["broken.yaml"],
            1,
            "broken.yaml:9: DynamoGraphDeployment/llm: spec.services[Worker].ingress.host is required",
            id="broken: each place",
        ),
        pytest.param(["vain.yaml"], 0, "warning: spec.services[Worker].autoscaling", id="in vain: a warning"),
        pytest.param(["vain.yaml", "--strict"], 1, "autoscaling", id="in vain and strict: exit 1"),
        pytest.param(["torn.yaml"], 2, "torn.yaml:2: not valid YAML", id="broken YAML: exit 2"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_validate_in_a_pipe(words: list[str], code: int, said: str) -> None:
    result = call("validate", *words)
    assert result.exit_code == code
    assert said in result.stdout


@pytest.mark.usefixtures("folder")
def test_validate_takes_folders_and_sums_up() -> None:
    Path("binary.yaml").unlink()
    result = call("validate", ".")
    assert "graph.yaml:8: Service: passed over" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("3 objects checked")


@pytest.mark.usefixtures("folder")
def test_validate_refuses_files_that_cannot_be_read() -> None:
    result = call("validate", "absent.yaml")
    assert (result.exit_code, result.stdout) == (2, "")


@pytest.mark.usefixtures("folder")
def test_validate_for_programs() -> None:
    records = json.loads(call("validate", "broken.yaml", "-o", "json").stdout)
    host = next(one for one in records if one["path"] == "spec.services[Worker].ingress.host")
    assert (host["file"], host["line"], host["severity"]) == ("broken.yaml", 9, "error")


@pytest.mark.usefixtures("folder")
def test_a_terminal_gets_a_table_and_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": "200"}.items():
        monkeypatch.setenv(name, value)
    assert "where" in call("validate", "vain.yaml").stdout
    assert "where" not in call("validate", "graph.yaml").stdout
    assert "\x1b[" in call("render", "graph.yaml").stdout


@pytest.mark.usefixtures("folder")
def test_a_narrow_terminal_gets_whole_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": "60"}.items():
        monkeypatch.setenv(name, value)
    assert "\u2026" not in call("validate", "broken.yaml").stdout


def test_generate_writes_definitions(tmp_path: Path) -> None:
    assert call("generate", "crds").stdout.count("\nkind: CustomResourceDefinition") == 6
    assert call("generate", "crds", "--to", str(tmp_path)).exit_code == 0
    assert len(list(tmp_path.glob("*.yaml"))) == 6


def test_generate_writes_and_compares_pages(tmp_path: Path) -> None:
    assert "# Settings" in call("generate", "docs").stdout
    assert call("generate", "docs", "--to", str(tmp_path)).exit_code == 0
    assert call("generate", "docs", "--to", str(tmp_path), "--check").exit_code == 0
    (tmp_path / "settings.md").write_text("old")
    stale = call("generate", "docs", "--to", str(tmp_path), "--check")
    assert (stale.exit_code, "settings.md is not what its source makes" in stale.stderr) == (1, True)
    assert call("generate", "docs", "--check").exit_code == 2


def test_the_package_starts_as_a_module() -> None:
    called = subprocess.run([sys.executable, "-m", "dynamo_operator", "version"], capture_output=True, check=True)
    assert called.stdout.startswith(b"dynamo-operator ")


@pytest.mark.parametrize("command", ["validate", "render"])
@pytest.mark.parametrize(
    ("words", "stdin", "said"),
    [
        pytest.param([""], b"", "an empty file name", id="an empty name: refused"),
        pytest.param(["a" * 300], b"", "file name too long", id="a name too long: refused"),
        pytest.param(["-"], b"a: \xff", "stdin: not text in UTF-8", id="no text on standard input: refused"),
        pytest.param(["-"], b"", "stdin: no object in there", id="empty standard input: refused"),
        pytest.param(["-"], b"# later\n---\n", "stdin: no object in there", id="only comments: refused"),
        pytest.param(["-", "/dev/null"], b"", "stdin and 1 more: no object", id="several empty files: refused"),
        pytest.param(["-", "-n", "No Space"], b"", "'No Space' is no namespace", id="no namespace: refused"),
    ],
)
def test_what_cannot_be_used_is_said(command: str, words: list[str], stdin: bytes, said: str) -> None:
    result = CliRunner().invoke(tree, [command, *words], input=stdin)
    assert (result.exit_code, said in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("service", "said"),
    [
        pytest.param("extraPodSpec: {containers: 5}", "containers: must be a list", id="no pod: refused"),
        pytest.param("envs: [{zz: 1}]", "envs[0].name: is required", id="a variable without a name: refused"),
    ],
)
def test_render_refuses_what_an_api_server_would(service: str, said: str) -> None:
    result = call("render", "-", stdin=f"{GRAPH}    Worker: {{{service}}}\n")
    assert (result.exit_code, result.stdout, said in result.stderr) == (1, "", True)


@pytest.mark.usefixtures("folder")
def test_a_folder_that_cannot_be_listed_is_not_taken_for_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = os.scandir

    def refused(path: str) -> Any:
        if str(path).endswith("secret"):
            raise PermissionError(13, "Permission denied", path)  # not even root's rights matter here
        return listed(path)

    monkeypatch.setattr(os, "scandir", refused)
    Path("some/secret").mkdir(parents=True)
    Path("some/graph.yaml").write_text(GRAPH)
    result = call("validate", "some")
    assert (result.exit_code, result.stderr) == (2, "some/secret: permission denied\n")


def test_what_is_rendered_is_valid_without_a_warning() -> None:
    rendered = call("render", "-", stdin=f"{GRAPH}    Worker: {{componentType: worker}}\n").stdout
    result = call("validate", "-", "--strict", stdin=rendered)
    assert (result.exit_code, result.stdout) == (0, "")


def test_render_refuses_names_that_no_api_server_takes() -> None:
    result = call("render", "-", stdin=f"{GRAPH}    A_B: {{}}\n")
    assert (result.exit_code, result.stdout, "would be called 'llm-a_b'" in result.stderr) == (1, "", True)


SPREAD = "multinode: {nodeCount: 2}, resources: {limits: {gpu: '8'}}"
NODES = "stdin:7: DynamoGraphDeployment/llm: spec.services[Worker].multinode: failed to reconcile Dynamo components"
ELSEWHERE = "stdin:1: DynamoGraphDeployment/llm: --cluster lws,volcano or --cluster grove shows what it becomes there\n"


@pytest.mark.parametrize(
    ("text", "cluster", "said"),
    [
        pytest.param(
            f"{GRAPH}    Worker: {{resources: {{limits: {{cpu: four}}}}}}\n",
            "grove",
            ["stdin:7: DynamoGraphDeployment/llm: spec.services[Worker].resources.limits.cpu: must be a quantity"],
            id="an amount that is none: the field is named",
        ),
        pytest.param(
            f"{GRAPH}    Worker: {{ingress: {{enabled: true}}}}\n",
            "plain",
            ["stdin:7: DynamoGraphDeployment/llm: spec.services[Worker].ingress.host is required"],
            id="what a rule refuses: the field is named",
        ),
        pytest.param(
            f"{GRAPH}    Worker: {{{SPREAD}}}\n",
            "plain",
            [NODES, ELSEWHERE],
            id="several nodes on a plain cluster: the way out is said",
        ),
        pytest.param(
            f"{GRAPH}    Worker: {{{SPREAD}}}\n    B: {{resources: {{limits: {{cpu: four}}}}}}\n",
            "plain",
            [NODES, ELSEWHERE, "stdin:8: DynamoGraphDeployment/llm: spec.services[B].resources.limits.cpu: "],
            id="several nodes and another mistake: the way out is said all the same",
        ),
        pytest.param(
            GRAPH.replace("{name: llm}", "{name: llm, annotations: {nvidia.com/enable-grove: 'false'}}")
            + f"    Worker: {{{SPREAD}}}\n",
            "plain",
            [NODES, "llm: --cluster lws,volcano shows what"],
            id="several nodes without Grove: only the other way is said",
        ),
    ],
)
def test_render_says_where_and_what_else_there_is(text: str, cluster: str, said: list[str]) -> None:
    result = call("render", "-", "--cluster", cluster, stdin=text)
    assert (result.exit_code, result.stdout) == (1, "")
    assert [one for one in said if one not in result.stderr] == []
    assert len(result.stderr.splitlines()) == len(said)


def test_render_shows_an_object_once() -> None:
    result = call("render", "-", stdin=f"{GRAPH}---\n{GRAPH}")
    assert result.exit_code == 1
    assert result.stdout == call("render", "-", stdin=GRAPH).stdout
    assert result.stderr.endswith("DynamoGraphDeployment default/llm is given twice, first in stdin:3; remove one\n")


def test_render_needs_a_name() -> None:
    result = call("render", "-", stdin=GRAPH.replace("name: llm", "generateName: llm-"))
    assert (result.exit_code, "give a name" in result.stderr) == (1, True)


def test_names_cannot_forge_messages() -> None:
    result = call("validate", "-", stdin=GRAPH.replace("llm", r'"a\nb\e[31m"'))
    assert result.stdout.startswith(r"stdin:3: DynamoGraphDeployment/a\nb\x1b[31m: metadata.name: ")


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["version"], id="a full disk: exit 1 without a traceback"),
        pytest.param(["generate", "crds", "--to", "/proc/none"], id="no such folder: exit 1 without a traceback"),
    ],
)
def test_what_cannot_be_written_is_said(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "dynamo_operator", *words]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)  # noqa: S603 - ours
    assert result.returncode == 1
    assert result.stderr.startswith("dynamo-operator: ")
    assert "Traceback" not in result.stderr
