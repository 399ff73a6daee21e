"""Settings from all their places: flags win over the environment, the environment over the file, that over defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dynamo_operator.settings.environment import parse_environment
from dynamo_operator.settings.file import parse_file
from dynamo_operator.settings.flags import Flags, parse_flags
from dynamo_operator.settings.rules import check_settings
from dynamo_operator.settings.values import Settings

USAGE = 2
REFUSED = 1


class SettingsError(Exception):
    """The operator cannot start with these settings: every reason, and the exit code that goes with them.

    ``code`` is 2 for a command line that cannot be read, 1 for everything else (specification: platform.md 1.5).
    """

    def __init__(self, problems: Sequence[str], code: int) -> None:
        self.problems = tuple(problems)
        self.code = code
        super().__init__("\n".join(problems))


def load_text(path: str) -> str:
    """The text of a settings file."""
    return Path(path).read_text(encoding="utf-8")


def parse_settings(
    arguments: Sequence[str],
    environ: Mapping[str, str],
    *,
    load: Callable[[str], str] = load_text,
    check: Callable[[Settings], Sequence[str]] = check_settings,
) -> Settings:
    """The settings that all places together say; raises SettingsError with every problem at once.

    ``check`` finds what is wrong with the whole; offline commands leave it out.
    """
    flags = parse_flags(arguments)
    if flags.problems:
        raise SettingsError(flags.problems, USAGE)
    return settle(flags, environ, load=load, check=check)


def settle(
    flags: Flags,
    environ: Mapping[str, str],
    *,
    load: Callable[[str], str],
    check: Callable[[Settings], Sequence[str]],
) -> Settings:
    """Settings from flags that were read without problems; raises SettingsError."""
    values, problems = _file_values(flags.config, load)
    settings = Settings(**{**values, **parse_environment(environ), **flags.values})
    problems += check(settings)
    if problems:
        raise SettingsError(problems, REFUSED)
    return settings


def _file_values(path: str, load: Callable[[str], str]) -> tuple[dict[str, Any], list[str]]:
    """What the settings file says; no file, no values."""
    if not path:
        return {}, []
    try:
        return parse_file(load(path), path)
    except OSError as error:
        return {}, [f"--config: cannot read {path}: {error.strerror or error}"]
    except UnicodeDecodeError:
        return {}, [f"--config: {path} is not text in UTF-8"]
