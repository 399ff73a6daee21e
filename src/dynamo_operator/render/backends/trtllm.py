"""Starts TensorRT-LLM (specification: workloads.md 8.5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from dynamo_operator.domain import variables
from dynamo_operator.domain.labels import SSH_PORT
from dynamo_operator.domain.manifest import Tree
from dynamo_operator.domain.outcome import Doubt
from dynamo_operator.render.backends.command import in_single_quotes, runs_python, shell_line
from dynamo_operator.render.backends.contract import GPU_FIELD, MAIN_FIELD, NODES_FIELD, Launch, Role, Start
from dynamo_operator.render.backends.mpi import KEY_FOLDER, leader_script, worker_script
from dynamo_operator.render.backends.sizes import gpus_asked, size_in, words_asked_for

_SHELL: Final = ("/bin/sh", "-c")
_SERVES_SSH: Final[Tree] = {
    "tcpSocket": {"port": SSH_PORT},
    "initialDelaySeconds": 20,
    "periodSeconds": 20,
    "timeoutSeconds": 5,
    "failureThreshold": 10,
}
_WORKER_PROBES: Final[tuple[tuple[str, Tree | None], ...]] = (
    ("livenessProbe", None),
    ("startupProbe", None),
    ("readinessProbe", _SERVES_SSH),
)


@dataclass(frozen=True, slots=True)
class TensorRTLLM:
    """TensorRT-LLM: on one node it needs nothing; on several, MPI starts it over SSH."""

    name: str = "trtllm"
    cache_path: str = ""
    needs_ssh: bool = True

    def launch(self, start: Start, /) -> Launch:
        """The leader starts the command on all nodes; the workers only let it in."""
        if start.placement.nodes == 1:
            return Launch()
        worker = start.placement.role is Role.WORKER
        secret = start.ssh_secret
        return Launch(
            command=_SHELL,
            args=(worker_script() if worker else _leader(start),),
            environment=({"name": variables.OMPI_KEEP_HOST_NAMES, "value": "1"},),
            mounts=({"name": secret, "mountPath": KEY_FOLDER, "readOnly": True},),
            volumes=({"name": secret, "secret": {"secretName": secret, "defaultMode": 0o644}},),
            probes=_WORKER_PROBES if worker else (),
        )

    def doubts(self, start: Start, /) -> Iterator[Doubt]:
        """A missing key pair, and sizes that are not those of the nodes; an engine's own file is not ours to read."""
        if not start.ssh_secret:
            text = "its nodes reach each other by SSH, and the operator has no key pair for them; start it with"
            yield Doubt(NODES_FIELD, f"{text} --mpi-run-ssh-secret-name and --mpi-run-ssh-secret-namespace", stops=True)
        nodes, gpus = start.placement.nodes, gpus_asked(start.component)
        words = words_asked_for(start.command, start.args)
        ranks = size_in(words, "--tensor-parallel-size") * size_in(words, "--pipeline-parallel-size")
        if not gpus:
            yield Doubt(GPU_FIELD, "is no whole number, so that MPI starts nothing; give the GPUs of one node")
        elif ranks not in (1, nodes * gpus):
            text = f"tensor times pipeline parallel size is {ranks}, {nodes} nodes of {gpus} GPUs have {nodes * gpus}"
            yield Doubt(MAIN_FIELD, f"{text}; change the sizes, {GPU_FIELD} or multinode.nodeCount")


def _leader(start: Start) -> str:
    return leader_script(
        start.placement,
        in_single_quotes(f"trtllm-llmapi-launch {_user_line(start)}"),
        processes=start.placement.nodes * gpus_asked(start.component),
        variables=(*start.variables, variables.OMPI_KEEP_HOST_NAMES),
    )


def _user_line(start: Start) -> str:
    """What the user runs, as a line for a shell; of a shell command only the script."""
    if runs_python(start.command):
        return shell_line([*start.command, *start.args])
    return " ".join(start.args or start.command)
