"""Log records as they are written."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from dynamo_operator.runtime.logs import Levels, configure_logs, parse_level


@pytest.fixture(autouse=True)
def _configuration() -> Iterator[None]:
    handlers, level = logging.root.handlers[:], logging.root.level
    yield
    structlog.reset_defaults()
    logging.root.handlers[:], logging.root.level = handlers, level


def test_json_standing_keys_come_first() -> None:
    configure_logs(stream=(stream := io.StringIO()))
    structlog.get_logger("setup").info("starting", port=8081)
    record = json.loads(stream.getvalue())
    assert list(record) == ["level", "ts", "logger", "msg", "port"]
    assert record | {"ts": ""} == {"level": "info", "ts": "", "logger": "setup", "msg": "starting", "port": 8081}


def test_json_error_with_its_place() -> None:
    configure_logs(stream=(stream := io.StringIO()))
    try:
        int("bug")
    except ValueError:
        structlog.get_logger().exception("failed", error="bug")
    assert "ValueError: invalid literal" in json.loads(stream.getvalue())["stacktrace"]


def test_console_parts_are_split_by_tabs_and_the_trace_follows() -> None:
    configure_logs(form="console", stream=(stream := io.StringIO()))
    structlog.get_logger("setup").info("starting", port=1)
    structlog.get_logger().error("failed", exc_info=ValueError("bug"))
    first, second, *rest = stream.getvalue().splitlines()
    assert first.split("\t")[1:] == ["INFO", "setup", "starting", '{"port": 1}']
    assert (second.split("\t")[1:], rest) == (["ERROR", "failed"], ["ValueError: bug"])


def test_levels_hold_per_logger_and_may_change() -> None:
    levels = configure_logs(levels=Levels(30, {"a.b": 10}), stream=(stream := io.StringIO()))
    for name in ("a", "a.b", "a.b.c"):
        structlog.get_logger(name).info(name)
    levels.default = parse_level("info")
    structlog.get_logger("a").info("later")
    assert [json.loads(line)["msg"] for line in stream.getvalue().splitlines()] == ["a.b", "a.b.c", "later"]


def test_standard_library_is_heard_but_not_its_debug_records() -> None:
    configure_logs(stream=(stream := io.StringIO()))
    logging.getLogger("asyncio").warning("slow %s", "thing")
    logging.getLogger("asyncio").debug("detail")
    try:
        int("bug")
    except ValueError:
        logging.getLogger("aiohttp").exception("failed")
    first, second = (json.loads(line) for line in stream.getvalue().splitlines())
    assert (first["level"], first["logger"], first["msg"]) == ("warning", "asyncio", "slow thing")
    assert "ValueError: invalid literal" in second["stacktrace"]


def test_unknown_level_is_refused() -> None:
    with pytest.raises(ValueError, match="log level 'loud' is none of debug, info, warning, error"):
        parse_level("loud")
