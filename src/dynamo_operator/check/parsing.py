"""Turning stored JSON into API types; what has another shape is refused, with the field's path."""

from __future__ import annotations

import re
from typing import Final, TypeVar

import msgspec

from dynamo_operator.domain.manifest import Tree
from dynamo_operator.domain.outcome import Rejected, Violation
from dynamo_operator.domain.trees import copied

T = TypeVar("T")

_PLACE: Final = re.compile(r"(?P<what>.*?) - at `(?:key in )?\$(?P<path>.*)`", re.DOTALL)
_NUMBER: Final = re.compile(r"[+-]?([0-9]*\.?[0-9]*)")


def parse_spec(spec: Tree, wanted: type[T], path: str) -> T:
    """A spec, or part of one at a path, as an API type; members that are null count as absent. Raises Rejected."""
    try:
        return msgspec.convert(copied(spec), wanted)
    except msgspec.ValidationError as error:
        raise Rejected(_violation(str(error), path)) from error


def _violation(text: str, path: str) -> Violation:
    found = _PLACE.fullmatch(text)
    what, place = (found["what"], path + found["path"]) if found else (text, path)
    return Violation(f"{place}: {what[:1].lower()}{what[1:]}", path=place, reason="wrong_type")


def is_zero(quantity: str | int) -> bool:
    """True for a quantity that is absent (empty) or zero in any spelling (``0``, ``0Gi``, ``0.0``)."""
    text = str(quantity)
    number = _NUMBER.match(text)
    digits = number[1].replace(".", "") if number else ""
    return not text or (bool(digits) and not digits.strip("0"))
