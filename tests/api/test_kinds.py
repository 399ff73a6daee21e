"""The names by which clusters, people and webhooks know the kinds."""

from __future__ import annotations

import pytest

from dynamo_operator.api.kinds import BY_NAME, KINDS
from dynamo_operator.domain import labels

NAMES = {
    "DynamoGraphDeployment": ("dynamographdeployments", ("dgd",)),
    "DynamoComponentDeployment": ("dynamocomponentdeployments", ("dcd",)),
    "DynamoGraphDeploymentRequest": ("dynamographdeploymentrequests", ("dgdr",)),
    "DynamoGraphDeploymentScalingAdapter": ("dynamographdeploymentscalingadapters", ("dgdsa",)),
    "DynamoModel": ("dynamomodels", ("dm", "dmodel")),
    "DynamoWorkerMetadata": ("dynamoworkermetadatas", ("dwm",)),
}


def test_names_are_those_that_clients_use() -> None:
    assert {kind.name: (kind.plural, kind.short_names) for kind in KINDS} == NAMES


def test_no_two_kinds_share_a_name() -> None:
    names = [name for kind in KINDS for name in (kind.plural, kind.singular, *kind.short_names)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.validated], ids=lambda kind: kind.stem)
def test_webhook_names_are_those_that_users_see_in_refusals(kind) -> None:
    assert kind.webhook_name == f"v{kind.name.lower()}.kb.io"
    assert kind.webhook_path == f"/validate-nvidia-com-v1alpha1-{kind.name.lower()}"


def test_adapters_and_worker_metadata_have_no_webhook() -> None:
    without = {kind.name for kind in KINDS if kind.webhook_path is None and kind.webhook_name is None}
    assert without == {"DynamoGraphDeploymentScalingAdapter", "DynamoWorkerMetadata"}


def test_a_stem_is_the_kind_in_snake_case() -> None:
    for kind in KINDS:
        assert f"dynamo{kind.stem.replace('_', '')}" == kind.singular


def test_the_core_and_the_api_name_the_same_version() -> None:
    from dynamo_operator.api.kinds import GROUP, VERSION

    assert f"{GROUP}/{VERSION}" == labels.API_VERSION
    assert BY_NAME["DynamoModel"].crd_name == "dynamomodels.nvidia.com"
