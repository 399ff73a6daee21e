"""Hold the measured coverage against its limits: every branch of the core, 90 percent of the rest.

Reads the data files that `coverage run` left in the checkout, prints what is missing, exits with 1 below a limit.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CORE = tuple(f"src/dynamo_operator/{name}/" for name in ("api", "domain", "check", "plan", "render", "status"))
LIMITS = {"core": 100.0, "rest": 90.0}


def main() -> int:
    """Print both figures with what is missing; 1 when one is too low."""
    report = measured()
    files: dict[str, dict[str, Any]] = report["files"]
    groups = {
        "core": {name: file for name, file in files.items() if name.startswith(CORE)},
        "rest": {name: file for name, file in files.items() if not name.startswith(CORE)},
    }
    shares = {name: share(file["summary"] for file in group.values()) for name, group in groups.items()}
    for name, limit in LIMITS.items():
        missing = groups[name] if shares[name] < limit else {}
        for path, file in sorted(missing.items()):
            print_missing(path, file)
        print(f"coverage of the {name}: {shares[name]:.1f} % of lines and branches, limit {limit:g} %")
    return 0 if all(shares[name] >= limit for name, limit in LIMITS.items()) else 1


def measured() -> dict[str, Any]:
    """The report of all data files as coverage writes it."""
    tool = [sys.executable, "-m", "coverage"]
    subprocess.run([*tool, "combine", "--quiet"], cwd=ROOT, check=True)
    target = ROOT / ".coverage.report.json"
    subprocess.run([*tool, "json", "--quiet", "-o", str(target)], cwd=ROOT, check=True)
    report: dict[str, Any] = json.loads(target.read_text("utf-8"))
    target.unlink()
    return report


def share(summaries: Iterable[dict[str, int]]) -> float:
    """Percent of lines and branches that were run; 100 where there are none."""
    seen = every = 0
    for one in summaries:
        seen += one["covered_lines"] + one["covered_branches"]
        every += one["num_statements"] + one["num_branches"]
    return 100 * seen / every if every else 100.0


def print_missing(path: str, file: dict[str, Any]) -> None:
    """Name the lines and branches of a file that were never run."""
    lines = ", ".join(map(str, file["missing_lines"]))
    branches = ", ".join(f"{a}->{b}" for a, b in file["missing_branches"])
    said = "; ".join(part for part in (lines and f"lines {lines}", branches and f"branches {branches}") if part)
    if said:
        print(f"  {path}: {said}")


if __name__ == "__main__":
    sys.exit(main())
