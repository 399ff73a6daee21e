"""One setting: its names on the command line and in the file, how its text is read, what it is for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, dataclass, field, fields
from typing import Any, TypeVar

from dynamo_operator.settings.duration import Duration, parse_duration

T = TypeVar("T")

_TRUE = {"1", "t", "T", "true", "TRUE", "True"}
_FALSE = {"0", "f", "F", "false", "FALSE", "False"}
_KEY = "setting"


@dataclass(frozen=True, slots=True)
class Row:
    """A setting as every reader of the table sees it.

    ``names`` are the flags without dashes, the one of release 0.9 first; ``path`` is the dotted key in the file.
    ``parse`` turns text into the value and raises ValueError.
    """

    attribute: str
    names: tuple[str, ...]
    path: str
    default: Any
    says: str
    parse: Callable[[str], Any]

    @property
    def boolean(self) -> bool:
        """True when the flag stands alone, without a value."""
        return isinstance(self.default, bool)


def setting(
    default: T, names: str, path: str, says: str, *, parse: Callable[[str], T] | None = None
) -> T:  # the type of the dataclass field, which is what a type checker has to see
    """A dataclass field with the setting's row in its metadata; ``names`` are separated by blanks."""
    reader: Callable[[str], Any] = parse or _reader_of(default)
    return field(default=default, metadata={_KEY: (tuple(names.split()), path, says, reader)})


def rows_of(settings: type[Any]) -> tuple[Row, ...]:
    """The table of a settings class, in the order of its fields."""
    return tuple(_row(one) for one in fields(settings) if _KEY in one.metadata)


def one_of(*words: str) -> Callable[[str], str]:
    """A parser that accepts the given words only."""

    def parse(text: str) -> str:
        """The word itself."""
        if text not in words:
            raise ValueError(f'invalid value "{text}": use one of {", ".join(words)}')
        return text

    return parse


def parse_boolean(text: str) -> bool:
    """Go's words for true and false (specification: platform.md 2.4)."""
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise ValueError(f'invalid boolean value "{text}": use true or false')


def parse_integer(text: str) -> int:
    """A whole number above zero."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise ValueError(f'invalid number "{text}": use a whole number above 0')
    return int(text)


def _reader_of(default: object) -> Callable[[str], Any]:
    """The parser for the type of a default."""
    if isinstance(default, bool):
        return parse_boolean
    if isinstance(default, int):
        return parse_integer
    if isinstance(default, Duration):
        return parse_duration
    return str


def _row(one: Field[Any]) -> Row:
    """A dataclass field as a row."""
    names, path, says, reader = one.metadata[_KEY]
    return Row(one.name, names, path, one.default, says, reader)
