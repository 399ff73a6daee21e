"""The local cluster as a whole: what it serves, how its pods behave, and that several run side by side."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cluster.layout import CHECKOUT

from tests.support.cluster import ControlPlane, local_control_plane

pytestmark = pytest.mark.cluster

SECOND = "side-by-side"
BEHAVIOUR = "dynamo-operator.test/behaviour"


def pod(name: str, behaviour: str, **annotations: str) -> dict[str, Any]:
    """A pod that behaves as its label says."""
    metadata = {"name": name, "labels": {BEHAVIOUR: behaviour} if behaviour else {}, "annotations": annotations}
    spec = {"containers": [{"name": "main", "image": "example.com/image:1"}], "restartPolicy": "Never"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def job(name: str, behaviour: str) -> dict[str, Any]:
    """A Job that tries once."""
    template = {"metadata": pod(name, behaviour)["metadata"], "spec": pod(name, behaviour)["spec"]}
    del template["metadata"]["name"]
    spec = {"backoffLimit": 0, "template": template}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": spec}


def create(control_plane: ControlPlane, namespace: str, *manifests: dict[str, Any]) -> None:
    """Create the given objects."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(manifests)})
    control_plane.kubectl("create", f"--namespace={namespace}", "--filename=-", stdin=text)


def wait(control_plane: ControlPlane, namespace: str, what: str, condition: str) -> None:
    """Wait for a condition as `kubectl wait --for` words it."""
    control_plane.kubectl("wait", f"--namespace={namespace}", what, f"--for={condition}", "--timeout=20s")


def read(control_plane: ControlPlane, namespace: str, what: str) -> dict[str, Any]:
    """An object as the API server has it."""
    return json.loads(control_plane.kubectl("get", f"--namespace={namespace}", what, "--output=json"))


@pytest.mark.parametrize(
    ("behaviour", "condition"),
    [
        pytest.param("", "condition=Ready", id="no behaviour: ready"),
        pytest.param("slow-start", "condition=Ready", id="slow start: ready in the end"),
        pytest.param(
            "crash-loop",
            "jsonpath={.status.containerStatuses[0].state.waiting.reason}=CrashLoopBackOff",
            id="crash loop: says so",
        ),
        pytest.param("crash-loop", "jsonpath={.status.containerStatuses[0].restartCount}=3", id="crash loop: counts"),
        pytest.param(
            "image-pull-error",
            "jsonpath={.status.containerStatuses[0].state.waiting.reason}=ImagePullBackOff",
            id="no such image: says so",
        ),
    ],
)
def test_behaviour_of_a_pod(control_plane: ControlPlane, namespace: str, behaviour: str, condition: str) -> None:
    create(control_plane, namespace, pod("one", behaviour, **{"dynamo-operator.test/delay": "300ms"}))
    wait(control_plane, namespace, "pod/one", condition)


def test_pod_that_starts_slowly_is_running_and_not_ready_before(control_plane: ControlPlane, namespace: str) -> None:
    create(control_plane, namespace, pod("one", "slow-start", **{"dynamo-operator.test/delay": "1h"}))
    wait(control_plane, namespace, "pod/one", "jsonpath={.status.phase}=Running")
    conditions = read(control_plane, namespace, "pod/one")["status"]["conditions"]
    assert next(each["status"] for each in conditions if each["type"] == "Ready") == "False"


@pytest.mark.parametrize(
    ("behaviour", "condition"),
    [
        pytest.param("", "condition=Complete", id="no behaviour: the job succeeds"),
        pytest.param("job-failure", "condition=Failed", id="job failure: the job fails"),
    ],
)
def test_behaviour_of_a_job(control_plane: ControlPlane, namespace: str, behaviour: str, condition: str) -> None:
    create(control_plane, namespace, job("one", behaviour))
    wait(control_plane, namespace, "job/one", condition)


def test_pod_is_scheduled_on_gpus_and_deleted_at_once(control_plane: ControlPlane, namespace: str) -> None:
    one = pod("one", "")
    one["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "8"}}
    create(control_plane, namespace, one)
    wait(control_plane, namespace, "pod/one", "condition=Ready")
    assert read(control_plane, namespace, "pod/one")["spec"]["nodeName"].startswith("gpu-")
    control_plane.kubectl("delete", f"--namespace={namespace}", "pod/one", "--timeout=10s")


def test_own_kinds_and_neighbours_are_served(control_plane: ControlPlane) -> None:
    names = control_plane.kubectl("api-resources", "--output=name").split()
    wanted = {
        "dynamographdeployments.nvidia.com",
        "dynamocomponentdeployments.nvidia.com",
        "dynamographdeploymentrequests.nvidia.com",
        "dynamographdeploymentscalingadapters.nvidia.com",
        "dynamomodels.nvidia.com",
        "dynamoworkermetadatas.nvidia.com",
        "inferencepools.inference.networking.k8s.io",
    }
    assert wanted <= set(names)


def test_running_cluster_is_reused(control_plane: ControlPlane) -> None:
    folder = control_plane.kubeconfig.parent
    before = {file.name: file.read_text() for file in (folder / "pids").iterdir()}
    assert local_control_plane(folder.name) == control_plane
    assert {file.name: file.read_text() for file in (folder / "pids").iterdir()} == before


@pytest.fixture
def second() -> Iterator[ControlPlane]:
    """Another cluster beside the one of the run."""
    yield local_control_plane(SECOND, "--with=istio")
    tool("stop")


def tool(verb: str) -> subprocess.CompletedProcess[str]:
    """Run the command for the second cluster."""
    command = [sys.executable, "-m", "cluster", verb, "--name", SECOND]
    return subprocess.run(command, cwd=CHECKOUT, check=False, capture_output=True, text=True)  # noqa: S603


def pid_of(folder: Path, stem: str) -> int:
    """The recorded pid of a program."""
    return int((folder / "pids" / f"{stem}.pid").read_text())


def runs(pid: int) -> bool:
    """Whether a process is alive; one that nobody has waited for yet keeps its entry, without a command line."""
    command = Path(f"/proc/{pid}/cmdline")
    return command.exists() and command.read_bytes() != b""


@pytest.mark.slow
def test_second_cluster_runs_beside_is_repaired_and_stopped(control_plane: ControlPlane, second: ControlPlane) -> None:
    folder = second.kubeconfig.parent
    assert "virtualservices.networking.istio.io" in second.kubectl("get", "crd", "--output=name")
    server = second.kubeconfig.read_text().partition("server: ")[2].split()[0]
    os.kill(pid_of(folder, "scheduler"), signal.SIGKILL)
    assert "is not complete" in tool("status").stderr
    again = local_control_plane(SECOND)
    assert server in again.kubeconfig.read_text()
    assert tool("status").returncode == 0
    api_server = pid_of(folder, "apiserver")
    assert "stopped apiserver" in tool("stop").stdout
    assert (runs(api_server), folder.exists()) == (False, False)
    control_plane.kubectl("get", "nodes")
