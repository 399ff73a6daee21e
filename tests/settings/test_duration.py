"""Durations are read and written as Go does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamo_operator.settings.duration import Duration, parse_duration


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("300ms", "300ms", id="milliseconds: stay milliseconds"),
        pytest.param("10s", "10s", id="seconds: stay seconds"),
        pytest.param("15m", "15m0s", id="minutes: seconds are added"),
        pytest.param("4h", "4h0m0s", id="hours: minutes and seconds are added"),
        pytest.param("1h30m", "1h30m0s", id="several units: add up"),
        pytest.param("90m", "1h30m0s", id="many minutes: become hours"),
        pytest.param("1.5s", "1.5s", id="a fraction: is kept"),
        pytest.param(".5s", "500ms", id="less than a second: the largest unit with a whole part"),
        pytest.param("2us", "2µs", id="microseconds: in Go's letter"),
        pytest.param("7ns", "7ns", id="nanoseconds: the smallest unit"),
        pytest.param("-15m", "-15m0s", id="negative: the sign leads"),
        pytest.param("0", "0s", id="a bare zero: is allowed"),
    ],
)
def test_reading_and_writing(text: str, said: str) -> None:
    assert str(parse_duration(text)) == said


@pytest.mark.parametrize("text", ["", "10", "s", "1x", "1 s", "1h 30m", "--1s", "1e3s"])
def test_anything_else_is_refused_with_the_accepted_form(text: str) -> None:
    with pytest.raises(ValueError, match="such as 300ms, 10s, 15m or 1h30m"):
        parse_duration(text)


@given(st.integers(min_value=-(10**18), max_value=10**18))
def test_what_is_written_reads_as_the_same(nanoseconds: int) -> None:
    assert parse_duration(str(Duration(nanoseconds))) == Duration(nanoseconds)


def test_seconds_are_a_float() -> None:
    assert parse_duration("1500ms").seconds == 1.5
