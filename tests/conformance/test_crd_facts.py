"""Our CRDs say what those of the Go operator 0.9 say, apart from differences that are explained.

Needs the conformance suite: its folder is in CONFORMANCE, by default ../shared/conformance beside the checkout.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXPLAINED = Path(__file__).with_name("crd_differences.txt")
SUITE = Path(os.environ.get("CONFORMANCE", ROOT.parent / "shared/conformance"))


def explained() -> dict[str, set[str]]:
    """Differences by the anchor in docs/compatibility.md that explains them."""
    sections: dict[str, set[str]] = {}
    for line in EXPLAINED.read_text("utf-8").splitlines():
        if line.startswith("# "):
            current = sections.setdefault(line.removeprefix("# "), set())
        elif line:
            current.add(line)
    return sections


@pytest.mark.skipif(not SUITE.is_dir(), reason=f"no conformance suite in {SUITE}; say where it is with CONFORMANCE")
def test_definitions_differ_from_upstream_only_where_it_is_explained() -> None:
    crds = sorted(str(path) for path in (ROOT / "src/dynamo_operator/api/crds").glob("*.yaml"))
    command = [sys.executable, str(SUITE / "crds/facts.py"), "--compare", str(SUITE / "crds/upstream-0.9.facts"), *crds]
    result = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - the suite's own tool
    assert result.stderr == ""
    assert set(result.stdout.splitlines()) == set().union(*explained().values())


def test_every_difference_is_explained_to_users() -> None:
    page = (ROOT / "docs/compatibility.md").read_text("utf-8")
    headings = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    assert [title for title in explained() if title not in headings] == []
