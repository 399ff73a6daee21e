"""Flags as Go programs read them, so that argument lists made for release 0.9 mean the same (platform.md 2.4)."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dynamo_operator.settings.row import Row, parse_boolean
from dynamo_operator.settings.values import TABLE

CONFIG = "config"
HELP = frozenset({"h", "help"})
_BY_NAME = {name: row for row in TABLE for name in row.names}


@dataclass(slots=True)
class Flags:
    """What a command line said: ``values`` by attribute, the settings file, a wish for help, and what is wrong."""

    values: dict[str, Any] = field(default_factory=dict[str, Any])
    config: str = ""
    help: bool = False
    problems: list[str] = field(default_factory=list[str])


def parse_flags(arguments: Sequence[str]) -> Flags:
    """Read a command line to its end; problems are collected, not raised."""
    flags = Flags()
    words = list(arguments)
    while words:
        word = words.pop(0)
        if word == "--":
            flags.problems += [_stray(rest) for rest in words]
            break
        if len(word) < 2 or not word.startswith("-"):
            flags.problems.append(_stray(word))
            continue
        _read_flag(flags, word, words)
    return flags


def _read_flag(flags: Flags, word: str, words: list[str]) -> None:
    """Read one flag, taking its value from ``words`` where Go would."""
    name, equals, value = word.removeprefix("-").removeprefix("-").partition("=")
    if not name or name.startswith("-"):
        flags.problems.append(f"bad flag syntax: {word}")
    elif name in HELP:
        flags.help = True
    elif name == CONFIG:
        flags.config = _value(flags, name, value if equals else None, words)
    elif name not in _BY_NAME:
        flags.problems.append(_unknown(name))
        if not equals and words and not words[0].startswith("-"):
            words.pop(0)
    elif _BY_NAME[name].boolean:
        _store(flags, name, value if equals else "true")
    else:
        before = len(flags.problems)
        text = _value(flags, name, value if equals else None, words)
        if len(flags.problems) == before:
            _store(flags, name, text)


def _value(flags: Flags, name: str, given: str | None, words: list[str]) -> str:
    """The value after the equals sign, else the next word; its absence is a problem."""
    if given is not None:
        return given
    if not words:
        flags.problems.append(f"flag needs a value: --{name}")
        return ""
    return words.pop(0)


def _store(flags: Flags, name: str, text: str) -> None:
    """Parse a value and keep it; a later one of the same setting wins."""
    row: Row = _BY_NAME[name]
    try:
        flags.values[row.attribute] = row.parse(text)
    except ValueError as error:
        flags.problems.append(f"--{name}: {error}")


def _unknown(name: str) -> str:
    """The message for a flag that does not exist, with the nearest one that does."""
    near = difflib.get_close_matches(name, [*_BY_NAME, CONFIG], n=1)
    return f"unknown flag --{name}" + (f"; did you mean --{near[0]}?" if near else "; --help lists all flags")


def _stray(word: str) -> str:
    """The message for a word that belongs to no flag; a boolean's detached value is the usual cause."""
    try:
        parse_boolean(word)
    except ValueError:
        return f'unexpected word "{word}": settings are given as --name=value'
    return f'unexpected word "{word}": a boolean flag takes its value after an equals sign, as in --name={word}'
