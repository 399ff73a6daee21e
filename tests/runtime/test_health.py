"""Health checks and what probes read."""

import pytest

from dynamo_operator.runtime.health import Answer, Health


def broken() -> str | None:
    raise OSError("gone")


def health() -> Health:
    checks = Health({"webhook": lambda: None, "cache": lambda: "not synced"})
    checks.add("lease", broken)
    return checks


def test_no_check_there_is_ping() -> None:
    assert Health().report() == Answer(200, "ok")
    assert Health().report(verbose=True) == Answer(200, "[+]ping ok\nhealthz check passed\n")
    assert Health().report_one("ping") == Answer(200, "ok")


def test_checks_fail_each_is_told_without_reason() -> None:
    text = "[-]cache failed: reason withheld\n[-]lease failed: reason withheld\n[+]webhook ok\nhealthz check failed\n"
    assert health().report() == Answer(500, text)
    assert health().failures() == {"cache": "not synced", "lease": "OSError: gone"}


@pytest.mark.parametrize(
    ("exclude", "answer"),
    [
        pytest.param(["cache", "lease"], "ok", id="all that fail are excluded: ok"),
        pytest.param(
            ["cache", "x", "b"],
            "[+]cache excluded: ok\n[-]lease failed: reason withheld\n[+]webhook ok\n"
            'warn: some health checks cannot be excluded: no matches for "b", "x"\nhealthz check failed\n',
            id="unknown ones are excluded: a warning",
        ),
    ],
)
def test_exclusion(exclude: list[str], answer: str) -> None:
    assert health().report(exclude=exclude).text == answer


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("webhook", Answer(200, "ok")),
        ("cache", Answer(500, "internal server error: not synced\n")),
        ("nothing", Answer(404, "404 page not found\n")),
    ],
)
def test_single_check(name: str, answer: Answer) -> None:
    assert health().report_one(name) == answer
