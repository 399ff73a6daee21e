import itertools
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.store import Store
from dynamo_operator.runtime.views import Metadata, ObjectMeta

THINGS = Resource("example.com", "v1", "Thing", "things")
A = Key("demo", "a")


def obj(version: int, uid: str = "1", *, name: str = "a", deleting: bool = False, **labels: str) -> Metadata:
    deleted = "now" if deleting else None
    return Metadata(ObjectMeta(name, "demo", uid, str(version), deletion_timestamp=deleted, labels=labels))


def store() -> Store[Metadata]:
    return Store(THINGS, {"colour": lambda thing: [thing.metadata.labels.get("colour")]})


def versions(known: Store[Metadata]) -> dict[str, str]:
    return {thing.metadata.name: thing.metadata.resource_version for thing in known.values()}


def test_only_news_enters() -> None:
    known = store()
    first = known.upsert(obj(5))
    assert first is not None
    assert (first.resource, first.key, first.old, first.new) == (THINGS, A, None, obj(5))
    assert known.upsert(obj(5)) is None
    assert known.upsert(obj(4)) is None
    second = known.upsert(obj(10))
    assert second is not None
    assert second.old == obj(5)
    assert len(known) == 1


def test_versions_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        (known := store()).upsert(obj(1)), known.upsert(Metadata(ObjectMeta("a", "demo", "1", "x")))


def test_indexes_follow_changes() -> None:
    known = store()
    known.upsert(obj(1, colour="red"))
    known.upsert(obj(2, name="b", colour="red"))
    assert len(known.by("colour", "red")) == 2
    known.upsert(obj(3, colour="blue"))
    known.remove(Key("demo", "b"), "1")
    assert known.by("colour", "red") == []
    assert known.by("colour", "blue") == [obj(3, colour="blue")]
    with pytest.raises(KeyError):
        known.by("size", 1)


def test_an_index_that_fails_changes_nothing() -> None:
    known: Store[Metadata] = Store(THINGS, {"must": lambda thing: [thing.metadata.labels["must"]]})
    known.upsert(obj(1, must="x"))
    with pytest.raises(KeyError):
        known.upsert(obj(2))
    assert versions(known) == {"a": "1"}
    assert known.by("must", "x") == [obj(1, must="x")]


LATE = [
    pytest.param({"uid": "1"}, obj(7), None, id="late event of what we deleted: stays gone"),
    pytest.param({"uid": "1"}, obj(4), None, id="older event of what we deleted: stays gone"),
    pytest.param({"uid": "1"}, obj(7, deleting=True), "7", id="finalizers hold it: comes back as being deleted"),
    pytest.param({"uid": "1"}, obj(7, "2"), "7", id="successor of what we deleted: enters"),
    pytest.param({"uid": "1"}, obj(5, "2"), None, id="successor not newer than what we deleted: cannot be, stays out"),
    pytest.param({"uid": "1", "version": 8}, obj(9, deleting=True), None, id="seen deleted: that uid never returns"),
    pytest.param({"uid": "1", "version": 8}, obj(7, "2"), None, id="answer older than the deletion: stays out"),
    pytest.param({"uid": "1", "version": 8}, obj(9, "2"), "9", id="successor of what was seen deleted: enters"),
]


@pytest.mark.parametrize(("removal", "late", "stored"), LATE)
def test_what_comes_after_a_removal(removal: dict[str, Any], late: Metadata, stored: str | None) -> None:
    known = store()
    known.upsert(obj(5))
    change = known.remove(A, **removal)
    assert change is not None
    assert change.new is None
    known.upsert(late)
    assert versions(known).get("a") == stored


def test_the_deletion_of_another_uid_removes_only_what_is_older() -> None:
    known = store()
    known.upsert(obj(9, "2"))
    assert known.remove(A, "1", version=8) is None
    assert known.remove(A, "1") is None
    assert known.remove(A, "3", version=12) is not None
    assert len(known) == 0


def test_a_late_deletion_does_not_forget_a_later_one() -> None:
    known = store()
    known.remove(A, "2", version=20)
    known.remove(A, "1", version=10)
    assert known.upsert(obj(15, "2")) is None


def test_a_list_drops_what_it_does_not_show() -> None:
    known = store()
    for thing in (obj(1), obj(2, name="b"), obj(30, name="c")):
        known.upsert(thing)
    shown = (obj(12, name="b"), obj(3, name="d"))
    for thing in shown:
        known.upsert(thing)
    changes = known.retain({thing.metadata.key for thing in shown}, 20)
    assert [(change.key, change.new) for change in changes] == [(A, None)]
    assert versions(known) == {"b": "12", "c": "30", "d": "3"}
    assert known.upsert(obj(19, "9")) is None


def test_a_cleared_store_takes_the_same_objects_in_again() -> None:
    known = store()
    known.upsert(obj(1))
    known.remove(Key("demo", "b"), "1", version=2)
    assert [(change.key, change.new) for change in known.clear()] == [(A, None)]
    assert (len(known), known.by("colour", None)) == (0, [])
    assert known.upsert(obj(1)) is not None
    assert known.upsert(obj(1, name="b")) is not None


def test_graves_are_bounded() -> None:
    known = store()
    for number in range(5000):
        known.remove(Key("demo", str(number)), "1", version=number + 1)
    assert len(known._graves) == 4096


# One object's life: made, changed, deleted, made anew under another uid, changed.
LIFE = [("ADDED", 1, "1"), ("MODIFIED", 2, "1"), ("DELETED", 3, "1"), ("ADDED", 4, "2"), ("MODIFIED", 5, "2")]


@pytest.mark.parametrize("order", list(itertools.permutations(LIFE)))
def test_any_order_of_events_ends_in_the_newest_state(order: tuple[tuple[str, int, str], ...]) -> None:
    known = store()
    for kind, version, uid in order:
        if kind == "DELETED":
            known.remove(A, uid, version=version)
        else:
            known.upsert(obj(version, uid))
    assert versions(known) == {"a": "5"}


@given(st.permutations(LIFE[:3]), st.integers(0, 3))
def test_once_deleted_stays_deleted_in_any_order(order: list[tuple[str, int, str]], repeated: int) -> None:
    known = store()
    for kind, version, uid in order + order[:repeated]:
        if kind == "DELETED":
            known.remove(A, uid, version=version)
        else:
            known.upsert(obj(version, uid))
    assert versions(known) == {}


names = st.sampled_from("abcdef")


@given(st.lists(st.tuples(names, st.sampled_from(["red", "blue", "none"]), st.booleans()), max_size=40))
def test_indexes_equal_a_scan(steps: list[tuple[str, str, bool]]) -> None:
    known = store()
    for version, (name, colour, gone) in enumerate(steps, start=1):
        if gone:
            known.remove(Key("demo", name))
        else:
            known.upsert(obj(version, str(version), name=name, colour=colour))
    for colour in ("red", "blue", "none"):
        scan = {thing.metadata.name for thing in known.values() if thing.metadata.labels["colour"] == colour}
        assert {thing.metadata.name for thing in known.by("colour", colour)} == scan
    assert json.loads(msgspec.json.encode(len(known))) == len(known.values())
