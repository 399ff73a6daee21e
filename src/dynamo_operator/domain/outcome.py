"""The two outcomes of a reconcile that are not success and not a fault, and what is wrong with specs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dynamo_operator.domain.manifest import Child


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that is wrong with what a user wrote.

    ``path`` is the field path (``spec.services[Worker].replicas``), empty where the message carries it.
    ``reason`` is a stable snake_case code that metrics and tests use (``missing_field``).
    """

    message: str
    path: str = ""
    reason: str = "invalid_spec"


@dataclass(frozen=True, slots=True)
class Doubt:
    """Something in an accepted spec that cannot work, or not as it reads.

    ``path`` is the field, ``text`` says what is wrong and what to do. ``stops``: nothing is made until it is mended.
    """

    path: str
    text: str
    stops: bool = False

    @property
    def message(self) -> str:
        """What users read."""
        return f"{self.path}: {self.text}"


class Rejected(Exception):  # noqa: N818 - an outcome of checking, not an error of ours
    """The spec cannot be carried out; only another spec helps, so nothing retries."""

    def __init__(self, *violations: Violation) -> None:
        self.violations = violations
        super().__init__("\n".join(v.message for v in violations))


class Unrenderable(Exception):  # noqa: N818
    """The spec passed validation, yet no object can be made from it (upstream: a reconcile error).

    The text is what users see in a condition; upstream wraps such errors outermost first. ``made`` are the children
    that come before the one that cannot be made: they are to be applied, and nothing is to be pruned.
    """

    def __init__(self, text: str, made: Sequence[Child] = ()) -> None:
        self.made = tuple(made)
        super().__init__(text)

    def within(self, *contexts: str) -> Unrenderable:
        """The same, said with the given contexts in front (outermost first)."""
        return Unrenderable(": ".join([*contexts, str(self)]), self.made)

    def after(self, made: Sequence[Child]) -> Unrenderable:
        """The same, said after the given children were made."""
        return Unrenderable(str(self), made)


class Waiting(Exception):  # noqa: N818
    """Something outside must happen first; the next look is in ``retry_after`` seconds.

    ``lasting``: it will not happen by itself soon, so that users are to read of it.
    """

    def __init__(self, message: str, *, retry_after: float, lasting: bool = False) -> None:
        self.retry_after = retry_after
        self.lasting = lasting
        super().__init__(message)
