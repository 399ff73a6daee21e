"""Builds the programs of the control plane, once for each content of go.mod, and keeps them in the cache."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cluster.errors import ClusterError
from cluster.layout import PACKAGE, cache_folder
from cluster.locking import exclusive
from cluster.toolchain import Go, Say, load_go

BUILD_SPACE = 5 * 1024**3
"""Bytes that a build without a warm compiler cache needs: about 4 GB of compiler output and 0.6 GB of programs."""

_PROGRESS_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Program:
    """A program to build: the name it gets, its Go package, and the module whose version it carries."""

    name: str
    package: str
    module: str

    @property
    def built_as(self) -> str:
        """The name that the Go command gives it: the last part of the package path that is not a version."""
        parts = self.package.split("/")
        return parts[-2] if re.fullmatch(r"v\d+", parts[-1]) else parts[-1]


_KUBERNETES = "k8s.io/kubernetes"
PROGRAMS = (
    Program("etcd", "go.etcd.io/etcd/server/v3", "go.etcd.io/etcd/server/v3"),
    Program("kube-apiserver", f"{_KUBERNETES}/cmd/kube-apiserver", _KUBERNETES),
    Program("kube-controller-manager", f"{_KUBERNETES}/cmd/kube-controller-manager", _KUBERNETES),
    Program("kube-scheduler", f"{_KUBERNETES}/cmd/kube-scheduler", _KUBERNETES),
    Program("kubectl", f"{_KUBERNETES}/cmd/kubectl", _KUBERNETES),
    Program("kwok", "sigs.k8s.io/kwok/cmd/kwok", "sigs.k8s.io/kwok"),
    Program("helm", "helm.sh/helm/v4/cmd/helm", "helm.sh/helm/v4"),
)

ADDON_PROGRAMS = {"lws": (Program("lws-controller", "sigs.k8s.io/lws/cmd", "sigs.k8s.io/lws"),)}
"""Programs that are built only for clusters with the add-on."""


def module_version(module: str, go_mod: str) -> str:
    """The version that the text of a go.mod requires of a module. Raises ClusterError where it has none."""
    match = re.search(rf"^\s*{re.escape(module)} (v\S+)", go_mod, re.MULTILINE)
    if match is None:
        raise ClusterError(f"cluster/go.mod requires no version of {module}; add it and run `go mod tidy` there")
    return match[1]


def versions(addons: Iterable[str] = ()) -> dict[str, str]:
    """Version of each program of a cluster with these add-ons, by its name."""
    go_mod = (PACKAGE / "go.mod").read_text()
    programs = (*PROGRAMS, *_programs_for(addons))
    return {program.name: module_version(program.module, go_mod) for program in programs}


def _programs_for(addons: Iterable[str]) -> tuple[Program, ...]:
    return tuple(program for addon in addons for program in ADDON_PROGRAMS.get(addon, ()))


def link_flags(kubernetes: str) -> str:
    """Linker flags that tell the Kubernetes programs their version, such as `v1.36.3`."""
    major, minor, _ = kubernetes.removeprefix("v").split(".", 2)
    values = {
        "gitVersion": kubernetes,
        "gitMajor": major,
        "gitMinor": minor,
        "gitTreeState": "clean",
        "gitCommit": "0" * 40,
    }
    return " ".join(["-s -w", *(f"-X k8s.io/component-base/version.{key}={value}" for key, value in values.items())])


def tools_key(go_version: str, programs: Sequence[Program] = PROGRAMS) -> str:
    """Hash of everything that the built programs depend on."""
    digest = hashlib.sha256()
    for name in ("go.mod", "go.sum"):
        digest.update((PACKAGE / name).read_bytes())
    built = [program.package for program in programs]
    digest.update("\0".join([go_version, *_build_flags(), *built]).encode())
    return digest.hexdigest()[:24]


def load_tools(say: Say, addons: Iterable[str] = ()) -> Path:
    """The folder with all programs; builds them first where the cache has none of this content."""
    go = load_go(say)
    base = _load_folder(go, PROGRAMS, say)
    extra = _programs_for(addons)
    return _load_folder(go, extra, say, beside=base) if extra else base


def _load_folder(go: Go, programs: Sequence[Program], say: Say, *, beside: Path | None = None) -> Path:
    folder = cache_folder() / "tools" / tools_key(go.version, programs)
    if folder.exists():
        return folder
    with exclusive(folder.with_suffix(".lock")):
        # Somebody else may have built it while this process waited for the lock.
        if not folder.exists():
            _build(go, folder, programs, say, beside=beside)
    return folder


def _build_flags() -> list[str]:
    return ["-trimpath", "-ldflags", link_flags(versions()["kube-apiserver"])]


def _build(go: Go, folder: Path, programs: Sequence[Program], say: Say, *, beside: Path | None) -> None:
    """Build into a temporary folder beside the final one and rename it, so that half a build is never seen.

    Programs of the folder ``beside`` are linked in.
    """
    check_space(folder.parent, BUILD_SPACE)
    temporary = folder.with_name(f"{folder.name}.building-{os.getpid()}")
    say(f"building {len(programs)} programs with Go {go.version} into {folder}")
    say("the first time takes about 7 minutes on two cores; later builds and other checkouts reuse it")
    packages = [program.package for program in programs]
    try:
        temporary.mkdir(parents=True)
        _compile([str(go.program), "build", "-v", *_build_flags(), "-o", f"{temporary}/", *packages], go, say)
        for program in programs:
            (temporary / program.built_as).rename(temporary / program.name)
        for other in beside.iterdir() if beside else ():
            (temporary / other.name).hardlink_to(other)
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _compile(command: list[str], go: Go, say: Say) -> None:
    """Run the compiler and report how far it is; its last lines go into the error."""
    started = time.monotonic()
    last: deque[str] = deque(maxlen=15)
    with subprocess.Popen(
        command, cwd=PACKAGE, env=go.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        progress = _Progress(say, started)
        threading.Thread(target=progress.run, daemon=True).start()
        try:
            for line in process.stderr or ():
                last.append(line.rstrip())
                progress.compiled += not line.startswith("go: ")
        finally:
            progress.finished.set()
    if process.returncode != 0:
        raise ClusterError("the programs could not be built; the last lines of `go build`:\n" + "\n".join(last))
    say(f"built in {time.monotonic() - started:.0f} s")


class _Progress:
    """Says every few seconds how far the compiler is, also while it links and prints nothing."""

    def __init__(self, say: Say, started: float) -> None:
        self._say, self._started = say, started
        self.compiled = 0
        self.finished = threading.Event()

    def run(self) -> None:
        """Speak until finished."""
        while not self.finished.wait(_PROGRESS_SECONDS):
            self._say(f"{time.monotonic() - self._started:4.0f} s, {self.compiled} packages compiled")


def check_space(folder: Path, wanted: int) -> None:
    """Raises ClusterError where the disk below a folder has fewer free bytes than wanted."""
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    free = shutil.disk_usage(existing).free
    if free < wanted:
        raise ClusterError(
            f"the disk of {existing} has {free / 1024**3:.1f} GB free and {wanted / 1024**3:.1f} GB are needed; "
            "free some space, or point XDG_CACHE_HOME (programs) elsewhere"
        )
