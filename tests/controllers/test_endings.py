"""Every way in which a pass may end is told once, and retried where that helps."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_operator.controllers.endings import Endings, StepError, concluded
from dynamo_operator.domain.outcome import Rejected, Unrenderable, Violation, Waiting
from dynamo_operator.runtime.controller import DONE, Result
from dynamo_operator.runtime.errors import ApiError, Forbidden

REFUSED = Forbidden(message="no")


async def end(how: Exception | Result) -> Result:
    if isinstance(how, Exception):
        raise how
    return how


@pytest.mark.parametrize(
    ("how", "told", "result"),
    [
        pytest.param(Result(requeue_after=2.0), [], Result(requeue_after=2.0), id="well: its own result"),
        pytest.param(Waiting("w", retry_after=1.0), [], Result(requeue_after=1.0), id="a moment: nothing told"),
        pytest.param(
            Waiting("w", retry_after=1.0, lasting=True), ["waiting w"], Result(requeue_after=1.0), id="long: told"
        ),
        pytest.param(Rejected(Violation("bad")), ["rejected bad"], DONE, id="refused spec: told, no retry"),
        pytest.param(Unrenderable("odd"), ["failed odd"], DONE, id="spec that leads nowhere: told, no retry"),
        pytest.param(
            StepError("step", REFUSED), ["failed said step"], REFUSED, id="failed step: told, its cause raised"
        ),
        pytest.param(REFUSED, ["failed said no"], REFUSED, id="API error: told, raised"),
    ],
)
async def test_end(how: Exception | Result, told: list[str], result: Result | ApiError) -> None:
    statuses: list[Any] = []
    endings = Endings(
        submit=statuses.append,
        rejected=lambda rejected: {"": f"rejected {rejected}"},
        waiting=lambda text: {"": f"waiting {text}"},
        failed=lambda text: {"": f"failed {text}"},
        text_of=lambda problem: f"said {problem.message if isinstance(problem, ApiError) else problem}",
    )
    try:
        found: Result | ApiError = await concluded(end(how), endings)
    except ApiError as error:
        found = error
    assert ([status[""] for status in statuses], found) == (told, result)
