import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from dynamo_operator.runtime import errors
from dynamo_operator.runtime.informer import Change, Informer
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.views import Body, Metadata
from tests.support.clock import EagerClock
from tests.support.peer import (
    CUT,
    END,
    STALL,
    Answer,
    Peer,
    Stream,
    bookmark,
    client_of,
    event,
    eventually,
    page,
    peer_running,
    refusal,
    status,
    thing,
)

THINGS = Resource("example.com", "v1", "Thing", "things")


class Watched:
    """An informer that runs against a peer, and what it told a listener."""

    def __init__(self, peer: Peer, informer: Informer[Body], clock: EagerClock) -> None:
        self.peer = peer
        self.informer = informer
        self.clock = clock
        self.told: list[str] = []
        informer.subscribe(self.note)

    task: asyncio.Task[None]

    def note(self, change: Change[Body]) -> None:
        """One word per change: +name:version, -name or name:old>new."""
        old, new = (each and each.metadata.resource_version for each in (change.old, change.new))
        name = change.key.name
        self.told.append(f"-{name}" if new is None else f"+{name}:{new}" if old is None else f"{name}:{old}>{new}")

    async def until(self, *told: str) -> None:
        """Wait until exactly that was told."""
        await eventually(lambda: len(self.told) >= len(told))
        assert tuple(self.told) == told

    def versions(self) -> dict[str, str]:
        """What is stored."""
        return {body.metadata.name: body.metadata.resource_version for body in self.informer.values()}


@asynccontextmanager
async def watching(
    *, lists: list[Any], watches: list[Any] | None = None, run: bool = True, **options: Any
) -> AsyncIterator[Watched]:
    """An informer against scripted lists and watches; after them there is silence."""
    clock = EagerClock()
    async with peer_running() as peer, client_of(peer, clock=clock) as client:
        peer.lists.extend(lists)
        peer.watches.extend(watches or [])
        watched = Watched(peer, Informer(client, THINGS, options.pop("view", Body), clock=clock, **options), clock)
        watched.task = asyncio.create_task(watched.informer.run() if run else asyncio.sleep(0))
        try:
            yield watched
        finally:
            watched.task.cancel()
            await asyncio.wait([watched.task])
            assert watched.task.cancelled() or not run


async def test_a_list_of_pages_then_events() -> None:
    lists = [page([thing("a", 1)], 9, token="more"), page([thing("b", 2)], 9)]
    said = [event("ADDED", thing("c", 10)), event("MODIFIED", thing("a", 11)), event("DELETED", thing("b", 12))]
    async with watching(lists=lists, watches=[Stream([*said, bookmark(20), STALL])]) as watched:
        await watched.until("+a:1", "+b:2", "+c:10", "a:1>11", "-b")
        await eventually(lambda: watched.informer._version == 20)
        assert watched.versions() == {"a": "11", "c": "10"}
        assert len(watched.informer) == 2
        assert watched.informer.get(Key("demo", "b")) is None
        assert watched.peer.watches_seen()[0].query["resourceVersion"] == "9"
        assert watched.informer.last_error is None


async def test_synced_means_the_whole_list() -> None:
    async with watching(lists=[page([thing("a", 1)], 9)]) as watched:
        assert not watched.informer.has_synced
        await watched.informer.wait_synced(5)
        assert watched.informer.has_synced
        assert watched.versions() == {"a": "1"}


async def test_cleared_it_lists_anew() -> None:
    async with watching(lists=[page([thing("a", 1)], 9), page([thing("a", 1)], 9)]) as watched:
        await watched.until("+a:1")
        watched.task.cancel()
        await asyncio.wait([watched.task])
        watched.informer.clear()
        assert (watched.told[1:], watched.informer.has_synced) == (["-a"], False)
        watched.task = asyncio.create_task(watched.informer.run())
        await watched.until("+a:1", "-a", "+a:1")


async def test_waiting_too_long_says_what_is_in_the_way() -> None:
    async with watching(lists=[], run=False) as watched:
        with pytest.raises(TimeoutError, match=r"things were not listed within 0\.01 s: the list takes longer"):
            await watched.informer.wait_synced(0.01)
        watched.informer.last_error = errors.Forbidden(message="no right to list things")
        with pytest.raises(TimeoutError, match="no right to list things"):
            await watched.informer.wait_synced(0.01)


RESUMED = [
    pytest.param([event("ADDED", thing("a", 10)), CUT], id="cut: resumed"),
    pytest.param([event("ADDED", thing("a", 10)), END], id="ended by the server: resumed"),
    pytest.param([event("ADDED", thing("a", 10)), STALL], id="silent: cut and resumed"),
    pytest.param([event("ADDED", thing("a", 10)), b"garbage\n", STALL], id="garbled: asked for again"),
    pytest.param(
        [event("ADDED", thing("a", 10)), event("ERROR", status(503, "ServiceUnavailable"))], id="503: resumed"
    ),
    pytest.param(
        [event("ADDED", thing("a", 10)), b'{"type":"MODIFIED","obj', END], id="half a line: resumed before it"
    ),
]


@pytest.mark.parametrize("steps", RESUMED)
async def test_a_watch_goes_on_where_it_stopped(steps: list[Any]) -> None:
    watches = [Stream(steps), Stream([event("MODIFIED", thing("a", 11)), STALL])]
    async with watching(lists=[page([], 9)], watches=watches, inactivity_seconds=0.3) as watched:
        await watched.until("+a:10", "a:10>11")
        assert len(watched.peer.lists_seen()) == 1
        assert watched.peer.watches_seen()[1].query["resourceVersion"] == "10"


RELISTED = [
    pytest.param(refusal(410, "Expired"), id="410 as an answer: listed again"),
    pytest.param(Stream([event("ERROR", status(410, "Expired"))]), id="410 as an event: listed again"),
    pytest.param(Stream([event("ERROR", status(500, "InternalError"))]), id="an error nobody knows: listed again"),
    pytest.param(refusal(400, "BadRequest"), id="a refused version: listed again"),
]


@pytest.mark.parametrize("watch", RELISTED)
async def test_a_version_that_is_gone_leads_to_a_list_which_tells_what_vanished(watch: Any) -> None:
    lists = [page([thing("a", 1), thing("b", 2), thing("c", 3)], 9), page([thing("a", 1), thing("b", 12)], 20)]
    async with watching(lists=lists, watches=[watch]) as watched:
        await watched.until("+a:1", "+b:2", "+c:3", "b:2>12", "-c")
        await eventually(lambda: len(watched.peer.watches_seen()) == 2)
        assert watched.peer.watches_seen()[1].query["resourceVersion"] == "20"
        assert watched.informer.last_error is None


async def test_a_snapshot_that_expires_between_pages_is_listed_in_one() -> None:
    lists = [page([thing("a", 1)], 9, token="more"), refusal(410, "Expired"), page([thing("a", 1), thing("b", 2)], 10)]
    async with watching(lists=lists) as watched:
        await watched.until("+a:1", "+b:2")
        assert "limit" in watched.peer.asked[0].query
        assert "limit" not in watched.peer.lists_seen()[2].query


async def test_a_kind_that_is_not_served_yet_is_asked_for_soon_and_then_ever_more_slowly() -> None:
    async with watching(lists=[refusal(404, "NotFound")] * 9 + [page([thing("a", 1)], 9)]) as watched:
        await watched.until("+a:1")
        assert watched.clock.naps[0] < 1
        assert watched.clock.naps[-1] > 10


@pytest.mark.parametrize("answer", [refusal(403, "Forbidden"), refusal(401, "Unauthorized")])
async def test_a_list_that_is_refused_is_tried_again_slowly_and_visibly(answer: Answer) -> None:
    async with watching(lists=[answer] * 3 + [page([thing("a", 1)], 9)]) as watched:
        await watched.until("+a:1")
        assert len(watched.clock.naps) == 3
        assert all(24 <= nap <= 36 for nap in watched.clock.naps)
        assert watched.informer.last_error is None


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        pytest.param(refusal(500, "InternalError"), errors.ApiError, id="a broken server"),
        pytest.param(Answer(b"<html>"), errors.Unreachable, id="a page that is no JSON"),
        pytest.param(Answer(b'{"items": []}'), errors.Unreachable, id="a list without version"),
    ],
)
async def test_a_list_that_keeps_failing_is_tried_ever_more_slowly(
    answer: Answer, error: type[errors.ApiError], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[errors.ApiError | None] = []
    async with watching(lists=[answer] * 12 + [page([thing("a", 1)], 9)]) as watched:
        watched.peer.lists[11] = lambda _: (seen.append(watched.informer.last_error), answer)[1]
        await watched.until("+a:1")
        assert sum(watched.clock.naps) > 100
        assert max(watched.clock.naps) <= 36
        assert type(seen[0]) is error


async def test_a_server_that_ends_every_watch_at_once_is_not_asked_without_pause() -> None:
    async with watching(lists=[page([], 9)], watches=[Stream([END])] * 10) as watched:
        await eventually(lambda: len(watched.peer.watches_seen()) > 10)
        assert len(watched.clock.naps) == 10
        assert sum(watched.clock.naps) > 60


async def test_watches_that_stay_silent_end_in_a_list() -> None:
    async with watching(lists=[page([], 9), page([thing("a", 12)], 20)], inactivity_seconds=0.02) as watched:
        await watched.until("+a:12")
        assert len(watched.peer.lists_seen()) == 2


async def test_objects_that_fit_no_view_are_skipped_and_named_once() -> None:
    broken = {"metadata": {**thing("bad", 3)["metadata"], "labels": {"a": 1}}}
    keyless = {"metadata": "none"}
    lists = [page([thing("a", 1), broken, keyless], 9), page([thing("a", 1), broken], 20)]
    watches = [Stream([event("ADDED", broken), event("ADDED", thing("b", 11)), event("ERROR", status(410, "Gone"))])]
    with capture_logs() as logs:
        async with watching(lists=lists, watches=watches) as watched:
            await eventually(lambda: len(watched.peer.watches_seen()) == 2)
            assert watched.told == ["+a:1", "+b:11", "-b"]
    assert len([log for log in logs if log["log_level"] == "warning"]) == 2


async def test_an_object_that_stops_fitting_its_view_stays_as_it_was() -> None:
    def strict(body: bytes) -> Metadata:
        if b"broken" in body:
            raise RuntimeError("broken")
        return msgspec.json.decode(body, type=Metadata)

    lists = [page([thing("a", 1)], 9), page([thing("a", 12, broken=True)], 20)]
    async with watching(lists=lists, watches=[refusal(410, "Gone")], view=strict) as watched:
        await eventually(lambda: len(watched.peer.watches_seen()) == 2)
        assert watched.versions() == {"a": "1"}


async def test_garbage_that_comes_twice_is_skipped() -> None:
    garbled = Stream([b"garbage\n", event("ADDED", thing("a", 10)), event("SURPRISE", thing("b", 11)), STALL])
    async with watching(lists=[page([], 9)], watches=[garbled, garbled]) as watched:
        await watched.until("+a:10")
        await eventually(lambda: watched.informer._version == 11)
        assert len(watched.peer.watches_seen()) == 2


async def test_our_own_writes_are_read_at_once_and_late_events_change_nothing() -> None:
    gate = asyncio.Event()
    late = [event("ADDED", thing("a", 10)), event("MODIFIED", thing("a", 11)), event("MODIFIED", thing("a", 12)), STALL]
    async with watching(lists=[page([], 9)], watches=[Stream([gate, *late])]) as watched:
        await watched.informer.wait_synced(5)
        answer = watched.informer.observe(json.dumps(thing("a", 11)).encode())
        assert watched.informer.get(Key("demo", "a")) is answer
        gate.set()
        await watched.until("+a:11", "a:11>12")
        assert watched.informer.observe(json.dumps(thing("a", 10)).encode()).metadata.resource_version == "10"
        assert watched.versions() == {"a": "12"}


async def test_what_we_deleted_does_not_come_back_from_late_events() -> None:
    gate = asyncio.Event()
    late = [
        event("MODIFIED", thing("a", 10)),
        event("DELETED", thing("a", 11)),
        event("ADDED", thing("a", 12, uid="2")),
    ]
    async with watching(lists=[page([thing("a", 1)], 9)], watches=[Stream([gate, *late, STALL])]) as watched:
        await watched.informer.wait_synced(5)
        watched.informer.forget(Key("demo", "a"), "uid-a")
        gate.set()
        await watched.until("+a:1", "-a", "+a:12")


async def test_a_list_older_than_our_write_does_not_undo_it() -> None:
    lists: list[Any] = [page([], 9)]
    async with watching(lists=lists, watches=[refusal(410, "Gone")]) as watched:
        body = json.dumps(thing("a", 21)).encode()
        watched.peer.lists.append(lambda _: (watched.informer.observe(body), page([], 20))[1])
        await eventually(lambda: len(watched.peer.watches_seen()) == 2)
        assert watched.told == ["+a:21"]


@pytest.mark.parametrize(
    ("options", "stored"),
    [
        pytest.param({"namespace": "other"}, False, id="another namespace: not taken in"),
        pytest.param({"label_selector": "x=y"}, False, id="unknown under a selector: not taken in"),
        pytest.param({"namespace": "demo"}, True, id="same namespace: taken in"),
    ],
)
async def test_answers_outside_the_scope(options: dict[str, str], stored: bool) -> None:
    async with watching(lists=[], run=False, **options) as watched:
        assert watched.informer.observe(json.dumps(thing("a", 1)).encode()).metadata.name == "a"
        assert (watched.informer.get(Key("demo", "a")) is not None) is stored


async def test_listeners_see_every_change_in_order_and_disturb_nobody() -> None:
    def broken(change: Change[Body]) -> None:
        raise RuntimeError("listener")

    with capture_logs() as logs:
        async with watching(lists=[], run=False) as watched:
            watched.informer.subscribe(broken)
            watched.informer.observe(json.dumps(thing("a", 1)).encode())
            late: list[Key] = []
            watched.informer.subscribe(lambda change: late.append(change.key))
            assert watched.told == ["+a:1"]
            assert late == [Key("demo", "a")]
    assert [log["event"] for log in logs] == ["listener failed"]


async def test_indexes() -> None:
    by_owner: dict[str, Callable[[Body], Any]] = {"team": lambda body: [body.metadata.labels.get("team")]}
    async with watching(
        lists=[page([thing("a", 1, labels={"team": "x"}), thing("b", 2)], 9)], indexes=by_owner
    ) as watched:
        await watched.informer.wait_synced(5)
        assert [body.metadata.name for body in watched.informer.by("team", "x")] == ["a"]


async def test_a_long_list_lets_others_run() -> None:
    items = [thing(f"t{number}", number + 1, spec={"text": "x" * 500}) for number in range(2000)]
    pages = [page(items[at : at + 500], 9000, token="more" if at < 1500 else "") for at in range(0, 2000, 500)]
    async with watching(lists=pages) as watched:
        turns = 0
        while not watched.informer.has_synced:
            await asyncio.sleep(0)
            turns += 1
        assert turns >= 20
        assert len(watched.told) == 2000
