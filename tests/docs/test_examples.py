"""Everything that examples and pages show to be applied is sound, and leads to objects."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from dynamo_operator.domain.site import Offers, Site
from dynamo_operator.offline.documents import parse_documents
from dynamo_operator.offline.findings import find_all
from dynamo_operator.offline.rendering import render_manifest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "operate" / "multinode.md"
EXAMPLES = {path.stem: path.read_text("utf-8") for path in sorted((ROOT / "examples").glob("*.yaml"))}
FENCED = re.findall(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
SHOWN = {**EXAMPLES, **{f"{PAGE.stem}-{number}": text for number, text in enumerate(FENCED)}}

WAYS = {
    "sets": Offers(inference_pools=True, leader_worker_sets=True, volcano=True),
    "cliques": Offers(inference_pools=True, grove=True),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", SHOWN)
def test_what_is_shown_is_sound_and_leads_to_pods(name: str, way: str) -> None:
    site = Site(offers=WAYS[way], planner_cluster_role="planner", mpi_secret_name="keys")
    documents, flaws = parse_documents(SHOWN[name], name)
    assert find_all(documents, flaws, site, namespace="demo") == []
    kinds = {kind for one in documents for kind in rendered_kinds(one.manifest, site)}
    assert kinds & {"Deployment", "LeaderWorkerSet", "PodCliqueSet"}


def rendered_kinds(manifest: dict[str, Any], site: Site) -> set[str]:
    return {one.child.manifest["kind"] for one in render_manifest(manifest, site, namespace="demo")}


def test_the_page_about_several_nodes_has_an_example_of_every_backend() -> None:
    named = re.findall(r"examples/([\w-]+)\.yaml", PAGE.read_text("utf-8"))
    shown = [yaml.safe_load(EXAMPLES[name])["spec"] for name in named]
    spread = [spec for spec in shown if any("multinode" in each for each in spec["services"].values())]
    assert len(spread) == len(named)
    assert {spec["backendFramework"] for spec in spread} == {"vllm", "sglang", "trtllm"}


def test_graphs_of_all_examples_can_live_in_one_namespace() -> None:
    names = [yaml.safe_load(text)["metadata"]["name"] for text in EXAMPLES.values()]
    assert len(set(names)) == len(names)
