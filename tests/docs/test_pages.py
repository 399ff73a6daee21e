"""Pages that people rely on agree with the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dynamo_operator.status import conditions

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
NO_REASONS = {"TRUE", "FALSE", "READY", "AVAILABLE", "VALID", "NEEDS_ATTENTION", "PENDING", "SUCCESSFUL", "FAILED"}


def test_every_reason_has_a_section_in_the_troubleshooting_page() -> None:
    reasons = {
        value
        for name, value in vars(conditions).items()
        if name.isupper() and isinstance(value, str) and name not in NO_REASONS
    }
    page = (ROOT / "docs" / "operate" / "troubleshoot.md").read_text("utf-8")
    assert set(re.findall(r"^### `(\w+)`$", page, re.MULTILINE)) == reasons


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_files_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#\s]+)[^)]*\)", page.read_text("utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "adding").glob("*.md")), ids=lambda page: page.stem)
def test_files_that_a_recipe_names_exist(page: Path) -> None:
    named = re.findall(r"`((?:src|tests|docs)/[\w/.]+\w/?)`", page.read_text("utf-8"))
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "decisions").glob("*.md")), ids=lambda page: page.stem)
def test_a_decision_says_what_was_rejected(page: Path) -> None:
    headings = re.findall(r"^## (.*)$", page.read_text("utf-8"), re.MULTILINE)
    assert headings == ["Situation", "Decision", "Consequences", "Rejected"]
