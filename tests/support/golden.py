"""Goldens: directories with an input, the world around it, and what is wanted; no code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

_ROOT = Path(__file__).parents[1] / "golden"


def scenarios(kind: str) -> list[Path]:
    """Directories of one kind, by name."""
    return sorted(path for path in (_ROOT / kind).iterdir() if path.is_dir())


def documents(path: Path) -> list[Any]:
    """The documents of a YAML file; none when there is no file."""
    if not path.exists():
        return []
    return [document for document in yaml.safe_load_all(path.read_text()) if document is not None]
