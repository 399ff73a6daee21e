"""Mappers from changes to keys."""

import pytest

from dynamo_operator.runtime.owner import controller_owner, controller_uid, plain_owner
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.store import Change
from dynamo_operator.runtime.views import Metadata, ObjectMeta, OwnerReference

POD = Resource("", "v1", "Pod", "pods")
GRAPH = OwnerReference("nvidia.com/v1alpha1", "Graph", "g", "1", controller=True)
USER = OwnerReference("nvidia.com/v1beta1", "Graph", "u", "2")
CLAIM = OwnerReference("v1", "Pod", "p", "3", controller=True)


def view(*owners: OwnerReference) -> Metadata:
    return Metadata(ObjectMeta(name="x", namespace="n", owner_references=owners))


def change(old: Metadata | None, new: Metadata | None) -> Change[Metadata]:
    return Change(POD, Key("n", "x"), old, new)


@pytest.mark.parametrize(
    ("mapper", "event", "keys"),
    [
        pytest.param(controller_owner("Graph", "nvidia.com"), change(None, view(GRAPH)), ["g"], id="it has one: that"),
        pytest.param(controller_owner("Graph", "nvidia.com"), change(view(GRAPH), None), ["g"], id="it vanished: that"),
        pytest.param(
            controller_owner("Graph", "nvidia.com"), change(view(GRAPH), view(GRAPH)), ["g"], id="it stays: once"
        ),
        pytest.param(
            controller_owner("Graph", "nvidia.com"), change(view(USER), view(CLAIM)), [], id="other owners: nobody"
        ),
        pytest.param(
            plain_owner("Graph", "nvidia.com"), change(view(USER), view(USER, GRAPH)), ["u", "g"], id="plain: all"
        ),
        pytest.param(controller_owner("Pod", ""), change(None, view(CLAIM)), ["p"], id="core group: found"),
    ],
)
def test_mapper(mapper, event, keys) -> None:
    assert list(mapper(event)) == [Key("n", key) if isinstance(key, str) else key for key in keys]


def test_index_of_controllers() -> None:
    assert (list(controller_uid(view(USER, GRAPH))), list(controller_uid(view(USER)))) == (["1"], [])
