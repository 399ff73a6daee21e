"""Command lines mean what they mean to a Go program."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_operator.settings.duration import parse_duration
from dynamo_operator.settings.flags import parse_flags
from dynamo_operator.settings.values import TABLE, Settings

# The argument list that the chart of release 0.9 makes for a cluster-wide installation.
CHART = [
    "--health-probe-bind-address=:8081",
    "--metrics-bind-address=127.0.0.1:8080",
    "--leader-elect",
    "--leader-election-id=dynamo.nvidia.com",
    "--leader-election-namespace=kube-system",
    "--natsAddr=nats://dynamo-platform-nats.dynamo-system.svc.cluster.local:4222",
    "--etcdAddr=dynamo-platform-etcd.dynamo-system.svc.cluster.local:2379",
    "--istio-virtual-service-gateway=istio-system/public",
    "--virtual-service-supports-https=true",
    "--ingress-controller-class-name=nginx",
    "--ingress-controller-tls-secret-name=my-tls-secret",
    "--ingress-host-suffix=apps.example.com",
    "--grove-termination-delay=4h",
    "--model-express-url=http://model-express:8001",
    "--prometheus-endpoint=http://prometheus:9090",
    "--mpi-run-ssh-secret-name=mpi-run-ssh-secret",
    "--mpi-run-ssh-secret-namespace=dynamo-system",
    "--planner-cluster-role-name=planner",
    "--dgdr-profiling-cluster-role-name=profiling",
    "--epp-cluster-role-name=epp",
    "--operator-version=0.9.0",
    "--discovery-backend=kubernetes",
    "--enable-webhooks=true",
    "--restrictedNamespace=",
    "--namespace-scope-lease-duration=30s",
    "--namespace-scope-lease-renew-interval=10s",
    "--metrics-secure=false",
    "--enable-http2=false",
    "--zap-devel=true",
    "--zap-encoder=json",
    "--zap-log-level=2",
    "--zap-stacktrace-level=error",
    "--zap-time-encoding=rfc3339nano",
    "--kubeconfig=/root/.kube/config",
]


@pytest.mark.parametrize(
    ("words", "values"),
    [
        pytest.param(["--workers=3"], {"workers": 3}, id="two dashes and an equals sign: read"),
        pytest.param(["-workers=3"], {"workers": 3}, id="one dash: the same"),
        pytest.param(["--workers", "3"], {"workers": 3}, id="value in the next word: the same"),
        pytest.param(
            ["--natsAddr", "--x"], {"nats_address": "--x"}, id="next word starts with a dash: still the value"
        ),
        pytest.param(["--leader-elect"], {"leader_elect": True}, id="boolean alone: true"),
        pytest.param(["--leader-elect=F"], {"leader_elect": False}, id="boolean with Go's short word: read"),
        pytest.param(["--workers=3", "--workers=4"], {"workers": 4}, id="given twice: the last wins"),
        pytest.param(["--nats-addr=a"], {"nats_address": "a"}, id="kebab case: an alias"),
        pytest.param(
            ["--restricted-namespace=a"], {"restricted_namespace": "a"}, id="kebab case of the mode: an alias"
        ),
        pytest.param(["--etcd-addr=a"], {"etcd_address": "a"}, id="kebab case of etcd: an alias"),
        pytest.param(["--natsAddr="], {"nats_address": ""}, id="empty value: kept, it overrides the file"),
        pytest.param(
            ["--grove-termination-delay=1h"], {"grove_termination_delay": parse_duration("1h")}, id="duration: read"
        ),
        pytest.param(["--zap-log-level=3"], {"log_level": "debug"}, id="verbosity number: debug"),
        pytest.param(["--"], {}, id="two dashes at the end: nothing follows"),
    ],
)
def test_what_is_read(words: list[str], values: dict[str, Any]) -> None:
    flags = parse_flags(words)
    assert (flags.values, flags.problems) == (values, [])


@pytest.mark.parametrize(
    ("words", "problems"),
    [
        pytest.param(
            ["--discovery-bakend=etcd"],
            ["unknown flag --discovery-bakend; did you mean --discovery-backend?"],
            id="misspelt: the nearest name is offered",
        ),
        pytest.param(["--qqq"], ["unknown flag --qqq; --help lists all flags"], id="nothing is near: --help is named"),
        pytest.param(
            ["--qqq", "value", "--workers=0"],
            [
                "unknown flag --qqq; --help lists all flags",
                '--workers: invalid number "0": use a whole number above 0',
            ],
            id="unknown with a value and a bad number: both are said",
        ),
        pytest.param(
            ["--leader-elect", "false"],
            [
                'unexpected word "false": a boolean flag takes its value after an equals sign, as in --name=false',
            ],
            id="boolean with a detached value: the equals sign is explained",
        ),
        pytest.param(
            ["start"], ['unexpected word "start": settings are given as --name=value'], id="stray word: refused"
        ),
        pytest.param(["--", "x"], ['unexpected word "x": settings are given as --name=value'], id="after --: refused"),
        pytest.param(["--natsAddr"], ["flag needs a value: --natsAddr"], id="value missing: said"),
        pytest.param(["---x"], ["bad flag syntax: ---x"], id="three dashes: refused"),
        pytest.param(["--=x"], ["bad flag syntax: --=x"], id="no name: refused"),
        pytest.param(
            ["--leader-elect=yes"],
            ['--leader-elect: invalid boolean value "yes": use true or false'],
            id="other word for true: refused",
        ),
        pytest.param(
            ["--zap-encoder=text"],
            ['--zap-encoder: invalid value "text": use one of json, console'],
            id="unknown encoder: the words are listed",
        ),
        pytest.param(
            ["--zap-log-level=loud"],
            [
                (
                    '--zap-log-level: invalid log level "loud": '
                    "use one of debug, info, error, panic or a whole number above 0"
                )
            ],
            id="unknown level: the words are listed",
        ),
    ],
)
def test_what_is_refused(words: list[str], problems: list[str]) -> None:
    assert parse_flags(words).problems == problems


def test_the_charts_arguments_are_all_known() -> None:
    assert parse_flags(CHART).problems == []


@pytest.mark.parametrize("word", ["-h", "--help", "-help"])
def test_help_is_noticed(word: str) -> None:
    assert parse_flags([word]).help


def test_the_config_file_is_taken_in_both_forms() -> None:
    assert [parse_flags(words).config for words in (["--config=a"], ["--config", "b"])] == ["a", "b"]


def test_no_name_stands_for_two_settings() -> None:
    for names in ([name for row in TABLE for name in row.names], [row.path for row in TABLE]):
        assert len(names) == len(set(names))


def test_every_setting_is_in_the_table() -> None:
    assert {row.attribute for row in TABLE} == set(Settings.__dataclass_fields__)
