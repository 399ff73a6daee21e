"""Named health checks and the text that a probe reads (specification: platform.md 4)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final, NamedTuple

Check = Callable[[], str | None]
"""Says what is wrong, None when nothing is. Must not block."""


class Answer(NamedTuple):
    """HTTP status and body of a probe's answer."""

    status: int
    text: str


NO_SUCH_CHECK: Final = Answer(404, "404 page not found\n")


def _ping() -> str | None:
    return None


class Health:
    """The checks behind one probe; without any, there is one called ``ping`` that always succeeds."""

    def __init__(self, checks: Mapping[str, Check] | None = None) -> None:
        self._checks: dict[str, Check] = dict(checks or {})

    def add(self, name: str, check: Check) -> None:
        """Add or replace a check."""
        self._checks[name] = check

    def failures(self) -> dict[str, str]:
        """What fails right now, with the reason that the probe withholds."""
        outcomes = {name: _outcome(check) for name, check in sorted(self._present().items())}
        return {name: reason for name, reason in outcomes.items() if reason is not None}

    def report(self, *, verbose: bool = False, exclude: Collection[str] = ()) -> Answer:
        """The answer for all checks but the excluded; a failure is always told check by check."""
        checks = self._present()
        failures = {name for name in self.failures() if name not in exclude}
        if not failures and not verbose:
            return Answer(200, "ok")
        lines = [_line(name, excluded=name in exclude, failed=name in failures) for name in sorted(checks)]
        unknown = [f'"{name}"' for name in sorted(exclude) if name not in checks]
        if unknown:
            lines.append(f"warn: some health checks cannot be excluded: no matches for {', '.join(unknown)}")
        lines.append(f"healthz check {'failed' if failures else 'passed'}")
        return Answer(500 if failures else 200, "\n".join(lines) + "\n")

    def report_one(self, name: str) -> Answer:
        """The answer of a single check; it tells the reason, as somebody asked for this one."""
        check = self._present().get(name)
        if check is None:
            return NO_SUCH_CHECK
        reason = _outcome(check)
        return Answer(200, "ok") if reason is None else Answer(500, f"internal server error: {reason}\n")

    def _present(self) -> dict[str, Check]:
        return self._checks or {"ping": _ping}


def _line(name: str, *, excluded: bool, failed: bool) -> str:
    if excluded:
        return f"[+]{name} excluded: ok"
    return f"[-]{name} failed: reason withheld" if failed else f"[+]{name} ok"


def _outcome(check: Check) -> str | None:
    try:
        return check()
    except Exception as error:  # noqa: BLE001 - a check that breaks is a check that fails
        return f"{type(error).__name__}: {error}"
