"""What no manifest shows is said."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_operator.domain.site import Offers, Site
from dynamo_operator.offline.later_steps import later_steps

PLAIN, GROVE = Offers(leader_worker_sets=True, volcano=True), Offers(grove=True)
NODES = {"multinode": {"nodeCount": 2}}
MPI = {"extraPodSpec": {"mainContainer": {"command": ["python3", "-m", "dynamo.trtllm"]}}, **NODES}
NAMED = {"mpi_secret_name": "keys", "mpi_secret_namespace": "platform"}


def steps(service: dict[str, Any], offers: Offers, kind: str = "DynamoGraphDeployment", **site: str) -> list[str]:
    spec = {"services": {"Worker": {"componentType": "worker", **service}}}
    return later_steps(
        {"kind": kind, "metadata": {"name": "llm"}, "spec": spec}, Site(offers=offers, **site), namespace="demo"
    )


@pytest.mark.parametrize(
    ("service", "offers", "site", "wanted"),
    [
        pytest.param(
            {"replicas": 0}, GROVE, {}, "PodClique demo/llm-0-worker is scaled to 0", id="none on Grove: scaled"
        ),
        pytest.param(
            {"replicas": 0, **NODES}, GROVE, {}, "PodCliqueScalingGroup demo/llm-0-worker", id="no groups: scaled"
        ),
        pytest.param(MPI, PLAIN, NAMED, "Secret demo/keys is copied from platform/keys", id="MPI: its key is copied"),
        pytest.param(MPI, PLAIN, {}, "set --mpi-run-ssh-secret-name", id="MPI without a key: what is missing"),
    ],
)
def test_step_is_said(service: dict[str, Any], offers: Offers, site: dict[str, str], wanted: str) -> None:
    (said,) = steps(service, offers, **site)
    assert wanted in said


@pytest.mark.parametrize(
    ("service", "offers"),
    [
        pytest.param({"replicas": 0}, PLAIN, id="none without Grove: the Deployment says so itself"),
        pytest.param({"replicas": 2}, GROVE, id="some on Grove: the set says so itself"),
        pytest.param(NODES, GROVE, id="several nodes without MPI: no key"),
    ],
)
def test_nothing_is_left_to_say(service: dict[str, Any], offers: Offers) -> None:
    assert steps(service, offers) == []


def test_only_graphs_have_steps() -> None:
    assert steps({"replicas": 0}, GROVE, kind="DynamoComponentDeployment") == []
