"""Whole component deployments, from what is stored to what is applied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dynamo_operator.check.component_deployment import check_component
from dynamo_operator.domain.component import Surroundings
from dynamo_operator.domain.site import Offers, Site
from dynamo_operator.domain.source import Source
from dynamo_operator.render.component import render_component
from tests.support.golden import documents, scenarios


def source_of(stored: dict[str, Any]) -> Source:
    metadata = stored["metadata"]
    owners = [owner["name"] for owner in metadata.get("ownerReferences", ())]
    return Source(
        namespace=metadata["namespace"],
        name=metadata["name"],
        labels=metadata.get("labels", {}),
        graph=owners[0] if owners else "",
        spec=stored["spec"],
    )


def world_of(path: Path) -> tuple[Site, Surroundings]:
    world = next(iter(documents(path)), {})
    site = dict(world.get("site", {}))
    around = world.get("surroundings", {})
    secrets = {host: tuple(names) for host, names in around.get("pull_secrets", {}).items()}
    accounts = tuple(around.get("service_accounts", ()))
    return Site(**{**site, "offers": Offers(**site.get("offers", {}))}), Surroundings(secrets, accounts)


@pytest.mark.parametrize("scenario", scenarios("component_deployment"), ids=lambda path: path.name)
def test_wanted(scenario: Path) -> None:
    (stored,) = documents(scenario / "input.yaml")
    site, surroundings = world_of(scenario / "world.yaml")
    children = render_component(check_component(source_of(stored), site), site, surroundings)
    assert [child.manifest for child in children] == documents(scenario / "wanted.yaml")
