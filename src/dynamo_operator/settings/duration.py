"""Durations as Go writes them (specification: platform.md 2.4), exact to the nanosecond."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

_UNITS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60 * 1_000_000_000,
    "h": 3600 * 1_000_000_000,
}
_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
_WHOLE = re.compile(rf"[+-]?(?:{_PART.pattern})+")


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A length of time in nanoseconds; its text is Go's (``1h30m0s``)."""

    nanoseconds: int

    @property
    def seconds(self) -> float:
        """The same in seconds."""
        return self.nanoseconds / 1e9

    def __str__(self) -> str:
        sign, rest = ("-", -self.nanoseconds) if self.nanoseconds < 0 else ("", self.nanoseconds)
        return sign + (_below_a_second(rest) if rest < _UNITS["s"] else _clock(rest))


def parse_duration(text: str) -> Duration:
    """The duration that ``text`` says; raises ValueError with the accepted form."""
    if text in {"0", "+0", "-0"}:
        return Duration(0)
    if not _WHOLE.fullmatch(text):
        raise ValueError(f'invalid duration "{text}": write a number with a unit, such as 300ms, 10s, 15m or 1h30m')
    total = sum(int(Decimal(number) * _UNITS[unit]) for number, unit in _PART.findall(text))
    return Duration(-total if text.startswith("-") else total)


def _below_a_second(nanoseconds: int) -> str:
    """Go's text for less than a second: the largest unit that leaves a whole part."""
    if nanoseconds == 0:
        return "0s"
    unit = next(name for name in ("ms", "µs", "ns") if nanoseconds >= _UNITS[name])
    return _number(Decimal(nanoseconds) / _UNITS[unit]) + unit


def _clock(nanoseconds: int) -> str:
    """Go's text from a second up: hours and minutes where they lead, seconds always."""
    minutes, below = divmod(nanoseconds, _UNITS["m"])
    hours, minutes = divmod(minutes, 60)
    leading = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return leading + _number(Decimal(below) / _UNITS["s"]) + "s"


def _number(value: Decimal) -> str:
    """Decimal digits without trailing zeros or exponent."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
