"""What the tool remembers of a cluster between two commands."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class State:
    """Ports by name, the programs' folder, what the running programs were started from, and what was installed."""

    ports: dict[str, int]
    tools: str
    fingerprint: str
    ready: bool = False
    addons: list[str] = field(default_factory=list[str])
    definitions: str = ""


def load_state(path: Path) -> State | None:
    """The remembered state, or None where there is none or it was written by another version of this tool."""
    try:
        return State(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        return None


def write_state(path: Path, state: State) -> None:
    """Write the state; a reader sees the old one or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".new")
    temporary.write_text(json.dumps(asdict(state), indent=2) + "\n")
    temporary.rename(path)
