import gc
import json

import msgspec

from dynamo_operator.runtime.resource import Key
from dynamo_operator.runtime.views import Body, Metadata, ObjectMeta, OwnerReference


def test_absent_members_have_defaults() -> None:
    body = msgspec.json.decode(b'{"unknown": {"x": [1]}}', type=Body)
    assert body == Body()
    assert [body.tree(member) for member in ("spec", "status", "data", "rules", "role_ref")] == [{}] * 5


def test_null_reads_as_empty() -> None:
    assert msgspec.json.decode(b'{"spec": null}', type=Body).tree("spec") == {}


def test_metadata_says_key_controller_and_deletion() -> None:
    owners = [{"kind": "A", "name": "a"}, {"kind": "B", "name": "b", "controller": True}]
    text = json.dumps(
        {"metadata": {"namespace": "n", "name": "x", "deletionTimestamp": "now", "ownerReferences": owners}}
    )
    meta = msgspec.json.decode(text, type=Metadata).metadata
    assert meta.key == Key("n", "x")
    assert meta.controller == OwnerReference(kind="B", name="b", controller=True)
    assert meta.deleting
    assert ObjectMeta().controller is None
    assert not ObjectMeta().deleting


def test_members_are_copies_so_that_a_page_can_go() -> None:
    page = bytearray(b'{"metadata": {"name": "x"}, "spec": {"a": 1}, "roleRef": {"kind": "Role"}, "type": "Opaque"}')
    body = msgspec.json.decode(page, type=Body)
    page[:] = b" " * len(page)
    assert body.tree("spec") == {"a": 1}
    assert body.tree("role_ref") == {"kind": "Role"}
    assert body.type == "Opaque"


def test_views_are_not_the_collectors_business() -> None:
    body = msgspec.json.decode(b'{"metadata": {"labels": {"a": "b"}}, "spec": {}}', type=Body)
    assert not gc.is_tracked(body)
    assert not gc.is_tracked(body.metadata)
