"""A missing cluster role is said once, and costs no graph."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from structlog.testing import capture_logs

from dynamo_operator.controllers.cluster import Parent
from dynamo_operator.controllers.cluster_roles import ClusterRoles
from dynamo_operator.controllers.resources import GRAPHS
from dynamo_operator.domain.manifest import Child
from dynamo_operator.runtime.errors import ApiError, Forbidden, NotFound
from dynamo_operator.runtime.views import ObjectMeta
from tests.support.clock import ManualClock

BINDING = Child(
    {
        "kind": "RoleBinding",
        "subjects": [{"kind": "ServiceAccount", "name": "planner-serviceaccount"}],
        "roleRef": {"kind": "ClusterRole", "name": "planner"},
    }
)


class Bed:
    """Cluster roles over an API server that gives the same answer every time."""

    def __init__(self, answer: ApiError | None) -> None:
        self.answer, self.asked = answer, 0
        cluster: Any = SimpleNamespace(client=self, clock=ManualClock())
        self.roles = ClusterRoles(cluster)

    async def get(self, *_: object) -> bytes:
        self.asked += 1
        if self.answer:
            raise self.answer
        return b"{}"

    async def warn(self, name: str) -> None:
        await self.roles.warn(Parent(GRAPHS, ObjectMeta(namespace="ns", name=name, uid=name)), [Child({}), BINDING])


@pytest.mark.parametrize(
    ("answer", "asked", "said"),
    [
        pytest.param(None, 1, 0, id="there: asked once, nothing said"),
        pytest.param(NotFound(), 1, 1, id="missing: said once, whichever graph asks next"),
        pytest.param(Forbidden(), 2, 0, id="not ours to know: nothing said"),
    ],
)
async def test_two_graphs(answer: ApiError | None, asked: int, said: int) -> None:
    bed = Bed(answer)
    with capture_logs() as logs:
        await bed.warn("one")
        await bed.warn("two")
    assert (bed.asked, len(logs)) == (asked, said)
