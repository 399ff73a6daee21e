"""Whether a live object already says what we want, and the smallest patch from one tree to another."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, cast

QUANTITY_MEMBERS: Final = frozenset({"limits", "requests", "capacity", "sizeLimit", "storage", "divisor"})
"""Members under which the API server rewrites amounts ("1024Mi" is read back as "1Gi")."""

# An object may have more owners and finalizers than ours, and the API server merges these two lists for every kind.
OPEN_LISTS: Final = frozenset({"ownerReferences", "finalizers"})

_QUANTITY: Final = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:[eE]([+-]?\d+)|([KMGTPE]i|[numkMGTPE]))?")
_FACTORS: Final = (
    {"n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "k": Fraction(1000)}
    | {unit: Fraction(1000**power) for power, unit in enumerate("MGTPE", start=2)}
    | {f"{unit}i": Fraction(1024**power) for power, unit in enumerate("KMGTPE", start=1)}
)


@lru_cache(maxsize=4096)
def parse_quantity(text: str) -> Fraction | None:
    """The amount that a Kubernetes quantity stands for, None when the text is not one."""
    # A longer exponent or number is no real amount, and would only burn time.
    match = _QUANTITY.fullmatch(text) if len(text) <= 64 else None
    if match is None:
        return None
    number, exponent, suffix = match.groups()
    if exponent is not None:
        return Fraction(number) * Fraction(10) ** int(exponent) if abs(int(exponent)) <= 30 else None
    return Fraction(number) * _FACTORS.get(suffix or "", Fraction(1))


def covers(live: Any, desired: Any) -> bool:
    """True when the live JSON tree says all that the desired one says.

    Every member wanted must be there; members that nobody wanted (defaults, other writers) are fine. Lists we want are
    complete, so they match element by element. Empty values we want may be absent, as Kubernetes drops them; amounts
    are compared by value.
    """
    return _covers(live, desired, amounts=False)


def _covers(live: Any, desired: Any, *, amounts: bool) -> bool:
    if live is None:
        return _hollow(desired)
    if isinstance(desired, Mapping):
        return isinstance(live, Mapping) and _covers_members(
            cast("Mapping[str, Any]", live), cast("Mapping[str, Any]", desired), amounts=amounts
        )
    if isinstance(desired, list | tuple):
        wanted = cast("Sequence[Any]", desired)
        return isinstance(live, list) and _covers_elements(cast("list[Any]", live), wanted, amounts=amounts)
    return _same_scalar(live, desired) or (amounts and _same_amount(live, desired))


def _covers_members(live: Mapping[str, Any], desired: Mapping[str, Any], *, amounts: bool) -> bool:
    for name, value in desired.items():
        if name in OPEN_LISTS and isinstance(value, list):
            if not _covers_subset(live.get(name), cast("list[Any]", value)):
                return False
        elif not _covers(live.get(name), value, amounts=amounts or name in QUANTITY_MEMBERS):
            return False
    return True


def _covers_elements(live: Sequence[Any], desired: Sequence[Any], *, amounts: bool) -> bool:
    return len(live) == len(desired) and all(
        _covers(there, wanted, amounts=amounts) for there, wanted in zip(live, desired, strict=True)
    )


def _covers_subset(live: Any, desired: list[Any]) -> bool:
    there = cast("list[Any]", live) if isinstance(live, list) else []
    return all(any(covers(candidate, wanted) for candidate in there) for wanted in desired)


def _hollow(value: Any) -> bool:
    """True for what the API server may leave out: empty values, and objects made of nothing else."""
    if isinstance(value, Mapping):
        return all(_hollow(member) for member in cast("Mapping[str, Any]", value).values())
    return not value


def _same_scalar(live: Any, desired: Any) -> bool:
    # Python holds True and 1 for equal, JSON does not.
    return live == desired and isinstance(live, bool) == isinstance(desired, bool)


def _same_amount(live: Any, desired: Any) -> bool:
    if isinstance(live, bool) or isinstance(desired, bool):
        return False
    if not (isinstance(live, str | int | float) and isinstance(desired, str | int | float)):
        return False
    there = parse_quantity(str(live))
    return there is not None and there == parse_quantity(str(desired))


def merge_patch(current: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any] | None:
    """The JSON merge patch (RFC 7386) that turns ``current`` into ``wanted``, None when there is no difference.

    Members that vanished become null; a null in ``wanted`` means absent.
    """
    patch: dict[str, Any] = {}
    for name, value in wanted.items():
        if value is not None:
            _add_difference(patch, name, current.get(name), value)
    for name, value in current.items():
        if value is not None and wanted.get(name) is None:
            patch[name] = None
    return patch or None


def _add_difference(patch: dict[str, Any], name: str, current: Any, wanted: Any) -> None:
    if isinstance(current, Mapping) and isinstance(wanted, Mapping):
        difference = merge_patch(cast("Mapping[str, Any]", current), cast("Mapping[str, Any]", wanted))
        if difference is not None:
            patch[name] = difference
    elif not _same_tree(current, wanted):
        patch[name] = wanted


def _same_tree(left: Any, right: Any) -> bool:
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        pairs = cast("Sequence[Any]", left), cast("Sequence[Any]", right)
        return len(pairs[0]) == len(pairs[1]) and all(_same_tree(*pair) for pair in zip(*pairs, strict=True))
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        one, other = cast("Mapping[str, Any]", left), cast("Mapping[str, Any]", right)
        return one.keys() == other.keys() and all(_same_tree(value, other[name]) for name, value in one.items())
    return _same_scalar(left, right)
