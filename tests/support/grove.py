"""A local cluster with the stand-in for Grove, which can stop, and whose definitions can go and come back."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cluster.addons import load_addon_manifests
from cluster.grove.install import GROVE_KINDS, load_grove_webhooks
from cluster.install import apply_definitions, apply_webhooks
from cluster.layout import layout_of
from cluster.lifecycle import load_site
from cluster.programs import GROVE, GROVE_WEBHOOK, KAI

from tests.support.bed import Bed, fresh_bed, gateway, service
from tests.support.cluster import CHECKOUT, ControlPlane, local_control_plane
from tests.support.operator import CLUSTER_WIDE, OperatorProcess, operating
from tests.support.whole_cluster import Program

# Of its own for each test worker, as it is stopped at the end.
NAME = f"{os.environ.get('CLUSTER_NAME', 'test')}-grove{os.environ.get('PYTEST_XDIST_WORKER', '')}"

PATIENCE = 60.0
"""Seconds for what takes the operator, the stand-in and the scheduler to do."""


SET, CLIQUE, GROUP = "PodCliqueSet", "PodClique", "PodCliqueScalingGroup"
PATHWAY = "nvidia.com/enable-grove"
_QUEUES = "crd/queues.scheduling.run.ai"


@pytest.fixture(scope="module")
def grove_plane() -> Iterator[ControlPlane]:
    """The cluster, for the stories of one file at a time; its scheduler is also called kai-scheduler."""
    if os.environ.get("USE_EXISTING_CLUSTER") == "1":
        pytest.skip("needs a cluster of its own: Grove is stopped and removed in it")
    plane = local_control_plane(NAME, "--with", "grove,kai")
    plane.kubectl("delete", _QUEUES)
    yield plane
    command = [sys.executable, "-m", "cluster", "stop", "--name", NAME]
    subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True)  # noqa: S603


@pytest.fixture(scope="module")
def grove_url(grove_plane: ControlPlane) -> Iterator[str]:
    """Where stories reach it as administrator."""
    with gateway(grove_plane) as address:
        yield address


@pytest.fixture(scope="module")
def grove_operator(grove_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OperatorProcess]:
    """An operator for all of its namespaces."""
    with operating(grove_plane.operator_kubeconfig, tmp_path_factory.mktemp("operator"), *CLUSTER_WIDE) as process:
        yield process


@pytest.fixture
def grove_bed(grove_plane: ControlPlane, grove_url: str, grove_operator: OperatorProcess) -> Iterator[Bed]:
    """A namespace of it."""
    with fresh_bed(grove_plane, grove_url) as fresh:
        fresh.explain = grove_operator.last_words
        yield fresh


@pytest.fixture
def grove(grove_plane: ControlPlane, grove_bed: Bed) -> Iterator[Grove]:
    """The stand-in, which is made whole again afterwards."""
    stand_in = Grove(grove_plane)
    yield stand_in
    stand_in.mend()


def spread(**members: Any) -> dict[str, Any]:
    """A worker on two nodes."""
    main = {"command": ["python3", "-m", "dynamo.sglang"], "args": ["--tp", "16"]}
    return service(main=main, multinode={"nodeCount": 2}, resources={"limits": {"gpu": "8"}}, **members)


def hosts(bed: Bed) -> set[str]:
    """What the pods call themselves that are not on their way out."""
    pods = (pod for pod in bed.items("Pod") if "deletionTimestamp" not in pod["metadata"])
    return {pod["spec"].get("hostname", "") for pod in pods}


class Grove:
    """The stand-in of a cluster."""

    def __init__(self, plane: ControlPlane) -> None:
        site = load_site(layout_of(Path(plane.kubeconfig).parent.name))
        assert site is not None
        self._plane, self._site = plane, site
        self._process = Program(plane, GROVE)
        self._runs = self._asked = self._defined = True

    def stop(self) -> None:
        """Nobody makes pods, and the webhooks refuse everything because nobody answers."""
        self._process.kill()
        self._runs = False

    def start(self) -> None:
        """Grove works again."""
        self._process.start()
        self._runs = True

    def remove_webhooks(self) -> None:
        """From now on the API server asks nobody."""
        for each in load_grove_webhooks(self._site):
            self._plane.kubectl("delete", each["kind"], each["metadata"]["name"])
        self._asked = False

    def remove(self) -> None:
        """Remove the definitions, and all objects with them."""
        names = [f"crd/{plural}.grove.io" for plural in GROVE_KINDS]
        self._plane.kubectl("delete", *names, f"--timeout={PATIENCE:.0f}s")
        self._defined = False

    def install(self) -> None:
        """Bring the definitions back."""
        apply_definitions(self._site, load_addon_manifests([GROVE], _silent))
        self._defined = True

    def install_kai(self) -> None:
        """Queues can be made from now on."""
        apply_definitions(self._site, load_addon_manifests([KAI], _silent))

    def mend(self) -> None:
        """As it was at first."""
        self._plane.kubectl("delete", _QUEUES, "--ignore-not-found")
        if not self._defined:
            self.install()
        if not self._runs:
            self.start()
        if not self._asked:
            apply_webhooks(self._site, load_grove_webhooks(self._site), port=self._site.ports[GROVE_WEBHOOK])
            self._asked = True


def _silent(_: str) -> None:
    """Take progress and drop it."""
