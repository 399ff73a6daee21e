"""The operator as a process of its own, as it runs in production."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

READY_SECONDS = 60.0
_STOP_SECONDS = 45.0
_PAUSE_SECONDS = 0.05
_LAST_LINES = 15
_LINE_LENGTH = 400

CLUSTER_ROLES = ("planner", "dgdr", "epp")
"""Names of the cluster roles that a chart installs beside the operator."""

CLUSTER_WIDE = (
    f"--planner-cluster-role-name={CLUSTER_ROLES[0]}",
    f"--dgdr-profiling-cluster-role-name={CLUSTER_ROLES[1]}",
    f"--epp-cluster-role-name={CLUSTER_ROLES[2]}",
    "--natsAddr=nats://nats.dynamo-system:4222",
    "--etcdAddr=etcd.dynamo-system:2379",
)
"""Flags of an operator for the whole cluster."""


def restricted_to(namespace: str) -> tuple[str, ...]:
    """Flags of an operator that leaves other namespaces alone, so that several tests can have one each."""
    return (f"--restrictedNamespace={namespace}", *CLUSTER_WIDE[3:])


class OperatorProcess:
    """`dynamo-operator run` against a kubeconfig; its log is one file over all restarts."""

    def __init__(self, kubeconfig: Path, folder: Path, *flags: str) -> None:
        self._command = [sys.executable, "-m", "dynamo_operator", "run", f"--kubeconfig={kubeconfig}", *flags]
        self._log = folder / "operator.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._running().pid

    @property
    def ended(self) -> bool:
        """Whether it is over, by itself or by a signal."""
        return self._process is None or self._process.poll() is not None

    def start(self, *, await_ready: bool = True) -> None:
        """Start it, and wait until it says that it is ready. AssertionError with its log when it does not."""
        health, metrics = free_port(), free_port()
        listeners = [f"--health-probe-bind-address=127.0.0.1:{health}", f"--metrics-bind-address=127.0.0.1:{metrics}"]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [*self._command, *listeners], env=_environment(), stdout=log, stderr=log
            )
        if await_ready:
            self._await_ready(health)

    def stop(self) -> int:
        """Ask it to end, as Kubernetes does; its exit code."""
        process = self._running()
        process.send_signal(signal.SIGTERM)
        return process.wait(_STOP_SECONDS)

    def kill(self) -> None:
        """End it without a warning."""
        self._running().kill()
        self._running().wait(_STOP_SECONDS)

    def wait(self, seconds: float = _STOP_SECONDS) -> int:
        """Its exit code, when somebody else ends it."""
        return self._running().wait(seconds)

    def restart(self) -> None:
        """Stop and start it."""
        self.stop()
        self.start()

    def log_text(self) -> str:
        """All that it has logged."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def last_words(self) -> str:
        """The end of its log, for the message of a failed test."""
        lines = [line[:_LINE_LENGTH] for line in self.log_text().splitlines()[-_LAST_LINES:]]
        return "\n".join(["the operator's log ends with:", *lines, ""])

    def _running(self) -> subprocess.Popen[bytes]:
        assert self._process is not None, "the operator was not started"
        return self._process

    def _await_ready(self, port: int) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while not self.ended and time.monotonic() < deadline:
            if _answers(f"http://127.0.0.1:{port}/readyz"):
                return
            time.sleep(_PAUSE_SECONDS)
        raise AssertionError(f"the operator did not become ready\n{self.last_words()}")


@contextmanager
def operating(kubeconfig: Path, folder: Path, *flags: str) -> Iterator[OperatorProcess]:
    """An operator that runs until the block ends. Its log is told when the test fails, and must not show a crash."""
    operator = OperatorProcess(kubeconfig, folder, *flags)
    operator.start()
    try:
        yield operator
    finally:
        if not operator.ended:
            operator.stop()
        sys.stderr.write(operator.last_words())
    assert "Traceback" not in operator.log_text(), operator.log_text()


def free_port() -> int:
    """A port of the loopback interface that nobody uses right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2):  # noqa: S310 - our own address
            return True
    except (urllib.error.URLError, OSError):
        return False


def _environment() -> dict[str, str]:
    # A variable of the developer's shell must not lead the operator elsewhere, nor compile it anew at each start.
    left_out = {"KUBECONFIG", "PYTHONDONTWRITEBYTECODE"}
    return {name: value for name, value in os.environ.items() if name not in left_out}
