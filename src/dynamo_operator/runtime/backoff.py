"""Pauses that grow while something keeps failing."""

from __future__ import annotations

import random


def spread(seconds: float) -> float:
    """About so many seconds (80 to 120 %), so that many clients do not move in step."""
    return seconds * random.uniform(0.8, 1.2)  # noqa: S311 - spreads load, guards nothing


class Backoff:
    """Doubling pauses in seconds, each spread."""

    def __init__(self, first: float, longest: float) -> None:
        self._first = first
        self._longest = longest
        self._upcoming = first

    def pause(self) -> float:
        """How long to wait now; the next one is twice as long."""
        seconds = self._upcoming
        self._upcoming = min(seconds * 2, self._longest)
        return spread(seconds)

    def reset(self) -> None:
        """Start over: it worked."""
        self._upcoming = self._first
