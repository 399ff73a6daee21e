"""Every difference from the recordings that is let pass is written down with its reason, and explained to users."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

FILE = Path(__file__).with_name("deviations.yaml")
PAGE = Path(__file__).parents[2] / "docs/compatibility.md"
MEMBERS = {"case", "kind", "object", "path", "why"}


def groups() -> list[str]:
    """The commented groups of entries, without the introduction."""
    return FILE.read_text("utf-8").split("\n\n")[1:]


def test_every_entry_says_where_and_why() -> None:
    entries = yaml.safe_load(FILE.read_text("utf-8"))
    assert [entry for entry in entries if set(entry) != MEMBERS or not all(entry.values())] == []


def test_no_entry_allows_whole_objects_or_statuses_everywhere() -> None:
    entries = yaml.safe_load(FILE.read_text("utf-8"))
    everywhere = [entry for entry in entries if entry["case"] == "*" and entry["object"] == "*"]
    assert [entry for entry in everywhere if entry["path"] in {"*", "(object)", "spec*", "status*", "metadata*"}] == []


def test_every_group_is_explained_to_users() -> None:
    headings = set(re.findall(r"^### (.*)$", PAGE.read_text("utf-8"), re.MULTILINE))
    said = [re.findall(r"^# (.*)$", group, re.MULTILINE) for group in groups()]
    assert [titles for titles in said if not titles or not set(titles) <= headings] == []
