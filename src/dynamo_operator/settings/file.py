"""The settings file: YAML with one key per setting; nothing in it is ignored."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, cast

import yaml

from dynamo_operator.settings.row import Row
from dynamo_operator.settings.values import TABLE

_BY_PATH = {row.path: row for row in TABLE}
_SECTIONS = {".".join(path.split(".")[:depth]) for path in _BY_PATH for depth in range(1, path.count(".") + 1)}


def parse_file(text: str, origin: str) -> tuple[dict[str, Any], list[str]]:
    """Values by attribute, and everything that is wrong; ``origin`` names the file in messages."""
    try:
        document: object = yaml.safe_load(text)
    except yaml.YAMLError as error:
        return {}, [f"{origin}: not valid YAML: {' '.join(str(error).split())}"]
    except (ValueError, RecursionError):
        return {}, [f"{origin}: not valid YAML: a number has too many digits, or the file is nested too deep"]
    if document is None:
        return {}, []
    if not isinstance(document, dict):
        return {}, [f"{origin}: must hold a map of settings"]
    values: dict[str, Any] = {}
    problems: list[str] = []
    _read_section(cast("Mapping[object, object]", document), "", values, problems)
    return values, [f"{origin}: {problem}" for problem in problems]


def _read_section(section: Mapping[object, object], prefix: str, values: dict[str, Any], problems: list[str]) -> None:
    """Read one map and the maps in it."""
    for key, value in section.items():
        path = f"{prefix}.{key}" if prefix else str(key)
        if path in _BY_PATH:
            _read_value(_BY_PATH[path], value, values, problems)
        elif path not in _SECTIONS:
            problems.append(_unknown(path))
        elif isinstance(value, dict):
            _read_section(cast("Mapping[object, object]", value), path, values, problems)
        elif value is not None:
            problems.append(f"{path}: must be a map with keys such as {_example(path)}")


def _read_value(row: Row, value: object, values: dict[str, Any], problems: list[str]) -> None:
    """Keep one value if it has the setting's type; null means not given."""
    if value is None:
        return
    wanted = bool if row.boolean else int if isinstance(row.default, int) else str
    if type(value) is not wanted:
        problems.append(f"{row.path}: must be {_ARTICLES[wanted]}, not {_shown(value)}")
        return
    try:
        values[row.attribute] = value if row.boolean else row.parse(str(value))
    except ValueError as error:
        problems.append(f"{row.path}: {error}")


def _shown(value: object) -> str:
    """A value in a message, shortened."""
    text = hex(value) if type(value) is int else repr(value)  # a decimal number has a largest length in Python
    text = text if type(value) is not int or len(text) > 60 else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


_ARTICLES: Mapping[type, str] = {bool: "true or false", int: "a whole number", str: "text in quotes"}


def _unknown(path: str) -> str:
    """The message for a key that does not exist, with the nearest one that does."""
    near = difflib.get_close_matches(path, [*_BY_PATH, *_SECTIONS], n=1, cutoff=0.5)
    return f"unknown key {path}" + (f"; did you mean {near[0]}?" if near else "; see docs/reference/settings.md")


def _example(section: str) -> str:
    """The first setting of a section."""
    return next(path for path in _BY_PATH if path.startswith(section + "."))
