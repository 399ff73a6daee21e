"""Names under Grove."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_operator.check.graph_deployment import graph_violations, graph_warnings
from dynamo_operator.domain.site import Offers, Site
from tests.support.graphs import source

GROVE = Site(offers=Offers(grove=True))
NODES = {"multinode": {"nodeCount": 2}}
Services = dict[str, dict[str, Any]]

REFUSED: list[tuple[str, Services, list[str]]] = [
    ("as long as Grove allows: fine", {"a" * 44: {}}, []),
    (
        "one too long: how long is said",
        {"a" * 45: {}},
        [
            (
                f"spec.services[{'a' * 45}]: the names that make up its pods' names have 46 characters, "
                "Grove allows 45; shorten the key or metadata.name"
            )
        ],
    ),
    ("on several nodes the key counts twice: fine", {"a" * 20: NODES}, []),
    (
        "on several nodes the key counts twice: too long",
        {"a" * 21: NODES},
        [
            (
                f"spec.services[{'a' * 21}]: the names that make up its pods' names have 47 characters, "
                "Grove allows 45; shorten the key or metadata.name"
            )
        ],
    ),
    (
        "a service called 0: Grove's own Service has that name",
        {"0": {}},
        ["spec.services[0]: its Service would have the name of Grove's own, g-0; rename it"],
    ),
    (
        "keys that differ only in case: both are named",
        {"Work": {}, "work": {}},
        ["spec.services[work]: differs only in case from Work, which makes one PodClique of both; rename it"],
    ),
    (
        "a key that is the name of another's workers: both are named",
        {"W": NODES, "w-WKR": {}, "w-ldr": NODES},
        [("spec.services[w-WKR]: is what the service W on several nodes calls one of its PodCliques; rename it")],
    ),
    ("nothing at all: the general rules come first", {}, ["spec.services must have at least one service"]),
]


@pytest.mark.parametrize(("services", "texts"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_refused(services: Services, texts: list[str]) -> None:
    stored = source({"services": services})
    assert [violation.message for violation in graph_violations(stored, GROVE)] == texts


def test_not_under_grove_any_name_will_do() -> None:
    spec = {"services": {"0": {}, "a" * 60: {}}}
    assert graph_violations(source(spec), Site()) == ()
    assert graph_violations(source(spec, annotations={"nvidia.com/enable-grove": "false"}), GROVE) == ()


def test_a_key_ends_in_another_a_warning_names_both() -> None:
    stored = source({"services": {"D2": {}, "Frontend2": {}, "other": {}}})
    (warning,) = graph_warnings(stored, GROVE)
    assert warning.startswith("spec.services[Frontend2]: ends in the name of the service D2; Grove may take")
    assert graph_warnings(stored, Site()) == []
