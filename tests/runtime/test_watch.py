import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamo_operator.runtime.backoff import Backoff, spread
from dynamo_operator.runtime.errors import Gone
from dynamo_operator.runtime.watch import LineSplitter, parse_event, parse_identity
from tests.support.peer import event, status


def lines(chunks: list[bytes]) -> list[bytes]:
    splitter = LineSplitter()
    return [line for chunk in chunks for line in splitter.feed(chunk)]


@given(st.lists(st.binary(min_size=1).filter(lambda b: b"\n" not in b and b.strip()), max_size=8), st.data())
def test_lines_do_not_depend_on_how_the_stream_was_cut(wanted: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in wanted)
    chunks: list[bytes] = []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        chunks.append(stream[:size])
        stream = stream[size:]
    assert lines(chunks) == wanted


def test_empty_lines_and_an_unfinished_rest_are_no_lines() -> None:
    assert lines([b"\n\r\n", b"a\n\n", b"rest"]) == [b"a"]


def test_a_huge_line_in_small_chunks_costs_linear_time() -> None:
    started = time.process_time()
    assert len(lines([b"x" * 64] * 100_000 + [b"\n"])[0]) == 6_400_000
    assert time.process_time() - started < 2


def test_a_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LineSplitter, "LONGEST_LINE", 10)
    with pytest.raises(ValueError, match="more than 10 bytes"):
        lines([b"12345678901"])


def test_events() -> None:
    parsed = parse_event(event("ADDED", {"metadata": {"name": "x"}}))
    assert parsed.type == "ADDED"
    assert parse_identity(parsed.object).name == "x"
    with pytest.raises(Gone, match="too old"):
        parse_event(event("ERROR", status(410, "Expired", "too old")))


@pytest.mark.parametrize("line", [b"garbage", b"[]", b'{"object": {}}', json.dumps({"type": 1}).encode()])
def test_what_is_no_event_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any of msgspec's
        parse_event(line)


def test_pauses_double_up_to_a_limit_and_start_over() -> None:
    backoff = Backoff(1.0, 4.0)
    for middle in (1, 2, 4, 4):
        assert middle * 0.8 <= backoff.pause() <= middle * 1.2
    backoff.reset()
    assert backoff.pause() <= 1.2
    assert len({spread(1.0) for _ in range(20)}) > 1
