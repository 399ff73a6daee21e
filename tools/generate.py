"""Write the files that follow from the API types: CRDs and the API reference.

generate.py          write them
generate.py --check  exit 1 and name the files whose committed content differs
"""

from __future__ import annotations

import sys
from pathlib import Path

from dynamo_operator.api.crd import crd_yaml
from dynamo_operator.api.kinds import KINDS
from dynamo_operator.api.reference import reference_markdown

ROOT = Path(__file__).parents[1]
CRDS = ROOT / "src/dynamo_operator/api/crds"
REFERENCE = ROOT / "docs/reference/api.md"


def generated() -> dict[Path, str]:
    """Path and content of every generated file."""
    return {CRDS / f"{kind.plural}.yaml": crd_yaml(kind) for kind in KINDS} | {REFERENCE: reference_markdown()}


def stale(files: dict[Path, str]) -> list[Path]:
    """Files whose committed content differs, and CRDs of kinds that are gone."""
    differing = [path for path, text in files.items() if not path.exists() or path.read_text("utf-8") != text]
    return differing + [path for path in CRDS.glob("*.yaml") if path not in files]


def main(arguments: list[str]) -> int:
    """Write, or with --check compare; the exit status."""
    files = generated()
    different = stale(files)
    if arguments == ["--check"]:
        for path in different:
            print(f"{path.relative_to(ROOT)} is not what tools/generate.py makes: run it and commit the result")
        return 1 if different else 0
    for path in different:
        path.unlink(missing_ok=True)
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
