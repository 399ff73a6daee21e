"""The control plane of a test run: one for all workers, a namespace for each test.

`CLUSTER_NAME` chooses another cluster than `test`; `USE_EXISTING_CLUSTER=1` uses the one that `KUBECONFIG` names.
"""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class ControlPlane:
    """A running Kubernetes. ``audit_log`` is None where the cluster is not ours."""

    kubeconfig: Path
    operator_kubeconfig: Path
    audit_log: Path | None
    bin: Path | None

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        """Output of kubectl as administrator; fails the test with what it complained of."""
        program = str(self.bin / "kubectl") if self.bin else "kubectl"
        command = [program, f"--kubeconfig={self.kubeconfig}", *arguments]
        answer = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)  # noqa: S603
        assert answer.returncode == 0, f"kubectl {' '.join(arguments)}: {answer.stderr}"
        return answer.stdout


@pytest.fixture(scope="session")
def control_plane() -> ControlPlane:
    """The control plane; starts it unless it runs, and leaves it running for the next test run."""
    if os.environ.get("USE_EXISTING_CLUSTER") == "1":
        return existing_control_plane(os.environ)
    return local_control_plane(os.environ.get("CLUSTER_NAME", "test"))


@pytest.fixture
def namespace(control_plane: ControlPlane) -> Iterator[str]:
    """A fresh namespace; it is deleted afterwards, which nobody waits for."""
    name = f"test-{uuid.uuid4().hex[:10]}"
    control_plane.kubectl("create", "namespace", name)
    yield name
    control_plane.kubectl("delete", "namespace", name, "--wait=false")


def existing_control_plane(environment: os._Environ[str] | dict[str, str]) -> ControlPlane:
    """The cluster that KUBECONFIG names; OPERATOR_KUBECONFIG may give the operator an identity of its own."""
    kubeconfig = environment.get("KUBECONFIG")
    if not kubeconfig:
        pytest.fail("USE_EXISTING_CLUSTER=1 needs KUBECONFIG; set it, or leave both out to start a local cluster")
    operator = environment.get("OPERATOR_KUBECONFIG", kubeconfig)
    return ControlPlane(Path(kubeconfig), Path(operator), audit_log=None, bin=None)


def local_control_plane(name: str, *options: str) -> ControlPlane:
    """The local cluster of the given name; the command's own lock makes it safe for several test workers."""
    command = [sys.executable, "-m", "cluster", "start", "--name", name, *options]
    answer = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)  # noqa: S603
    if answer.returncode != 0:
        pytest.fail(f"the local cluster {name} did not start:\n{answer.stderr}")
    folder = CHECKOUT / ".cluster" / name
    return ControlPlane(
        kubeconfig=folder / "kubeconfig",
        operator_kubeconfig=folder / "operator.kubeconfig",
        audit_log=folder / "audit.log",
        bin=folder / "bin",
    )
