"""Takes files out of Go modules into the cache; a module is known by its version and the hash of its content."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from cluster.errors import ClusterError
from cluster.layout import cache_folder
from cluster.locking import exclusive
from cluster.toolchain import Go, Say, load_go


@dataclass(frozen=True, slots=True)
class ModuleFile:
    """One file of a Go module. ``content_hash`` is the module's hash as go.sum writes it (`h1:…`)."""

    module: str
    version: str
    content_hash: str
    path: str


def load_module_file(wanted: ModuleFile, say: Say) -> Path:
    """The file's copy in the cache; downloads its module first where there is none. Raises ClusterError."""
    key = hashlib.sha256(f"{wanted.content_hash}\0{wanted.path}".encode()).hexdigest()[:24]
    copy = cache_folder() / "modules" / f"{key}-{Path(wanted.path).name}"
    if copy.exists():
        return copy
    with exclusive(copy.with_name(f"{key}.lock")):
        if not copy.exists():
            _copy(wanted, copy, say)
    return copy


def _copy(wanted: ModuleFile, copy: Path, say: Say) -> None:
    say(f"downloading {wanted.module} {wanted.version} for {wanted.path}")
    source = _download(wanted, load_go(say)) / wanted.path
    if not source.exists():
        raise ClusterError(f"module {wanted.module} {wanted.version} has no file {wanted.path}; correct its add-on")
    temporary = copy.with_name(f"{copy.name}.{os.getpid()}")
    shutil.copyfile(source, temporary)
    temporary.rename(copy)


def _download(wanted: ModuleFile, go: Go) -> Path:
    """The module's folder, once its hash was found to be the pinned one."""
    command = [str(go.program), "mod", "download", "-json", f"{wanted.module}@{wanted.version}"]
    # Outside any module, so that the download neither reads nor changes a go.mod.
    answer = subprocess.run(command, capture_output=True, text=True, check=False, env=go.environment(), cwd="/")
    if answer.returncode != 0:
        detail = (answer.stderr or answer.stdout).strip()[-500:]
        raise ClusterError(f"Go module {wanted.module} {wanted.version} could not be downloaded: {detail}")
    facts = json.loads(answer.stdout)
    if facts["Sum"] != wanted.content_hash:
        raise ClusterError(
            f"Go module {wanted.module} {wanted.version} has the hash {facts['Sum']} instead of {wanted.content_hash}; "
            "do not use it before the difference is understood"
        )
    return Path(facts["Dir"])
