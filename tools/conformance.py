"""Run the conformance suite, which lies beside the checkout, against this operator on local clusters.

conformance.py [--suite FOLDER] [--keep] [--quiet SECONDS] [PROFILE ...]

Default: all profiles of tests/conformance/profiles.yaml. A busy machine needs a longer --quiet.

Says so and exits with 0 where the suite is absent; exits with 1 when a case fails.
"""

from __future__ import annotations

import argparse
import base64
import fnmatch
import json
import os
import random
import signal
import socket
import string
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
OURS = ROOT / "tests" / "conformance"
READY_WITHIN = 60.0
SECRET = "mpi"  # noqa: S105 - the name of a Secret in the profiles' flags
ROLES = ("planner", "dgdr", "epp")
SYSTEM = "dynamo-system"


@dataclass(frozen=True, slots=True)
class Suite:
    """Where the suite lies, and how long nothing may change before it takes a result."""

    folder: Path
    quiet: float


@dataclass(frozen=True, slots=True)
class Bed:
    """A local cluster that one profile runs on."""

    home: Path

    def kubectl(self, *arguments: str, stdin: str = "") -> None:
        """Run kubectl as administrator; CalledProcessError with its words on standard error when it fails."""
        command = [str(self.home / "bin" / "kubectl"), "--kubeconfig", str(self.home / "kubeconfig"), *arguments]
        subprocess.run(command, input=stdin, text=True, check=True, stdout=subprocess.DEVNULL)


def main() -> int:
    """Run the profiles asked for; 1 when anything failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profiles", nargs="*", metavar="PROFILE")
    parser.add_argument("--suite", type=Path, default=ROOT.parent / "shared" / "conformance")
    parser.add_argument("--keep", action="store_true", help="leave the clusters running")
    parser.add_argument("--quiet", type=float, default=3.0, help="seconds without change before a result is taken")
    options = parser.parse_args()
    # Whoever ends us also ends the operator and the clusters that we started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if not (options.suite / "check.py").exists():
        print(f"conformance: skipped, there is no suite in {options.suite}")
        return 0
    ours: dict[str, dict[str, Any]] = yaml.safe_load((OURS / "profiles.yaml").read_text("utf-8"))
    theirs = yaml.safe_load((options.suite / "profiles.yaml").read_text("utf-8"))["profiles"]
    failed = [
        name
        for name in options.profiles or [name for name, profile in ours.items() if not profile.get("on_request")]
        if not run_profile(
            name, ours[name], theirs[name]["flags"], suite=Suite(options.suite, options.quiet), keep=options.keep
        )
    ]
    print(f"conformance: failed in {', '.join(failed)}" if failed else "conformance: all profiles passed")
    return 1 if failed else 0


def run_profile(name: str, ours: Mapping[str, Any], flags: Sequence[str], *, suite: Suite, keep: bool) -> bool:
    """Start a cluster and the operator, run the cases of a profile, stop both; True when all passed."""
    cases = chosen(suite.folder / "expected" / name, ours["left_out"])
    print(f"conformance: profile {name}, {len(cases)} cases", flush=True)
    with cluster(f"conformance-{name}", ours["addons"], keep=keep) as bed:
        if ours.get("one_by_one"):
            passed = [run_restricted(bed, case, name, flags, suite) for case in cases]
            return all(passed)
        prepare(bed, SYSTEM)
        with operator(bed, flags):
            return check(bed, suite, name, ["--jobs", "6", "--only", *cases])


def run_restricted(bed: Bed, case: str, profile: str, flags: Sequence[str], suite: Suite) -> bool:
    """Run one case with an operator that looks after the case's namespace only."""
    namespace = "case-" + "".join(random.choices(string.ascii_lowercase, k=6))  # noqa: S311 - only has to be new
    bed.kubectl("create", "namespace", namespace)
    prepare(bed, namespace)
    with operator(bed, [flag.replace("$NS", namespace) for flag in flags]):
        return check(bed, suite, profile, ["--namespace", namespace, "--only", case])


def chosen(expected: Path, left_out: Mapping[str, str]) -> list[str]:
    """The cases recorded for a profile, without those that are left out for a reason."""
    names = sorted(path.stem for path in expected.glob("*.yaml"))
    return [name for name in names if not any(fnmatch.fnmatchcase(name, pattern) for pattern in left_out)]


@contextmanager
def cluster(name: str, addons: str, *, keep: bool) -> Iterator[Bed]:
    """A local cluster until the block ends."""
    tool = [sys.executable, "-m", "cluster"]
    subprocess.run([*tool, "start", "--name", name, "--with", addons], cwd=ROOT, check=True)
    try:
        yield Bed(ROOT / ".cluster" / name)
    finally:
        if not keep:
            subprocess.run([*tool, "stop", "--name", name], cwd=ROOT, check=True)


def prepare(bed: Bed, namespace: str) -> None:
    """Make what the profiles' flags name: the Secret with a key, and the ClusterRoles."""
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": SECRET, "namespace": namespace},
        "data": {"private.key": base64.b64encode(b"x").decode()},
    }
    roles = [
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": role},
            "rules": [{"apiGroups": ["nvidia.com"], "resources": ["*"], "verbs": ["*"]}],
        }
        for role in ROLES
    ]
    items = {"apiVersion": "v1", "kind": "List", "items": [secret, *roles]}
    bed.kubectl("apply", "--server-side", "-f", "-", stdin=json.dumps(items))


@contextmanager
def operator(bed: Bed, flags: Sequence[str]) -> Iterator[None]:
    """The operator as a process of its own until the block ends."""
    port = free_port()
    own = ["--metrics-bind-address=0", f"--health-probe-bind-address=127.0.0.1:{port}"]
    command = [sys.executable, "-m", "dynamo_operator", "run", *own, *flags]
    environment = {**os.environ, "KUBECONFIG": str(bed.home / "operator.kubeconfig")}
    with (bed.home / "operator.log").open("ab") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            await_ready(process, port, bed.home / "operator.log")
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=45)


def await_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Return when the operator says that it is ready; SystemExit with the end of its log when it does not."""
    end = time.monotonic() + READY_WITHIN
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.3)
    tail = "\n".join(log.read_text("utf-8", errors="replace").splitlines()[-15:])
    raise SystemExit(f"conformance: the operator did not become ready; {log} ends with\n{tail}")


def free_port() -> int:
    """A port of this machine that nobody uses right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def check(bed: Bed, suite: Suite, profile: str, arguments: Sequence[str]) -> bool:
    """Run the suite's own comparison; True when every case passed, those that failed in a second run by themselves.

    A result is taken when nothing has moved for some seconds, which a busy machine can feign.
    """
    failed = compare(bed, suite, profile, arguments)
    if not failed:
        return True
    print(f"conformance: once more, one at a time and with more patience: {', '.join(failed)}", flush=True)
    kept = arguments[: arguments.index("--only")]
    patient = Suite(suite.folder, 2 * suite.quiet)
    return not compare(bed, patient, profile, [*kept, "--jobs", "1", "--only", *failed])


def compare(bed: Bed, suite: Suite, profile: str, arguments: Sequence[str]) -> list[str]:
    """One run of the suite's comparison, its words passed on; the names of the cases that failed."""
    command = [sys.executable, "check.py", "--profile", profile, "--deviations", str(OURS / "deviations.yaml")]
    command += ["--quiet", str(suite.quiet), *arguments]
    environment = {**os.environ, "KUBECONFIG": str(bed.home / "kubeconfig"), "PYTHONUNBUFFERED": "1"}
    failed: list[str] = []
    with subprocess.Popen(command, cwd=suite.folder, env=environment, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None  # noqa: S101 - asked for above
        for line in run.stdout:
            # What one case does not need another one does.
            if not line.startswith("unused deviation"):
                print(line, end="", flush=True)
            if line.startswith("FAIL "):
                failed.append(line.split()[1].rstrip(":"))
    return failed or ([] if run.returncode == 0 else ["*"])


if __name__ == "__main__":
    sys.exit(main())
