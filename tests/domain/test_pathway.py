"""Which way a graph takes."""

from __future__ import annotations

import pytest

from dynamo_operator.domain.pathway import Pathway, pathway_of, queue_of
from dynamo_operator.domain.site import Offers, Site

WAYS: list[tuple[str, str | None, bool, Pathway]] = [
    ("no Grove: components", None, False, Pathway.COMPONENTS),
    ("no Grove, though asked for: components", "true", False, Pathway.COMPONENTS),
    ("Grove, nothing said: cliques", None, True, Pathway.CLIQUES),
    ("Grove, said false in any spelling: components", "False", True, Pathway.COMPONENTS),
    ("Grove, said false with a blank: that is no false", " false", True, Pathway.CLIQUES),
    ("Grove, said anything else: cliques", "no", True, Pathway.CLIQUES),
]


@pytest.mark.parametrize(("said", "grove", "way"), [w[1:] for w in WAYS], ids=[w[0] for w in WAYS])
def test_pathway(said: str | None, grove: bool, way: Pathway) -> None:
    annotations = {} if said is None else {"nvidia.com/enable-grove": said}
    assert pathway_of(annotations, Site(offers=Offers(grove=grove))) is way


@pytest.mark.parametrize(
    ("said", "queue"),
    [
        pytest.param("", "dynamo", id="nothing: the platform's"),
        pytest.param(" \t", "dynamo", id="blanks: the platform's"),
        pytest.param(" mine ", "mine", id="a name with blanks around: the name"),
    ],
)
def test_queue(said: str, queue: str) -> None:
    assert queue_of({"nvidia.com/kai-scheduler-queue": said}) == queue
