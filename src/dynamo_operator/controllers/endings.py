"""The ways in which a pass over an object ends: what its status says then, and whether there is another pass."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dynamo_operator.domain.outcome import Rejected, Unrenderable, Waiting
from dynamo_operator.runtime.controller import DONE, Result
from dynamo_operator.runtime.errors import ApiError

Status = Mapping[str, Any]


class StepError(Exception):
    """A step of a pass failed: the text that users read, and what the API server answered."""

    def __init__(self, text: str, error: ApiError) -> None:
        self.error = error
        super().__init__(text)


@dataclass(frozen=True, slots=True)
class Endings:
    """What the status of one object says of each way to end, in its kind's own words; ``submit`` has it written."""

    submit: Callable[[Status], object]
    rejected: Callable[[Rejected], Status]
    waiting: Callable[[str], Status]
    failed: Callable[[str], Status]
    text_of: Callable[[StepError | ApiError], str]


async def concluded(work: Awaitable[Result], endings: Endings) -> Result:
    """The result of a pass; what the API server refused is raised after it was told."""
    try:
        return await work
    except Waiting as waiting:
        if waiting.lasting:
            endings.submit(endings.waiting(str(waiting)))
        return Result(requeue_after=waiting.retry_after)
    except Rejected as rejected:  # only a new spec helps, so no retry
        endings.submit(endings.rejected(rejected))
    except Unrenderable as problem:
        endings.submit(endings.failed(str(problem)))
    except StepError as problem:
        endings.submit(endings.failed(endings.text_of(problem)))
        raise problem.error from problem
    except ApiError as error:
        endings.submit(endings.failed(endings.text_of(error)))
        raise
    return DONE
