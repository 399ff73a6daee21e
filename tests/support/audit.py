"""What the operator asked of the API server, from the audit log of a local cluster."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.cluster import ControlPlane

WRITE_VERBS = frozenset({"create", "update", "patch", "delete", "deletecollection"})
_PAUSE_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Request:
    """A request that the API server has answered."""

    verb: str
    uri: str

    @property
    def is_write(self) -> bool:
        """Whether it was to change something."""
        return self.verb in WRITE_VERBS


class AuditLog:
    """The requests of the user `operator`, from the log's present end on; of the namespaces where any are given."""

    def __init__(self, plane: ControlPlane, *namespaces: str) -> None:
        if plane.audit_log is None:
            pytest.skip("the cluster is not ours: it has no audit log to count requests in")
        self._log: Path = plane.audit_log
        self._paths = [f"/namespaces/{namespace}/" for namespace in namespaces]
        self.forget()

    def forget(self) -> None:
        """Count from here on."""
        self._start = self._log.stat().st_size

    def requests(self) -> list[Request]:
        """What was asked since, watches and leases aside."""
        with self._log.open("rb") as log:
            log.seek(self._start)
            # The last line may still be on its way.
            lines = log.read().split(b"\n")[:-1]
        events = (json.loads(line) for line in lines if b'"operator"' in line)
        return [Request(event["verb"], event["requestURI"]) for event in events if self._counts(event)]

    def writes(self) -> list[Request]:
        """What was to change something since."""
        return [request for request in self.requests() if request.is_write]

    def quiet(self, seconds: float, within: float = 40.0, *, only: Callable[[Request], bool] = bool) -> None:
        """Return when nothing was asked for so many seconds; AssertionError with what goes on all the time."""
        deadline, since, before = time.monotonic() + within, time.monotonic(), -1
        while time.monotonic() - since < seconds:
            asked = [request for request in self.requests() if only(request)]
            if len(asked) != before:
                before, since = len(asked), time.monotonic()
            assert time.monotonic() < deadline, f"still asking after {within:.0f} s: {asked[-10:]}"
            time.sleep(_PAUSE_SECONDS)

    def _counts(self, event: dict[str, Any]) -> bool:
        uri = event["requestURI"]
        return (
            event["user"]["username"] == "operator"
            and event["verb"] != "watch"
            and "/leases" not in uri
            and (not self._paths or any(path in uri for path in self._paths))
        )
