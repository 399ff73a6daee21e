"""Settings come from four places, and what is wrong with them is said at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from dynamo_operator.domain.site import Offers
from dynamo_operator.settings import Logging, Settings, SettingsError, parse_settings, settings_warnings
from dynamo_operator.settings.duration import parse_duration
from dynamo_operator.settings.file import parse_file
from dynamo_operator.settings.reading import load_text
from dynamo_operator.settings.reference import flag_help, settings_markdown
from dynamo_operator.settings.values import TABLE

ROLE = "--planner-cluster-role-name=planner"
FILES = {
    "full.yaml": (
        "namespace: {restricted: team}\n"
        "debugger: {image: from-file}\n"
        "workers: 2\n"
        "infrastructure: {natsAddress: from-file}\n"
    ),
    "empty.yaml": "# nothing\n",
    "halves.yaml": "mpi:\nleaderElection: {id: null}\n",
    "wrong.yaml": (
        "infrastrukture: {}\n"
        "workers: two\n"
        "leaderElection: {enabled: 'yes', retryPeriod: 2}\n"
        "mpi: [a]\n"
        "orchestrators: {grove: {terminationDelay: '5'}}\n"
        "1: 2\n"
    ),
    "list.yaml": "- a\n",
    "broken.yaml": "a: [\n",
}


def settings(*words: str, **environ: str) -> Settings:
    return parse_settings(words, environ, load=FILES.__getitem__)


def refusal(*words: str, **environ: str) -> tuple[tuple[str, ...], int]:
    with pytest.raises(SettingsError) as caught:
        settings(*words, **environ)
    return caught.value.problems, caught.value.code


def test_a_flag_wins_over_the_environment_that_over_the_file_that_over_the_default() -> None:
    words = ("--config=full.yaml", "--natsAddr=from-flag")
    read = settings(*words, INTERNAL_IMAGES_DEBUGGER="from-environment")
    assert (read.nats_address, read.debugger_image, read.workers) == ("from-flag", "from-environment", 2)
    assert (read.restricted_namespace, read.discovery_backend) == ("team", "kubernetes")


def test_an_empty_variable_counts_as_absent() -> None:
    assert settings(ROLE, INTERNAL_IMAGES_DEBUGGER="").debugger_image == "python:3.12-slim"


@pytest.mark.parametrize("name", ["empty.yaml", "halves.yaml"])
def test_what_a_file_leaves_open_stays_at_its_default(name: str) -> None:
    assert settings(ROLE, f"--config={name}") == settings(ROLE)


def test_everything_wrong_in_a_file_is_said_with_its_key() -> None:
    problems, code = refusal(ROLE, "--config=wrong.yaml")
    assert code == 1
    assert problems == (
        "wrong.yaml: unknown key infrastrukture; did you mean infrastructure?",
        "wrong.yaml: workers: must be a whole number, not 'two'",
        "wrong.yaml: leaderElection.enabled: must be true or false, not 'yes'",
        "wrong.yaml: leaderElection.retryPeriod: must be text in quotes, not 2",
        "wrong.yaml: mpi: must be a map with keys such as mpi.sshSecretName",
        (
            'wrong.yaml: orchestrators.grove.terminationDelay: invalid duration "5": write a number with a unit, such '
            "as 300ms, 10s, 15m or 1h30m"
        ),
        "wrong.yaml: unknown key 1; see docs/reference/settings.md",
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        pytest.param("list.yaml", "list.yaml: must hold a map of settings", id="a list: refused"),
        pytest.param("broken.yaml", "broken.yaml: not valid YAML", id="no YAML: refused"),
    ],
)
def test_a_file_that_holds_no_settings_is_refused(name: str, said: str) -> None:
    assert refusal(ROLE, f"--config={name}")[0][0].startswith(said)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe")
    for path, said in ((tmp_path / "absent", "No such file or directory"), (binary, "is not text in UTF-8")):
        with pytest.raises(SettingsError, match=said):
            parse_settings([ROLE, f"--config={path}"], {}, load=load_text)


def test_a_command_line_that_cannot_be_read_ends_with_2() -> None:
    assert refusal("--nope") == (("unknown flag --nope; --help lists all flags",), 2)


def restricted(*words: str) -> list[str]:
    return ["--restrictedNamespace=team", *words]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param([], ["--planner-cluster-role-name is required"], id="cluster-wide without planner role: refused"),
        pytest.param(
            ["--discovery-backend=zookeeper", "--leader-elect", "--model-express-url=x:1"],
            [
                "--planner-cluster-role-name is required",
                '--discovery-backend: invalid value "zookeeper"',
                '--model-express-url: "x:1" is not an absolute',
                "--leader-election-id is required",
            ],
            id="several: all are said",
        ),
        pytest.param(
            ["--restrictedNamespace=No_Name"],
            ['--restrictedNamespace: "No_Name" is no name'],
            id="no namespace: refused",
        ),
        pytest.param([ROLE, "--workers=99999"], ["--workers must be at most 10000"], id="endless workers: refused"),
        pytest.param([ROLE, "--model-express-url=http://[::1"], ["--model-express-url"], id="broken URL: refused"),
        pytest.param(
            [ROLE, "--mpi-run-ssh-secret-name=a"], ["--mpi-run-ssh-secret-name and"], id="half an MPI secret: refused"
        ),
        pytest.param(
            restricted("--namespace-scope-lease-duration=500ms", "--namespace-scope-lease-renew-interval=0"),
            ["--namespace-scope-lease-duration must be at least 1s", "--namespace-scope-lease-renew-interval must be"],
            id="lease below a second: refused",
        ),
        pytest.param(
            restricted("--namespace-scope-lease-duration=10s"),
            ["--namespace-scope-lease-renew-interval (10s) must be less"],
            id="renewed no sooner than it ends: refused",
        ),
        pytest.param(
            [ROLE, "--leader-elect", "--leader-election-id=a", "--leader-elect-lease-duration=500ms"],
            ["--leader-elect-lease-duration must be at least 1s", "--leader-elect-retry-period (2s)"],
            id="election faster than its parts: refused",
        ),
        pytest.param(
            [ROLE, "--metrics-bind-address=:8081"],
            ["--health-probe-bind-address and --metrics-bind-address use the same port 8081"],
            id="two listeners on a port: refused",
        ),
        pytest.param(
            [ROLE, "--metrics-bind-address=8080"],
            ['--metrics-bind-address: invalid address "8080"'],
            id="address without colon: refused",
        ),
        pytest.param(
            [ROLE, "--metrics-bind-address=:99999"], ["--metrics-bind-address: invalid"], id="no such port: refused"
        ),
    ],
)
def test_contradictions_are_refused(words: list[str], said: list[str]) -> None:
    problems, code = refusal(*words)
    assert code == 1
    assert len(problems) == len(said)
    assert all(problem.startswith(start) for problem, start in zip(problems, said, strict=True))


@pytest.mark.parametrize(
    "words",
    [
        pytest.param([ROLE], id="cluster-wide with planner role: starts"),
        pytest.param(["--restrictedNamespace=team"], id="restricted: needs no role"),
        pytest.param([ROLE, "--metrics-bind-address=0", "--health-probe-bind-address=0"], id="listeners off: starts"),
        pytest.param([ROLE, "--metrics-bind-address=:0", "--health-probe-bind-address=:0"], id="any port: starts"),
        pytest.param([ROLE, "--leader-elect", "--leader-election-id=x"], id="election with a name: starts"),
    ],
)
def test_what_upstream_accepts_starts(words: list[str]) -> None:
    assert settings_warnings(settings(*words)) is not None


def test_warnings_name_what_is_accepted_and_not_meant() -> None:
    words = ["--virtual-service-supports-https", "--enable-http2", "--prometheus-endpoint=prometheus:9090"]
    words += ["--enable-webhooks", "--metrics-secure", "--zap-stacktrace-level=info", "--zap-time-encoding=epoch"]
    read = settings(ROLE, *words)
    assert [warning.split(" ")[0].rstrip(":") for warning in settings_warnings(read)] == [
        "--dgdr-profiling-cluster-role-name",
        "--epp-cluster-role-name",
        "--enable-webhooks",
        "--metrics-secure",
        "--zap-stacktrace-level",
        "--zap-time-encoding",
        "--virtual-service-supports-https",
        "--enable-http2",
        "--prometheus-endpoint",
    ]
    assert settings_warnings(settings("--restrictedNamespace=team")) == []


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        pytest.param([], Logging("json", "info"), id="nothing said: for machines"),
        pytest.param(["--zap-devel"], Logging("console", "debug"), id="development: for people"),
        pytest.param(
            ["--zap-devel", "--log-format=json", "--log-level=error"],
            Logging("json", "error"),
            id="development and more: what is said wins",
        ),
    ],
)
def test_logging(words: list[str], wanted: Logging) -> None:
    assert settings(ROLE, *words).logging == wanted


def test_the_site_carries_what_shapes_workloads() -> None:
    site = settings(ROLE, "--natsAddr=n", "--grove-termination-delay=4h").site(Offers(grove=True))
    assert (site.nats_address, site.grove_termination_delay, site.offers.grove) == ("n", "4h0m0s", True)
    assert settings(ROLE, "--grove-termination-delay=0").site(Offers()).grove_termination_delay == ""
    assert settings(ROLE).grove_termination_delay == parse_duration("15m")


def test_the_reference_page_is_what_the_table_makes() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"
    assert page.read_text("utf-8") == settings_markdown(), "run `make generate`"


def test_help_lists_every_flag() -> None:
    spelled = " ".join(spelling for spelling, _ in flag_help())
    assert all(f"--{name}" in spelled for row in TABLE for name in row.names)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(f"workers: {'9' * 5000}", "f: not valid YAML: a number has too many digits", id="long: refused"),
        pytest.param(f"operatorVersion: 0x{'f' * 5000}", "f: operatorVersion: must be text", id="base 16: refused"),
        pytest.param("workers: " + "[" * 5000, "f: not valid YAML", id="nested deep: refused"),
    ],
)
def test_a_hostile_file_is_refused(text: str, said: str) -> None:
    _, (problem,) = parse_file(text, "f")
    assert problem.startswith(said)
    assert len(problem) < 200
