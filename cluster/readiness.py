"""Waits until programs answer; gives up as soon as one has died, or at a deadline."""

from __future__ import annotations

import http.client
import ssl
import threading
import time
import urllib.request
from collections.abc import Callable

from cluster.errors import ClusterError
from cluster.processes import has_ended, last_lines
from cluster.programs import HEALTH_PATHS, Site

START_SECONDS = 60.0
"""How long one program may take; far more than a loaded machine needs."""

_PAUSE_SECONDS = 0.05
_REQUEST_SECONDS = 5.0


def answers(site: Site, stem: str) -> bool:
    """Whether a program says that it is ready."""
    # Whose certificate it is does not matter here: the question goes to a port of our own on loopback.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    try:
        with opener.open(site.url(stem) + HEALTH_PATHS[stem], timeout=_REQUEST_SECONDS) as response:
            return response.status == 200
    except (OSError, http.client.HTTPException):  # URLError is an OSError
        return False


def wait_ready(site: Site, stem: str, pid: int) -> None:
    """Return when the program is ready. Raises ClusterError with the end of its log when it never will be."""
    deadline = time.monotonic() + START_SECONDS
    wait_until(lambda: has_ended(pid) or answers(site, stem), deadline)
    if has_ended(pid):
        raise ClusterError(f"{stem} ended while it was starting; {last_lines(site.layout, stem)}")
    if time.monotonic() >= deadline:
        raise ClusterError(f"{stem} was not ready within {START_SECONDS:.0f} s; {last_lines(site.layout, stem)}")


def wait_until(condition: Callable[[], bool], deadline: float) -> None:
    """Return when the condition holds or the monotonic clock has reached the deadline."""
    pause = threading.Event()
    while not condition() and time.monotonic() < deadline:
        pause.wait(_PAUSE_SECONDS)
