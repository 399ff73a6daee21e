"""The reference that people read."""

from __future__ import annotations

import re

from dynamo_operator.api.kinds import KINDS
from dynamo_operator.api.reference import reference_markdown

TEXT = reference_markdown()


def test_every_link_leads_to_a_heading() -> None:
    headings = {line.lstrip("# ").lower() for line in TEXT.splitlines() if line.startswith("###")}
    assert set(re.findall(r"\]\(#([^)]*)\)", TEXT)) <= headings


def test_every_kind_has_its_names_and_parts() -> None:
    for kind in KINDS:
        assert f"### {kind.name}\n\n{kind.description}" in TEXT
        assert f"### {kind.spec.__name__}\n" in TEXT


def test_a_field_shows_need_type_default_meaning_and_limits() -> None:
    assert "| **`nodeCount`** | integer | `2` | Nodes, and so pods, of each copy." in TEXT
    assert "(at least 2) |" in TEXT


def test_types_are_said_in_words() -> None:
    rows = {
        "| `backendFramework` | `sglang`, `vllm`, `trtllm` |",
        "| `envs` | list of Kubernetes `EnvVar` |",
        "| `services` | map of [ComponentSpec](#componentspec) |",
        "| `config` | [EndpointPickerConfig](#endpointpickerconfig) |",
        "| `size` | quantity |",
    }
    assert {row for row in rows if row not in TEXT} == set()


def test_every_row_of_a_table_is_whole() -> None:
    for row in (line for line in TEXT.splitlines() if line.startswith("|")):
        assert row.endswith("|")


def test_rules_are_told() -> None:
    assert "Rule: When create is true, size, storageClass, and volumeAccessMode are required." in TEXT
