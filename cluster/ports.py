"""Chooses ports that nothing listens on."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterable, Mapping

from cluster.errors import ClusterError

LOOPBACK = "127.0.0.1"
# Below the range that Linux hands out for outgoing connections, which could take a port before a server binds it.
_RANGE = range(20000, 32000)


def is_free(port: int) -> bool:
    """Whether a server could listen on the port of the loopback address now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def choose_ports(
    names: Iterable[str], *, fixed: Mapping[str, int], remembered: Mapping[str, int], avoid: Iterable[int] = ()
) -> dict[str, int]:
    """A free port for each name: the fixed one or an error, else the remembered one if free, else another.

    ``avoid`` are ports that other clusters remember. Raises ClusterError where a port cannot be had.
    """
    chosen: dict[str, int] = {}
    for name in names:
        taken = {*avoid, *chosen.values()}
        chosen[name] = _fixed(name, fixed[name]) if name in fixed else _free(remembered.get(name), taken)
    return chosen


def _fixed(name: str, port: int) -> int:
    if not is_free(port):
        raise ClusterError(
            f"port {port} for {name} is taken on {LOOPBACK}; stop what listens there (`ss -ltnp 'sport = :{port}'`), "
            "or leave the port out and a free one is chosen"
        )
    return port


def _free(remembered: int | None, taken: set[int]) -> int:
    if remembered is not None and remembered not in taken and is_free(remembered):
        return remembered
    candidates = random.sample(_RANGE, k=200)
    for port in candidates:
        if port not in taken and is_free(port):
            return port
    raise ClusterError(f"no free port between {_RANGE.start} and {_RANGE.stop} on {LOOPBACK}; stop some clusters")
