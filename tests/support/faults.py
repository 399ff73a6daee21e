"""What the fault proxy does to which requests, as values."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})


@dataclass(frozen=True, slots=True)
class Match:
    """Which requests a rule is for; what is left out matches all.

    ``path`` is a regular expression searched in path and query (`/pods\\?.*watch=`). ``nth`` counts, from 1, the
    requests that match all the rest: a number, or a range of them.
    """

    methods: frozenset[str] = frozenset()
    path: str = ""
    watch: bool | None = None
    nth: int | range | None = None

    def covers(self, method: str, path: str, *, watch: bool) -> bool:
        """Whether a request matches, its count aside."""
        return (
            (not self.methods or method in self.methods)
            and re.search(self.path, path) is not None
            and self.watch in (None, watch)
        )

    def fires(self, count: int) -> bool:
        """Whether the count-th matching request is meant."""
        if isinstance(self.nth, range):
            return count in self.nth
        return self.nth in (None, count)


@dataclass(frozen=True, slots=True)
class Drop:
    """The connection breaks without an answer: before the API server sees the request, or after it has answered."""

    forwarded: bool = False


@dataclass(frozen=True, slots=True)
class Delay:
    """The request is forwarded only after some seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Answer:
    """The client gets this status instead of the API server's; ``forwarded``: although the request took effect."""

    status: int
    retry_after: int | None = None
    forwarded: bool = False


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The API server gets the request twice; the client gets the second answer."""


@dataclass(frozen=True, slots=True)
class CutWatch:
    """A watch's connection breaks after so many events (bookmarks count)."""

    after: int = 0


@dataclass(frozen=True, slots=True)
class StallWatch:
    """A watch says nothing more after so many events, yet stays open."""

    after: int = 0


@dataclass(frozen=True, slots=True)
class ExpireWatch:
    """A watch ends after so many events with an ERROR event that carries 410."""

    after: int = 0


@dataclass(frozen=True, slots=True)
class Kill:
    """The process is killed as it makes the request: before the API server sees it, or after it took effect."""

    pid: int | Callable[[], int]
    forwarded: bool = False

    def victim(self) -> int:
        """The pid to kill now."""
        return self.pid() if callable(self.pid) else self.pid


WatchFault = CutWatch | StallWatch | ExpireWatch
Fault = Drop | Delay | Answer | Duplicate | Kill | WatchFault


@dataclass(frozen=True, slots=True)
class Rule:
    """A fault for the requests that match."""

    match: Match
    fault: Fault


@dataclass(slots=True)
class Seen:
    """A request as the proxy saw it; ``status`` is what the client got, None where it got no answer (yet)."""

    method: str
    path: str
    watch: bool
    fault: Fault | None = None
    status: int | None = None
    forwards: int = 0

    @property
    def is_write(self) -> bool:
        """Whether the request was to change something."""
        return self.method in WRITES
