"""Applying, pruning and releasing objects, seen at the boundary to the API server."""

import asyncio
import copy
from typing import Any

import msgspec
import pytest

from dynamo_operator.runtime.apply import Foreign, Wanted
from dynamo_operator.runtime.errors import AlreadyExists, Conflict, Forbidden, Invalid, NotFound
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.views import Body, OwnerReference
from tests.runtime.objects import CONFIG, GRAPH, HASH, OTHER, SERVICE, Bed, apply_all, service
from tests.support.clock import settle

S = Key("n", "s")


def reference(owner: OwnerReference, **more: Any) -> dict[str, Any]:
    return {"apiVersion": owner.api_version, "kind": owner.kind, "name": owner.name, "uid": owner.uid, **more}


async def test_nothing_is_there_it_is_created_with_owner_and_stamp() -> None:
    bed, told = Bed(), []
    manifest = service()
    before = copy.deepcopy(manifest)
    [applied] = await apply_all(
        bed.applier, GRAPH, [Wanted(SERVICE, manifest)], on_action=lambda *said: told.append(said)
    )
    assert (applied.action, bed.api.calls) == ("created", [("apply", S, "us", False)])
    meta = applied.body.metadata
    assert (meta.controller, len(meta.annotations[HASH]), told[0][1]) == (GRAPH, 68, "created")
    assert manifest == before


async def test_same_is_wanted_again_no_request_and_no_word() -> None:
    bed, told = Bed(), []
    await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service())])
    [applied] = await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service())], on_action=lambda *x: told.append(x))
    assert (applied.action, bed.api.verbs, told) == ("unchanged", ["apply"], [])


async def test_status_moves_no_request() -> None:
    bed = Bed()
    await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service())])
    bed.exists({**bed.api.objects[S], "status": {"x": 1}}, note="moved")
    await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service())])
    assert bed.api.verbs == ["apply"]


async def test_operator_restarts_no_request() -> None:
    bed = Bed()
    await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service())])
    again = Bed(bed.api)
    [applied] = await apply_all(again.applier, GRAPH, [Wanted(SERVICE, service())])
    assert (applied.action, bed.api.verbs) == ("unchanged", ["apply"])


@pytest.mark.parametrize(
    "drift",
    [
        pytest.param({"spec": {"ports": [{"port": 81}]}}, id="the spec was edited"),
        pytest.param({"labels": {"app": "x"}}, id="a label was edited"),
        pytest.param({"ownerReferences": []}, id="the owner was taken away"),
        pytest.param({"ownerReferences": [reference(GRAPH)]}, id="the owner lost control"),
    ],
)
async def test_drift_is_repaired(drift: dict[str, Any]) -> None:
    bed = Bed()
    await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service())])
    drifted = bed.api.objects[S]
    bed.exists({**drifted, "spec": drift.pop("spec", drifted["spec"])}, **drift)
    [applied] = await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service())])
    assert (applied.action, bed.api.calls[-1]) == ("updated", ("apply", S, "us", True))


async def test_another_is_wanted_it_is_updated_without_asking_who_owned_it() -> None:
    bed = Bed()
    await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service())])
    [applied] = await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service(type="NodePort"))])
    assert (applied.action, bed.api.verbs) == ("updated", ["apply", "apply"])


async def test_answer_is_no_news_it_counts_as_unchanged() -> None:
    bed = Bed()
    wanted = [Wanted(SERVICE, {**service(), "immutable": True})]
    await apply_all(bed.applier, GRAPH, wanted)
    [applied] = await apply_all(Bed(bed.api).applier, GRAPH, wanted)
    assert (applied.action, bed.api.verbs) == ("unchanged", ["apply", "apply"])


@pytest.mark.parametrize(
    ("meta", "owner", "message"),
    [
        pytest.param(
            {"ownerReferences": [reference(OTHER, controller=True)]},
            GRAPH,
            "Service n/s is controlled by Graph h: delete or rename it, or choose another name",
            id="somebody else controls it",
        ),
        pytest.param(
            {}, GRAPH, "Service n/s was not made by us: delete or rename it, or choose another name", id="nobody"
        ),
        pytest.param({"ownerReferences": [reference(OTHER, controller=True)]}, None, "Graph h", id="we own nothing"),
    ],
)
async def test_foreign_object_is_refused(meta: dict[str, Any], owner: OwnerReference | None, message: str) -> None:
    bed = Bed()
    bed.exists(service(), **meta)
    with pytest.raises(Foreign, match=message):
        await apply_all(bed.applier, owner, [Wanted(SERVICE, service())])
    assert bed.api.verbs == []


@pytest.mark.parametrize(
    ("meta", "owner"),
    [
        pytest.param({"annotations": {HASH: "old"}}, GRAPH, id="nobody controls it, but it has the stamp"),
        pytest.param({"ownerReferences": [reference(GRAPH)]}, GRAPH, id="we are a plain owner"),
        pytest.param({}, None, id="it has no owner by design"),
    ],
)
async def test_own_object_is_taken(meta: dict[str, Any], owner: OwnerReference | None) -> None:
    bed = Bed()
    bed.exists(service(), **meta)
    [applied] = await apply_all(bed.applier, owner, [Wanted(SERVICE, service())])
    assert applied.action == "updated"


async def test_unseen_object_stands_in_the_way_it_is_read_and_refused_when_foreign() -> None:
    bed = Bed()
    bed.api.put(S, service())
    bed.api.failures["apply"] = [Conflict(status=409)]
    with pytest.raises(Foreign):
        await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service())])
    assert bed.api.verbs == ["apply", "get"]


async def test_informer_sees_only_some_objects_a_stranger_is_never_merged_with() -> None:
    bed = Bed(labels="app=s")
    bed.api.put(S, service(), labels={"app": "of a user"})
    for _ in range(2):
        with pytest.raises(Foreign):
            await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service())])
    assert bed.api.verbs == ["create", "get"] * 2
    assert bed.api.objects[S]["metadata"]["labels"] == {"app": "of a user"}


async def test_informer_sees_only_some_objects_what_was_created_becomes_applied_with_its_first_change() -> None:
    bed = Bed(labels="app=s")
    actions = [(await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service())]))[0].action for _ in range(2)]
    assert (actions, bed.api.verbs) == (["created", "unchanged"], ["create"])
    by_create = FORMER | {"manager": "us"}
    bed.exists(bed.api.objects[S], managedFields=[by_create])
    await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service(type="NodePort"))])
    assert bed.api.verbs[1:] == ["get", "json_patch", "apply"]


async def test_each_outcome_is_wanted_errors_stand_in_their_places() -> None:
    bed = Bed()
    bed.api.failures["apply"] = [Forbidden(status=403)]
    first, second = await bed.applier.apply_each(GRAPH, [Wanted(SERVICE, service(name)) for name in "ab"])
    assert isinstance(first, Forbidden)
    assert not isinstance(second, BaseException)


async def test_settled_is_what_nobody_touched_since_it_was_applied() -> None:
    bed = Bed()
    [applied] = await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service())])
    assert bed.applier.settled(SERVICE, applied.body)
    edited = {**bed.api.objects[S], "spec": {"ports": []}}
    assert not bed.applier.settled(SERVICE, msgspec.json.decode(msgspec.json.encode(edited), type=Body))
    assert not bed.applier.settled(CONFIG, applied.body)


async def test_two_parents_want_one_name_at_once_the_second_is_refused() -> None:
    bed = Bed()
    work = [apply_all(bed.applier, owner, [Wanted(SERVICE, service())]) for owner in (GRAPH, OTHER)]
    first, second = await asyncio.gather(*work, return_exceptions=True)
    assert isinstance(first, list)
    assert isinstance(second, Foreign)


async def test_one_fails_the_others_are_applied_and_the_first_error_is_raised() -> None:
    bed = Bed()
    bed.api.failures["apply"] = [Forbidden(status=403, message="first"), Invalid(status=422, message="second")]
    with pytest.raises(Forbidden, match="first"):
        await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service(name)) for name in "abc"])
    assert list(bed.api.objects) == [Key("n", "c")]


@pytest.mark.parametrize("raced", [False, True])
async def test_create_only_is_made_once_and_never_touched(*, raced: bool) -> None:
    bed = Bed()
    wanted = [Wanted(SERVICE, service(), create_only=True)]
    if raced:
        bed.api.put(S, service())
        bed.api.failures["create"] = [AlreadyExists(status=409)]
    actions = [(await apply_all(bed.applier, GRAPH, [each]))[0].action for each in wanted * 2]
    bed.exists(bed.api.objects[S], labels={"edited": "x"})
    await apply_all(bed.applier, GRAPH, wanted)
    assert (actions, bed.api.verbs) == (["created", "unchanged"], ["create", "get"] if raced else ["create"])
    assert HASH not in bed.api.objects[S]["metadata"].get("annotations", {})


async def test_initial_member_is_written_once_and_then_belongs_to_others() -> None:
    bed = Bed()

    async def applied(**spec: Any) -> str:
        wanted = Wanted(SERVICE, service(**spec), initial=("spec", "ports"))
        return (await apply_all(bed.applier, GRAPH, [wanted]))[0].action

    assert [await applied(), await applied(ports=[])] == ["created", "unchanged"]
    assert bed.api.objects[S]["spec"] == {"ports": [{"port": 80}]}
    bed.exists({**bed.api.objects[S], "spec": {"ports": "of others"}}, note="moved")
    assert [await applied(), bed.api.verbs] == ["unchanged", ["create"]]
    assert await applied(type="NodePort") == "updated"
    assert "ports" not in bed.api.objects[S]["spec"]  # the double keeps no fields of others


@pytest.mark.parametrize(
    ("owners", "annotations"),
    [
        pytest.param([], {}, id="made by hand: owned from now on"),
        pytest.param([reference(GRAPH, controller=True)], {}, id="made by hand with our owner: stamped"),
        pytest.param([reference(GRAPH, controller=True)], {HASH: "old"}, id="another operator's: without its fields"),
    ],
)
async def test_object_with_an_initial_member_is_taken(owners: list[Any], annotations: dict[str, str]) -> None:
    bed = Bed()
    bed.exists(service(), ownerReferences=owners, annotations=annotations)
    wanted = Wanted(SERVICE, service(), initial=("spec", "ports"))
    [applied] = await apply_all(bed.applier, GRAPH, [wanted])
    assert (applied.action, applied.body.metadata.controller, bed.api.verbs) == ("updated", GRAPH, ["apply"])


async def test_object_with_an_initial_member_is_somebody_elses_when_it_says_something_else() -> None:
    bed = Bed()
    bed.exists(service(type="NodePort"))
    before = dict(bed.api.objects)
    with pytest.raises(Foreign):
        await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service(type="ClusterIP"), initial=("spec", "ports"))])
    assert bed.api.objects == before


async def test_immutable_field_changes_it_is_made_anew_where_that_is_allowed() -> None:
    bed = Bed()
    await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service(), recreate=True)])
    uid = bed.api.objects[S]["metadata"]["uid"]
    bed.api.failures["apply"] = [Invalid(status=422)]
    await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service(clusterIP="None"), recreate=True)])
    assert bed.api.calls[-2:] == [("delete", S, uid), ("apply", S, "us", True)]


async def test_immutable_field_changes_the_error_is_raised_where_it_is_not_allowed() -> None:
    bed = Bed()
    await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service())])
    bed.api.failures["apply"] = [Invalid(status=422)]
    with pytest.raises(Invalid):
        await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service(clusterIP="None"))])


FORMER = {"manager": "manager", "operation": "Update", "fieldsV1": {"f:metadata": {"f:annotations": {f"f:{HASH}": {}}}}}


async def test_former_operator_owned_it_its_fields_become_ours_once() -> None:
    bed = Bed()
    bed.exists(service(), annotations={HASH: "theirs"}, managedFields=[FORMER])
    bed.api.failures["json_patch"] = [Conflict(status=409)]
    await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service())])
    await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service(type="NodePort"))])
    assert bed.api.verbs == ["get", "json_patch", "get", "json_patch", "apply", "apply"]
    fields, version = bed.api.calls[1][1]
    assert (fields["value"][0]["manager"], version["path"]) == ("us", "/metadata/resourceVersion")


async def test_object_changes_all_the_time_adoption_gives_up_with_the_conflict() -> None:
    bed = Bed()
    bed.exists(service(), annotations={HASH: "theirs"}, managedFields=[FORMER])
    bed.api.failures["json_patch"] = [Conflict(status=409) for _ in range(5)]
    with pytest.raises(Conflict):
        await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service())])


async def test_kind_without_informer_is_read_before_each_write() -> None:
    bed = Bed()
    kind = Resource("", "v1", "Thing", "things")
    for _ in range(2):
        await apply_all(bed.applier, None, [Wanted(kind, service())])
    assert bed.api.verbs == ["get", "apply", "get"]


async def test_prune_deletes_what_the_owner_controls_and_nobody_wants() -> None:
    bed = Bed()
    await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service(name)) for name in ("a", "b", "dying")])
    await apply_all(bed.applier, OTHER, [Wanted(SERVICE, service("others"))])
    bed.exists(bed.api.objects[Key("n", "dying")], deletionTimestamp="2026-01-01T00:00:00Z")
    gone = await bed.applier.prune("uid-g", [SERVICE, CONFIG], {(SERVICE, Key("n", "a"))})
    assert gone == [(SERVICE, Key("n", "b"))]
    assert bed.informers[SERVICE].get(Key("n", "b")) is None


@pytest.mark.parametrize("error", [NotFound(status=404), Conflict(status=409)])
async def test_object_was_replaced_or_is_gone_prune_leaves_it(error: Exception) -> None:
    bed = Bed()
    await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service())])
    bed.api.failures["delete"] = [error]
    assert await bed.applier.prune("uid-g", [SERVICE], set()) == []


async def test_prune_is_refused_the_error_is_raised_after_all_were_tried() -> None:
    bed = Bed()
    await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service(name)) for name in "ab"])
    bed.api.failures["delete"] = [Forbidden(status=403)]
    with pytest.raises(Forbidden):
        await bed.applier.prune("uid-g", [SERVICE], set())
    assert list(bed.api.objects) == [Key("n", "a")]


async def test_vanished_object_is_forgotten_and_made_anew() -> None:
    bed = Bed()
    await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service())])
    bed.informers[SERVICE].forget(S, bed.api.objects.pop(S)["metadata"]["uid"])
    assert (await apply_all(bed.applier, GRAPH, [Wanted(SERVICE, service())]))[0].action == "created"


SHARED = Wanted(SERVICE, service(), shared=True)


async def test_shared_object_each_owner_applies_as_a_manager_of_its_own() -> None:
    bed = Bed()
    for owner in (GRAPH, OTHER, GRAPH):
        await apply_all(bed.applier, owner, [SHARED])
    assert [call[2] for call in bed.api.calls] == ["us-uid-g", "us-uid-h", "us-uid-g"]
    assert bed.api.objects[S]["metadata"]["ownerReferences"][0]["controller"] is False


async def test_shared_object_a_former_operator_made_one_parent_its_controller_it_is_taken() -> None:
    bed = Bed()
    controller = reference(OTHER, controller=True)
    bed.exists(service(), annotations={HASH: "theirs"}, ownerReferences=[controller])
    assert (await apply_all(bed.applier, GRAPH, [SHARED]))[0].action == "updated"


async def test_release_one_of_two_owners_its_share_goes() -> None:
    bed = Bed()
    bed.exists(service(), ownerReferences=[reference(GRAPH), reference(OTHER)])
    await bed.applier.release_shared(SERVICE, S, "uid-g")
    assert (bed.api.verbs, bed.api.calls[-1]) == (["get", "apply"], ("apply", S, "us-uid-g", True))


async def test_release_the_last_owner_the_object_goes() -> None:
    bed = Bed()
    bed.exists(service(), ownerReferences=[reference(GRAPH)])
    await bed.applier.release_shared(SERVICE, S, "uid-g")
    assert (bed.api.verbs, bed.api.objects) == (["delete"], {})


async def test_release_while_another_owner_comes_the_object_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    bed = Bed()
    bed.exists(service(), annotations={HASH: "ssa-"}, ownerReferences=[reference(GRAPH)])
    answer, apply = asyncio.Event(), bed.api.apply

    async def slow(*args: Any, **how: Any) -> bytes:
        await answer.wait()
        return await apply(*args, **how)

    monkeypatch.setattr(bed.api, "apply", slow)
    coming = asyncio.create_task(apply_all(bed.applier, OTHER, [SHARED]))
    await settle()
    leaving = asyncio.create_task(bed.applier.release_shared(SERVICE, S, "uid-g"))
    await settle()
    answer.set()
    await asyncio.gather(coming, leaving)
    assert (bed.api.verbs, list(bed.api.objects)) == (["apply"], [S])


async def test_owner_gone_from_a_shared_object_what_it_wanted_is_forgotten() -> None:
    bed = Bed()
    await apply_all(bed.applier, OTHER, [SHARED])
    [applied] = await apply_all(bed.applier, GRAPH, [SHARED])
    again = msgspec.json.decode(msgspec.json.encode(bed.api.objects[S]), type=Body)
    assert (bed.applier.settled(SERVICE, again), applied.body.metadata.owner_references) == (
        True,
        again.metadata.owner_references,
    )
    assert [list(records) for records in bed.applier._records.values()] == [["uid-g"]]


async def test_release_by_somebody_else_nothing_happens() -> None:
    bed = Bed()
    await bed.applier.release_shared(SERVICE, S, "uid-g")
    bed.exists(service(), ownerReferences=[reference(OTHER)])
    await bed.applier.release_shared(SERVICE, S, "uid-g")
    assert bed.api.verbs == []


async def test_status_only_the_difference_is_written() -> None:
    bed = Bed()
    bed.exists(service())
    body = await bed.applier.write_status(SERVICE, S, {"a": 1, "b": 2}, {"a": 1, "c": 3})
    assert body is not None
    assert bed.api.calls == [("merge_patch", {"status": {"c": 3, "b": None}}, "status")]
    assert msgspec.json.decode(body.status) == {"c": 3, "b": None}
    assert await bed.applier.write_status(SERVICE, S, {"a": 1}, {"a": 1}) is None
    await bed.applier.write_status(SERVICE, S, None, {"a": 1})
    assert len(bed.api.calls) == 2


async def test_secret_like_members_are_compared() -> None:
    bed = Bed()
    secret = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "n", "name": "c"}, "data": {"a": "x"}}
    secret["type"] = "Opaque"
    await apply_all(bed.applier, None, [Wanted(SERVICE, secret)])
    again = Bed(bed.api)
    await apply_all(again.applier, None, [Wanted(SERVICE, secret)])
    assert bed.api.verbs == ["apply"]
