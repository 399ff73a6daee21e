"""Which changes of children wake whom."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, cast

import pytest
from msgspec.structs import replace

from dynamo_operator.controllers.cluster import ChildError, Cluster, Parent
from dynamo_operator.controllers.resources import COMPONENTS, GRAPHS, SERVICES
from dynamo_operator.controllers.wakeups import child_moved
from dynamo_operator.domain.manifest import Child
from dynamo_operator.runtime.apply import Foreign, Wanted
from dynamo_operator.runtime.owner import plain_owner
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.store import Change
from dynamo_operator.runtime.views import Body, ObjectMeta, OwnerReference

TAKEN = Key("ns", "g-w")
THEIRS = Body(ObjectMeta(name="g-w", namespace="ns"))
COMPONENT = Parent(COMPONENTS, ObjectMeta(name="g-w", namespace="ns", uid="u"))
SERVICE = {"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": "ns", "name": "g-w"}}


class Applier:
    """Finds every name taken."""

    async def apply_each(self, owner: Any, wanted: list[Wanted], **_: Any) -> list[Any]:
        return [Foreign(each.resource, each.key, None) for each in wanted]


@pytest.fixture
async def cluster() -> Cluster:
    """A cluster in which a component could not have a Service."""
    parts = {each.name: None for each in fields(Cluster) if not each.name.startswith("_")}
    cluster = Cluster(**cast("dict[str, Any]", parts | {"applier": Applier()}))
    with pytest.raises(ChildError):
        await cluster.apply_children(COMPONENT, [Child(SERVICE)])
    return cluster


@pytest.mark.parametrize(
    ("waiting", "change", "woken"),
    [
        pytest.param(COMPONENTS, Change(SERVICES, TAKEN, THEIRS, None), [Key("ns", "g-w")], id="gone: woken"),
        pytest.param(GRAPHS, Change(SERVICES, TAKEN, THEIRS, None), [], id="gone: nobody of another kind is woken"),
        pytest.param(COMPONENTS, Change(SERVICES, TAKEN, THEIRS, THEIRS), [], id="still there: waits"),
        pytest.param(COMPONENTS, Change(SERVICES, Key("ns", "x"), THEIRS, None), [], id="another name: waits"),
    ],
)
def test_name_of_a_child_is_taken_until_it_is_free(
    cluster: Cluster, waiting: Resource, change: Change[Body], woken: list[Key]
) -> None:
    mapper = child_moved(cluster, waiting, plain_owner(waiting.kind, waiting.group), status=False)
    assert list(mapper(change)) == woken
    assert list(mapper(change)) == []


def test_who_is_gone_waits_for_no_name(cluster: Cluster) -> None:
    mapper = child_moved(cluster, COMPONENTS, plain_owner(COMPONENTS.kind, COMPONENTS.group), status=False)
    cluster.forget(GRAPHS, COMPONENT.meta.key)
    cluster.forget(COMPONENTS, COMPONENT.meta.key)
    assert list(mapper(Change(SERVICES, TAKEN, THEIRS, None))) == []


def test_who_owns_what_somebody_deletes_is_woken_before_it_is_gone(cluster: Cluster) -> None:
    owner = OwnerReference(api_version=GRAPHS.api_version, kind=GRAPHS.kind, name="g", uid="u", controller=True)
    there = Body(ObjectMeta(name="g", namespace="ns", owner_references=(owner,)))
    leaving = Body(replace(there.metadata, deletion_timestamp="2026-01-01T00:00:00Z"))
    cluster.applier.settled = lambda *_: True  # type: ignore[method-assign]
    mapper = child_moved(cluster, GRAPHS, plain_owner(GRAPHS.kind, GRAPHS.group), status=False)
    assert list(mapper(Change(COMPONENTS, Key("ns", "g"), there, leaving))) == [Key("ns", "g")]
    assert list(mapper(Change(COMPONENTS, Key("ns", "g"), there, there))) == []
