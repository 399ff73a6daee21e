"""Starts and stops programs that outlive the command, each known by a pid file."""

from __future__ import annotations

import os
import select
import signal
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from cluster.errors import ClusterError
from cluster.layout import CHECKOUT, Layout

# Throwaway processes on a machine with memory to spare: collecting garbage less often saves a third of their CPU.
GARBAGE_PERCENT = "400"

_LAST_LINES = 12
_KILL_SECONDS = 10.0


def write_process(layout: Layout, stem: str, command: Sequence[str]) -> int:
    """Start a program in a session of its own, its output in logs/`stem`.log; returns and records its pid."""
    layout.logs.mkdir(parents=True, exist_ok=True)
    layout.pids.mkdir(parents=True, exist_ok=True)
    log = str(layout.logs / f"{stem}.log")
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    # Not subprocess: the program is meant to go on when this process ends.
    environment = {**os.environ, "GOGC": GARBAGE_PERCENT, "PYTHONPATH": str(CHECKOUT)}
    pid = os.posix_spawn(command[0], list(command), environment, file_actions=actions, setsid=True)
    (layout.pids / f"{stem}.pid").write_text(f"{pid}\n")
    return pid


def has_ended(pid: int) -> bool:
    """Whether a child of this process has ended.

    Its command line is no answer right after the start: it is empty for a moment.
    """
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def load_pids(layout: Layout) -> dict[str, int]:
    """Recorded pids that still belong to this cluster, by the stem of their file."""
    recorded: dict[str, int] = {}
    for file in sorted(layout.pids.glob("*.pid")):
        text = file.read_text().strip()
        if text.isdigit() and belongs(layout, int(text)):
            recorded[file.stem] = int(text)
    return recorded


def belongs(layout: Layout, pid: int) -> bool:
    """Whether a pid is alive and runs a program of this cluster: pids are reused, for instance after a reboot."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return False
    # The slash keeps a cluster `a` from taking a program of cluster `ab` for its own.
    return f"{layout.folder}/" in command


def delete_processes(layout: Layout) -> list[str]:
    """Kill every recorded program that is still ours and wait until it is gone; returns the stems of those."""
    running = load_pids(layout)
    for pid in running.values():
        _kill(pid)
    for file in layout.pids.glob("*.pid"):
        file.unlink()
    return list(running)


def _kill(pid: int) -> None:
    """SIGKILL: the data is thrown away, and an API server takes long to end politely."""
    with suppress(ProcessLookupError):
        handle = os.pidfd_open(pid)
        try:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            if not select.select([handle], [], [], _KILL_SECONDS)[0]:
                raise ClusterError(f"process {pid} does not end; end it by hand (`kill -9 {pid}`) and try again")
        finally:
            os.close(handle)
        # A child of this very process stays a zombie until it is waited for.
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def last_lines(layout: Layout, stem: str) -> str:
    """The end of a program's log and where the whole of it is, for an error message."""
    log = layout.logs / f"{stem}.log"
    if not log.exists():
        return f"there is no log {log}"
    with log.open(errors="replace") as lines:
        end = deque(lines, maxlen=_LAST_LINES)
    return f"the end of {log}:\n" + "".join(f"  {line.rstrip()[:400]}\n" for line in end)
