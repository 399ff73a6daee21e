"""Whole graphs on every pathway, to the byte.

A folder of `tests/golden/render` holds `input.yaml` and, for each cluster that can run it, what `render` writes. After
a change that is meant, write one anew: `dynamo-operator render input.yaml -n demo --cluster LIST > LIST.yaml`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dynamo_operator.cli.tree import tree
from tests.support.golden import scenarios

GOLDENS = sorted(
    golden for scenario in scenarios("render") for golden in scenario.glob("*.yaml") if golden.name != "input.yaml"
)
PATHWAYS = {"plain", "lws,volcano", "grove", "grove,kai"}


def rendered(source: Path, cluster: str) -> Result:
    return CliRunner().invoke(tree, ["render", str(source), "-n", "demo", "--cluster", cluster], env={"KUBECONFIG": ""})


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda path: f"{path.parent.name} on {path.stem}: as wanted")
def test_graph_is_rendered_for_a_cluster(golden: Path) -> None:
    result = rendered(golden.parent / "input.yaml", golden.stem)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == golden.read_text("utf-8")


def test_every_pathway_has_a_golden() -> None:
    assert {golden.stem for golden in GOLDENS} == PATHWAYS


@pytest.mark.parametrize("more", ["istio", "istio,inference"])
@pytest.mark.parametrize("cluster", ["lws,volcano", "grove", "grove,kai"])
def test_what_a_graph_does_not_use_changes_nothing(cluster: str, more: str) -> None:
    source = GOLDENS[-1].parent / "input.yaml"
    assert rendered(source, f"{cluster},{more}").stdout == rendered(source, cluster).stdout


def test_nodes_that_nothing_groups_are_refused_with_the_reason() -> None:
    result = rendered(GOLDENS[-1].parent / "input.yaml", "plain")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no multinode orchestrator available" in result.stderr
