"""The CustomResourceDefinitions as they are shipped."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from dynamo_operator.api.crd import crd, crd_yaml, crds
from dynamo_operator.api.kinds import BY_NAME, KINDS

ROOT = Path(__file__).parents[2]

COLUMNS = {
    "DynamoGraphDeployment": {
        "Ready": '.status.conditions[?(@.type=="Ready")].status',
        "Backend": ".spec.backendFramework",
        "Age": ".metadata.creationTimestamp",
    },
    "DynamoComponentDeployment": {
        "DynamoComponent": ".spec.serviceName",
        "Available": ".status.conditions[?(@.type=='Available')].status",
        "Backend": ".spec.backendFramework",
        "Age": ".metadata.creationTimestamp",
    },
    "DynamoGraphDeploymentRequest": {
        "Model": ".spec.model",
        "Backend": ".status.backend",
        "State": ".status.state",
        "DGD-State": ".status.deployment.state",
        "Age": ".metadata.creationTimestamp",
    },
    "DynamoGraphDeploymentScalingAdapter": {
        "DGD": ".spec.dgdRef.name",
        "SERVICE": ".spec.dgdRef.serviceName",
        "REPLICAS": ".status.replicas",
        "AGE": ".metadata.creationTimestamp",
    },
    "DynamoModel": {
        "BaseModel": ".spec.baseModelName",
        "Type": ".spec.modelType",
        "Ready": ".status.readyEndpoints",
        "Total": ".status.totalEndpoints",
        "Age": ".metadata.creationTimestamp",
    },
    "DynamoWorkerMetadata": {"Age": ".metadata.creationTimestamp"},
}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.stem)
def test_columns_in_their_order(kind) -> None:
    columns = crd(kind)["spec"]["versions"][0]["additionalPrinterColumns"]
    assert [(column["name"], column["jsonPath"]) for column in columns] == list(COLUMNS[kind.name].items())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.stem)
def test_a_chart_uninstall_leaves_the_definition_and_nothing_claims_another_generator(kind) -> None:
    assert crd(kind)["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}


def test_only_worker_metadata_has_no_status() -> None:
    versions = {document["spec"]["names"]["kind"]: document["spec"]["versions"][0] for document in crds()}
    assert [name for name, version in versions.items() if "subresources" not in version] == ["DynamoWorkerMetadata"]


def test_adapters_scale() -> None:
    version = crd(BY_NAME["DynamoGraphDeploymentScalingAdapter"])["spec"]["versions"][0]
    assert version["subresources"]["scale"] == {
        "specReplicasPath": ".spec.replicas",
        "statusReplicasPath": ".status.replicas",
        "labelSelectorPath": ".status.selector",
    }


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.stem)
def test_a_definition_fits_into_the_annotation_of_a_client_side_apply(kind) -> None:
    assert len(json.dumps(crd(kind), separators=(",", ":")).encode()) < 262_144


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.stem)
def test_the_text_says_the_same_as_the_object(kind) -> None:
    assert yaml.load(crd_yaml(kind), yaml.CSafeLoader) == crd(kind)


def test_all_definitions_together_are_less_than_a_megabyte() -> None:
    assert sum(len(crd_yaml(kind).encode()) for kind in KINDS) < 1_000_000


def test_the_caller_may_change_what_it_gets() -> None:
    crds()[0]["spec"]["versions"][0]["schema"].clear()
    assert crds()[0]["spec"]["versions"][0]["schema"]


def test_committed_files_are_what_the_types_make() -> None:
    command = [sys.executable, str(ROOT / "tools/generate.py"), "--check"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    assert (result.returncode, result.stdout) == (0, "")
