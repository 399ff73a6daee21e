"""Outcomes of a reconcile."""

from __future__ import annotations

from dynamo_operator.domain.outcome import Waiting


def test_waiting_says_what_for_and_when_to_look_again() -> None:
    waiting = Waiting("not listed yet: podcliques", retry_after=1.0)
    assert (str(waiting), waiting.lasting, waiting.retry_after) == ("not listed yet: podcliques", False, 1.0)
