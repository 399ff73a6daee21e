"""Warnings about what cannot work."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_operator.check.graph_advice import graph_advice
from tests.support.graphs import source

NO_LABEL = "is no DNS label, so no Service can be made; use letters, digits and dashes in the key"
NO_CLAIM = "is not in spec.pvcs; pods wait until a claim of that name exists"
CASES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("nothing odd: nothing to say", {"services": {"Main": {"resources": {"limits": {"cpu": "500m"}}}}}, []),
    (
        "a claim named twice: said once",
        {"services": {"a": {}}, "pvcs": [{"name": "x"}, {"name": "x"}]},
        ["spec.pvcs names the claim 'x' more than once; only the first entry that creates it counts"],
    ),
    (
        "two frontends: both named",
        {"services": {"a": {"componentType": "frontend"}, "b": {"componentType": "frontend"}}},
        ["spec.services has 2 services of componentType frontend (a b): their Services share all pods"],
    ),
    (
        "keys that differ in case: both named",
        {"services": {"A": {}, "a": {}}},
        ["spec.services has keys that differ only in case (A a): they overwrite each other's objects"],
    ),
    (
        "a key with a dot: no Service can be made",
        {"services": {"a.b": {}}},
        [f"spec.services[a.b]: 'g-a.b' {NO_LABEL}"],
    ),
    (
        "a long key: the name is too long",
        {"services": {"a" * 60: {}}},
        [
            (
                f"spec.services[{'a' * 60}]: 'g-{'a' * 60}-p' is longer than 63 characters; "
                "shorten the graph's name or the key"
            )
        ],
    ),
    (
        "a mount of an unlisted claim without a path: both said",
        {
            "backendFramework": "sglang",
            "services": {"a": {"volumeMounts": [{"name": "v", "useAsCompilationCache": True}]}},
        },
        [
            f"spec.services[a].volumeMounts[0].name: 'v' {NO_CLAIM}",
            "spec.services[a].volumeMounts[0].mountPoint: sglang has no default compilation cache; give a path",
        ],
    ),
    (
        "a listed claim at a path: nothing to say",
        {"pvcs": [{"name": "v"}], "services": {"a": {"volumeMounts": [{"name": "v", "mountPoint": "/v"}]}}},
        [],
    ),
    (
        "amounts that are no quantities: each named",
        {"services": {"a": {"resources": {"requests": {"memory": "lots"}, "limits": {"custom": {"x/y": "z"}}}}}},
        [
            "spec.services[a].resources.requests.memory: 'lots' is no quantity; write for example 4, 500m or 32Gi",
            "spec.services[a].resources.limits.custom[x/y]: 'z' is no quantity; write for example 4, 500m or 32Gi",
        ],
    ),
    (
        "an unknown strategy: it has no effect",
        {"services": {"a": {"annotations": {"nvidia.com/deployment-strategy": "Blue"}}}},
        [
            (
                "spec.services[a].annotations[nvidia.com/deployment-strategy]: 'Blue' has no effect; "
                "use RollingUpdate or Recreate"
            )
        ],
    ),
]


@pytest.mark.parametrize(("spec", "advice"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_advice(spec: dict[str, Any], advice: list[str]) -> None:
    assert graph_advice(source(spec)) == advice
