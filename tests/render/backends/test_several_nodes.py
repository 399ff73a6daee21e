"""What backends add when a replica stands on several nodes."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_operator.domain.component import Component, ResourceAmounts, Resources, VolumeMount
from dynamo_operator.render.backends.contract import UNPROBED, Launch, Peers, Placement, Role, Start
from dynamo_operator.render.backends.registry import FRAMEWORKS, NOOP, backend_named
from dynamo_operator.render.backends.sizes import gpus_asked, size_in
from tests.support.components import component

PEERS = Peers("$LEADER", "$(LEADER)", ("w1", "w2"), rank="$(INDEX)", rank_term="INDEX")
LEADER, WORKER = Role.LEADER, Role.WORKER


def with_gpus(limit: str, request: str = "") -> Component:
    amounts = Resources(limits=ResourceAmounts(gpu=limit), requests=ResourceAmounts(gpu=request))
    return component(resources=amounts)


def launch(backend: str, role: Role, command: str, *args: str, gpus: str = "8", **start: Any) -> Launch:
    place = Placement(role, 3, PEERS)
    return backend_named(backend).launch(
        Start(with_gpus(gpus), place, command=tuple(command.split()), args=args, **start)
    )


def sh(script: str, shell: str = "sh") -> Launch:
    return Launch(command=(shell, "-c"), args=(script,))


RENDEZVOUS = "--dist-init-addr $LEADER:29500 --nnodes 3 --node-rank"
SGLANG: list[tuple[str, Role, str, tuple[str, ...], Launch]] = [
    (
        "Python leader: arguments, of which the kubelet replaces the host",
        LEADER,
        "python3 -m dynamo.sglang",
        ("--tp", "24"),
        Launch(
            args=("--tp", "24", "--dist-init-addr", "$(LEADER):29500", "--nnodes", "3", "--node-rank", "0"),
        ),
    ),
    (
        "Python worker: a shell",
        WORKER,
        "python3 -m dynamo.sglang",
        ("--tp", "24"),
        sh(f"exec python3 -m dynamo.sglang --tp 24 {RENDEZVOUS} $(INDEX)"),
    ),
    (
        "shell leader: in the script",
        LEADER,
        "sh -c",
        ("python3 -m dynamo.sglang --tp 24",),
        Launch(args=(f"python3 -m dynamo.sglang {RENDEZVOUS} 0 --tp 24",)),
    ),
    (
        "shell worker: in the script",
        WORKER,
        "sh -c",
        ("python3 -m dynamo.sglang --tp 24",),
        Launch(args=(f"python3 -m dynamo.sglang {RENDEZVOUS} $(INDEX) --tp 24",)),
    ),
]


@pytest.mark.parametrize(("title", "role", "command", "args", "wanted"), SGLANG, ids=[row[0] for row in SGLANG])
def test_sglang(title: str, role: Role, command: str, args: tuple[str, ...], wanted: Launch) -> None:
    made = launch("sglang", role, command, *args)
    assert (made.command, made.args) == (wanted.command, wanted.args)
    assert made.probes == (UNPROBED if role is WORKER else ())


PYTHON = "python3 -m dynamo.vllm"
JOIN = sh("ray start --address=$LEADER:6379 --block", "/bin/sh")
AS_IT_IS = Launch()


def head(line: str) -> Launch:
    return sh(f"ray start --head --port=6379 && {line}", "/bin/sh")


def engines(local: int, first: str, leader: str = "$LEADER") -> str:
    return (
        f"--data-parallel-hybrid-lb --data-parallel-size-local {local} --data-parallel-start-rank {first} "
        f"--data-parallel-address {leader} --data-parallel-rpc-port 13445"
    )


VLLM: list[tuple[str, Role, str, tuple[str, ...], Launch]] = [
    (
        "an engine larger than a node: Ray leader",
        LEADER,
        PYTHON,
        ("--tensor-parallel-size", "16"),
        head(f"{PYTHON} --tensor-parallel-size 16 --distributed-executor-backend ray"),
    ),
    ("an engine larger than a node: Ray worker", WORKER, PYTHON, ("--tensor-parallel-size", "16"), JOIN),
    (
        "pipeline and tensor parallel together larger than a node: Ray",
        LEADER,
        PYTHON,
        ("--tensor-parallel-size 8 --pipeline-parallel-size 2",),
        head(f"{PYTHON} --tensor-parallel-size 8 --pipeline-parallel-size 2 --distributed-executor-backend ray"),
    ),
    (
        "Ray leader with a script: the script runs, with the flag inside",
        LEADER,
        "/bin/sh -c",
        (f"{PYTHON} --tensor-parallel-size 16",),
        head(f"/bin/sh -c '{PYTHON} --distributed-executor-backend ray --tensor-parallel-size 16'"),
    ),
    ("size in short spelling: Ray", WORKER, PYTHON, ("-tp", "16"), JOIN),
    ("size with an equals sign: Ray", WORKER, PYTHON, ("--tensor-parallel-size=16",), JOIN),
    ("size in the command: Ray", WORKER, f"{PYTHON} -tp 16", ("--x",), JOIN),
    (
        "engines larger than a node together: leader has rank 0",
        LEADER,
        PYTHON,
        ("--data-parallel-size", "16"),
        Launch(args=("--data-parallel-size", "16", *engines(8, "0", "$(LEADER)").split())),
    ),
    (
        "engines larger than a node together: workers count theirs",
        WORKER,
        PYTHON,
        ("--data-parallel-size", "16"),
        sh(f"exec {PYTHON} --data-parallel-size 16 {engines(8, '$(( 8 * INDEX ))')}"),
    ),
    (
        "engines of two GPUs: half as many on a node",
        WORKER,
        "sh -c",
        (f"{PYTHON} --tensor-parallel-size 2 --data-parallel-size 8",),
        Launch(
            args=(f"{PYTHON} {engines(4, '$(( 4 * INDEX ))')} --tensor-parallel-size 2 --data-parallel-size 8",),
        ),
    ),
    ("all fits one node: as it is", LEADER, PYTHON, ("--tensor-parallel-size", "4"), AS_IT_IS),
    ("all fits one node: workers as well", WORKER, PYTHON, ("--tensor-parallel-size", "4"), AS_IT_IS),
]


@pytest.mark.parametrize(("title", "role", "command", "args", "wanted"), VLLM, ids=[row[0] for row in VLLM])
def test_vllm(title: str, role: Role, command: str, args: tuple[str, ...], wanted: Launch) -> None:
    made = launch("vllm", role, command, *args)
    assert (made.command, made.args) == (wanted.command, wanted.args)
    assert made.probes == (UNPROBED if role is WORKER else ())


@pytest.mark.parametrize("gpus", ["", "0", "many"])
def test_vllm_is_given_no_number_of_gpus_and_starts_alike_everywhere(gpus: str) -> None:
    made = launch("vllm", WORKER, PYTHON, "--tensor-parallel-size", "16", gpus=gpus)
    assert made == Launch(probes=UNPROBED)


def test_vllm_on_several_nodes_has_its_cache_too() -> None:
    start = Start(component(volume_mounts=(VolumeMount("c", "/cache", compilation_cache=True),)), Placement(nodes=2))
    assert [entry["name"] for entry in backend_named("vllm").launch(start).environment] == ["VLLM_CACHE_ROOT"]


SIZES: list[tuple[str, str, int]] = [
    ("not given: 1", "--x 1", 1),
    ("given: that", "--size 4", 4),
    ("given twice: the first", "--size 4 --size 2", 4),
    ("no number: the next", "--size $N --size 2", 2),
    ("thousands of digits: no number", f"--size {'1' * 5000} --size 2", 2),
    ("at the very end: 1", "--x --size", 1),
    ("short and long: the long", "-s 2 --size 4", 4),
    ("with equals sign and without: without", "--size=2 --size 4", 4),
]


@pytest.mark.parametrize(("title", "words", "wanted"), SIZES, ids=[row[0] for row in SIZES])
def test_size(title: str, words: str, wanted: int) -> None:
    assert size_in(words.split(), "--size", "-s") == wanted


GPUS: list[tuple[str, str, str, int]] = [
    ("nothing said: none", "", "", 0),
    ("a request: that", "2", "", 2),
    ("a limit: that", "", "4", 4),
    ("both: the request", "3", "8", 3),
    ("a request that is no number: the limit", "few", "8", 8),
    ("no number at all: none", "few", "", 0),
]


@pytest.mark.parametrize(("title", "request_", "limit", "wanted"), GPUS, ids=[row[0] for row in GPUS])
def test_gpus_of_a_node(title: str, request_: str, limit: str, wanted: int) -> None:
    assert gpus_asked(with_gpus(limit, request_)) == wanted


def test_no_resources_are_no_gpus() -> None:
    assert gpus_asked(component()) == 0


def mpi(role: Role, command: str, *args: str) -> Launch:
    return launch("trtllm", role, command, *args, variables=("MINE", "PATH"), ssh_secret="pair")


def test_trtllm_starts_the_command_on_all_nodes_by_mpi() -> None:
    (script,) = mpi(LEADER, "python3 -m dynamo.trtllm", "--x", "{}").args or ()
    assert " mpirun --allow-run-as-root --oversubscribe -n 24 -H $LEADER,w1,w2 --mca pml ob1 " in script
    assert script.endswith(" -x USER bash -c 'trtllm-llmapi-launch python3 -m dynamo.trtllm --x {}'")
    exported = [word for before, word in zip(script.split(), script.split()[1:], strict=False) if before == "-x"]
    assert exported == sorted(exported)
    assert {"MINE", "OMPI_MCA_orte_keep_fqdn_hostnames"} < set(exported)


LINES: list[tuple[str, str, tuple[str, ...], str]] = [
    ("a script: the script alone", "sh -c", ("run --x",), "'trtllm-llmapi-launch run --x'"),
    ("a command alone: the command", "run --x", (), "'trtllm-llmapi-launch run --x'"),
    (
        "quotes that matter: kept",
        "sh -c",
        ("run --x '{\"a\": 1}'",),
        r"""'trtllm-llmapi-launch run --x '\''{"a": 1}'\'''""",
    ),
]


@pytest.mark.parametrize(("title", "command", "args", "wanted"), LINES, ids=[row[0] for row in LINES])
def test_trtllm_line(title: str, command: str, args: tuple[str, ...], wanted: str) -> None:
    (script,) = mpi(LEADER, command, *args).args or ()
    assert script.endswith(f" bash -c {wanted}")


def test_trtllm_workers_serve_ssh_and_are_ready_when_it_answers() -> None:
    made = mpi(WORKER, "python3 -m dynamo.trtllm", "--x")
    assert made.command == ("/bin/sh", "-c")
    assert made.args is not None
    assert made.args[0].endswith(" && /usr/sbin/sshd -D -f ~/.ssh/sshd_config")
    probes = dict(made.probes)
    assert (probes["livenessProbe"], probes["startupProbe"]) == (None, None)
    readiness = probes["readinessProbe"]
    assert readiness is not None
    assert readiness["tcpSocket"] == {"port": 2222}


@pytest.mark.parametrize("role", [LEADER, WORKER])
def test_trtllm_mounts_the_key_pair_on_every_node(role: Role) -> None:
    made = mpi(role, "python3 -m dynamo.trtllm", "--x")
    assert made.mounts == ({"name": "pair", "mountPath": "/ssh-pk", "readOnly": True},)
    assert made.volumes == ({"name": "pair", "secret": {"secretName": "pair", "defaultMode": 420}},)


def test_only_trtllm_needs_a_key_pair() -> None:
    assert [backend.name for backend in (*FRAMEWORKS, NOOP) if backend.needs_ssh] == ["trtllm"]
