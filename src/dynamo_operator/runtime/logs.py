"""Log records on standard error, as JSON or for people, under Go operators' keys (specification: platform.md 12)."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TextIO

import structlog
from structlog.typing import Processor

Format = Literal["json", "console"]

_LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}

# Log collectors read these keys; structlog's own names differ.
_RENAMED: Final = {"event": "msg", "timestamp": "ts", "exception": "stacktrace"}
_FIRST: Final = ("level", "ts", "logger", "msg")


def parse_level(text: str) -> int:
    """The number of a level's name. Raises ValueError for a name that is none."""
    try:
        return _LEVELS[text.strip().lower()]
    except KeyError:
        raise ValueError(f"log level {text!r} is none of {', '.join(_LEVELS)}") from None


@dataclass(slots=True)
class Levels:
    """From which level on records are written; may be changed while the process runs.

    ``loggers`` holds levels of single loggers and of all below them (``setup``, ``admission``).
    """

    default: int = 20
    loggers: dict[str, int] = field(default_factory=dict[str, int])

    def of(self, logger: str) -> int:
        """The level that counts for a logger."""
        while logger:
            level = self.loggers.get(logger)
            if level is not None:
                return level
            logger = logger.rpartition(".")[0]
        return self.default

    def drop_below(self, _: Any, method: str, record: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        """Structlog processor that ends records of lower levels."""
        if _LEVELS.get(method, 40) < self.of(record.get("logger", "")):
            raise structlog.DropEvent
        return record


def configure_logs(*, form: Format = "json", levels: Levels | None = None, stream: TextIO | None = None) -> Levels:
    """Send all records of structlog and of the standard library to one stream; returns the levels, to be changed."""
    levels = levels or Levels()
    destination = stream or sys.stderr
    processors: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        add_logger_name,
        levels.drop_below,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="%Y-%m-%dT%H:%M:%SZ", utc=True),
        structlog.processors.format_exc_info,
        render_json if form == "json" else render_console,
    ]
    structlog.configure(
        processors=processors,
        logger_factory=lambda *names: _Named(destination, names[0] if names else ""),
        wrapper_class=structlog.make_filtering_bound_logger(0),
        cache_logger_on_first_use=False,
    )
    logging.basicConfig(handlers=[_Forwarder()], level=logging.DEBUG, force=True)
    return levels


def add_logger_name(logger: Any, _: str, record: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Structlog processor that tells which logger writes: the name given to ``structlog.get_logger``."""
    name = getattr(logger, "name", "")
    if name:
        record.setdefault("logger", name)
    return record


def render_json(_: Any, __: str, record: Mapping[str, Any]) -> str:
    """One JSON object in a line, the standing keys first."""
    return json.dumps(_renamed(record), default=str, ensure_ascii=False)


def render_console(_: Any, __: str, record: Mapping[str, Any]) -> str:
    """Time, level, logger, message and the other keys as JSON, split by tabs; a stack trace in lines of its own."""
    keys = _renamed(record)
    stacktrace = keys.pop("stacktrace", "")
    parts = [keys.pop("ts", ""), str(keys.pop("level", "")).upper(), keys.pop("logger", ""), str(keys.pop("msg", ""))]
    if keys:
        parts.append(json.dumps(keys, default=str, ensure_ascii=False))
    lines = "\t".join(part for part in parts if part)
    return f"{lines}\n{stacktrace}" if stacktrace else lines


def _renamed(record: Mapping[str, Any]) -> dict[str, Any]:
    keys = {_RENAMED.get(name, name): value for name, value in record.items()}
    return {name: keys[name] for name in _FIRST if name in keys} | keys


class _Named(structlog.WriteLogger):
    """Writes finished lines, and knows the name that it was asked for by."""

    def __init__(self, file: TextIO, name: str) -> None:
        super().__init__(file)
        self.name = name


class _Forwarder(logging.Handler):
    """Hands records of the standard library (asyncio, aiohttp) to structlog."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record; libraries' debug records are below what anybody asked for."""
        if record.levelno < logging.INFO:
            return
        name = next((name for name, level in reversed(_LEVELS.items()) if record.levelno >= level), "info")
        log = structlog.get_logger(record.name)
        getattr(log, name)(record.getMessage(), **({"exc_info": record.exc_info} if record.exc_info else {}))
