"""A missing cluster role is said once, and costs no graph."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from dynamo_operator.controllers.cluster import Parent
from dynamo_operator.controllers.cluster_roles import ClusterRoles
from dynamo_operator.controllers.resources import GRAPHS
from dynamo_operator.domain.manifest import Child
from dynamo_operator.runtime.errors import ApiError, Forbidden, NotFound
from dynamo_operator.runtime.resource import Key
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
        self.answer, self.asked, self.events, self.clock = answer, 0, list[str](), ManualClock()
        cluster: Any = SimpleNamespace(client=self, clock=self.clock, event=lambda *said: self.events.append(said[3]))
        self.roles = ClusterRoles(cluster)

    async def get(self, *_: object) -> bytes:
        self.asked += 1
        if self.answer:
            raise self.answer
        return b"{}"

    async def warn(self, uid: str = "u") -> None:
        await self.roles.warn(Parent(GRAPHS, ObjectMeta(namespace="ns", name="g", uid=uid)), [Child({}), BINDING])


@pytest.mark.parametrize(
    ("answer", "asked", "said"),
    [
        pytest.param(None, 1, 0, id="there: asked once, nothing said"),
        pytest.param(NotFound(), 1, 1, id="missing: said once, not asked again at once"),
        pytest.param(Forbidden(), 2, 0, id="not ours to know: nothing said"),
    ],
)
async def test_two_passes(answer: ApiError | None, asked: int, said: int) -> None:
    bed = Bed(answer)
    await bed.warn()
    await bed.warn()
    assert (bed.asked, len(bed.events)) == (asked, said)


async def test_another_graph_is_told_too_and_a_role_that_came_is_noticed() -> None:
    bed = Bed(NotFound())
    await bed.warn("one")
    await bed.warn("two")
    assert (
        bed.events
        == ["ClusterRole planner does not exist, so planner-serviceaccount may do nothing: install it with the chart"]
        * 2
    )
    bed.answer = None
    await bed.clock.advance(61)
    await bed.warn("three")
    assert (bed.asked, len(bed.events)) == (2, 2)


async def test_graph_goes_it_is_forgotten() -> None:
    bed = Bed(NotFound())
    await bed.warn()
    bed.roles.forget(Key("ns", "g"))
    await bed.warn()
    assert len(bed.events) == 2
