"""A control plane for one test at a time: operators for all namespaces, and a control plane that breaks."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cluster.layout import CHECKOUT, clusters_folder, layout_of
from cluster.lifecycle import load_site
from cluster.locking import exclusive
from cluster.processes import load_pids, write_process
from cluster.programs import API_SERVER, command_of
from cluster.readiness import wait_ready

from tests.support.bed import Bed, fresh_bed, gateway
from tests.support.cluster import ControlPlane, existing_control_plane, local_control_plane
from tests.support.operator import CLUSTER_ROLES

_DEATH_SECONDS = 10.0


def alone_name() -> str:
    """Name of the local cluster that one test has for itself."""
    return f"{os.environ.get('CLUSTER_NAME', 'test')}-alone"


@contextmanager
def _turn() -> Iterator[None]:
    """The right to use the cluster, among all test workers."""
    clusters_folder().mkdir(parents=True, exist_ok=True)
    with exclusive(clusters_folder() / f".{alone_name()}.turn"):
        yield


@pytest.fixture(scope="session")
def _stopped_at_the_end() -> Iterator[None]:
    """Another cluster costs processor time even when it does nothing."""
    yield
    if os.environ.get("USE_EXISTING_CLUSTER") != "1":
        with _turn():
            command = [sys.executable, "-m", "cluster", "stop", "--name", alone_name()]
            subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True)  # noqa: S603


@pytest.fixture
def whole_cluster(_stopped_at_the_end: None) -> Iterator[ControlPlane]:
    """A control plane on which no other test does anything meanwhile."""
    with _turn():
        existing = os.environ.get("USE_EXISTING_CLUSTER") == "1"
        plane = existing_control_plane(os.environ) if existing else local_control_plane(alone_name())
        plane.kubectl("apply", "--server-side", "--filename=-", stdin=json.dumps(_roles()))
        yield plane


def _roles() -> dict[str, Any]:
    """What a chart installs for the accounts that an operator makes; they may do nothing here."""
    group = "rbac.authorization.k8s.io/v1"
    roles = [{"apiVersion": group, "kind": "ClusterRole", "metadata": {"name": name}} for name in CLUSTER_ROLES]
    return {"apiVersion": "v1", "kind": "List", "items": roles}


@pytest.fixture
def whole_bed(whole_cluster: ControlPlane) -> Iterator[Bed]:
    """A namespace of a cluster that one test has for itself."""
    with gateway(whole_cluster) as url, fresh_bed(whole_cluster, url) as bed:
        yield bed


class Program:
    """The process of one program of a local cluster, the API server's unless said otherwise."""

    def __init__(self, plane: ControlPlane, stem: str = API_SERVER) -> None:
        if plane.bin is None:
            pytest.skip(f"the cluster is not ours: its {stem} cannot be killed")
        self._layout, self._stem = layout_of(Path(plane.kubeconfig).parent.name), stem

    @property
    def running(self) -> bool:
        """Whether it runs."""
        return self._stem in load_pids(self._layout)

    def kill(self) -> None:
        """End it without a warning."""
        handle = os.pidfd_open(load_pids(self._layout)[self._stem])
        try:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            # Readable when all of it is gone, its port too.
            assert select.select([handle], [], [], _DEATH_SECONDS)[0], f"{self._stem} does not die"
        finally:
            os.close(handle)

    def start(self) -> None:
        """Start it again as it was, and wait until it is ready."""
        site = load_site(self._layout)
        assert site is not None
        wait_ready(site, self._stem, write_process(self._layout, self._stem, command_of(self._stem, site)))
