import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from dynamo_operator.runtime import errors
from dynamo_operator.runtime.client import Client, RequestSample
from dynamo_operator.runtime.credentials import ConfigError, Fixed, Identity
from dynamo_operator.runtime.kubeconfig import ClusterConfig
from dynamo_operator.runtime.resource import Key, Resource
from tests.support.clock import EagerClock
from tests.support.peer import (
    CUT,
    END,
    STALL,
    Answer,
    Asked,
    Peer,
    Stream,
    client_of,
    eventually,
    page,
    peer_running,
    refusal,
    thing,
)

THINGS = Resource("example.com", "v1", "Thing", "things")
KEY = Key("demo", "a")
PATH = "/apis/example.com/v1/namespaces/demo/things"


@pytest.fixture
async def peer() -> AsyncIterator[Peer]:
    async with peer_running() as running:
        yield running


@pytest.fixture
def clock() -> EagerClock:
    return EagerClock()


@pytest.fixture
async def client(peer: Peer, clock: EagerClock) -> AsyncIterator[Client]:
    async with client_of(peer, clock=clock) as made:
        yield made


Request = Callable[[Client], Awaitable[Any]]

VERBS: dict[str, Request] = {
    "get": lambda c: c.get(THINGS, KEY),
    "create": lambda c: c.create(THINGS, "demo", {"a": 1}, field_manager="m"),
    "apply": lambda c: c.apply(THINGS, KEY, {"a": 1}, field_manager="m"),
    "merge_patch": lambda c: c.merge_patch(THINGS, KEY, b'{"a":1}', field_manager="m", subresource="status"),
    "json_patch": lambda c: c.json_patch(THINGS, KEY, [{"op": "test"}], field_manager="m"),
    "delete": lambda c: c.delete(THINGS, KEY),
    "delete with uid": lambda c: c.delete(THINGS, KEY, uid="u"),
    "raw": lambda c: c.raw("POST", "/x", params={"q": "a b"}, body=b"{}"),
}

SENT = [
    ("get", "GET", f"{PATH}/a", {}, None, b""),
    ("create", "POST", PATH, {"fieldManager": "m"}, "application/json", b'{"a":1}'),
    ("apply", "PATCH", f"{PATH}/a", {"fieldManager": "m", "force": "true"}, "application/apply-patch+yaml", b'{"a":1}'),
    ("merge_patch", "PATCH", f"{PATH}/a/status", {"fieldManager": "m"}, "application/merge-patch+json", b'{"a":1}'),
    ("json_patch", "PATCH", f"{PATH}/a", {"fieldManager": "m"}, "application/json-patch+json", b'[{"op":"test"}]'),
    ("raw", "POST", "/x", {"q": "a b"}, "application/json", b"{}"),
]


@pytest.mark.parametrize(("verb", "method", "path", "query", "content_type", "body"), SENT)
async def test_what_is_sent(  # noqa: PLR0917 - the columns of the table
    client: Client, peer: Peer, verb: str, method: str, path: str, query: dict[str, str], content_type: str, body: bytes
) -> None:
    peer.answers.append(Answer(b'{"answer": 1}'))
    assert await VERBS[verb](client) == b'{"answer": 1}'
    (asked,) = peer.asked
    assert (asked.method, asked.path, asked.query, asked.body) == (method, path, query, body)
    assert asked.headers.get("Content-Type") == content_type
    assert asked.headers["Accept"] == "application/json"
    assert asked.headers["User-Agent"] == "test/1"


async def test_deletion_names_uid_and_propagation_and_takes_absence_for_done(client: Client, peer: Peer) -> None:
    peer.answers.append(refusal(404, "NotFound"))
    await client.delete(THINGS, KEY, uid="u", propagation="Foreground")
    options = json.loads(peer.asked[0].body)
    assert options["preconditions"] == {"uid": "u"}
    assert options["propagationPolicy"] == "Foreground"


@pytest.mark.parametrize("verb", VERBS)
async def test_refused_for_a_moment_is_tried_again_by_every_verb(
    client: Client, peer: Peer, clock: EagerClock, verb: str
) -> None:
    peer.answers.extend(
        [refusal(429, "TooManyRequests", retry_after="2"), refusal(503, "ServiceUnavailable", retry_after="0")]
    )
    await VERBS[verb](client)
    assert len(peer.asked) == 3
    assert clock.naps == [2.0, 0.05]


GIVEN_UP = [
    pytest.param(refusal(503, "ServiceUnavailable"), 1, errors.Unavailable, id="no Retry-After: not tried again"),
    pytest.param(
        refusal(429, "TooManyRequests", retry_after="11"), 1, errors.TooManyRequests, id="too long: not tried again"
    ),
    pytest.param(
        refusal(429, "TooManyRequests", retry_after="1"), 6, errors.TooManyRequests, id="again and again: given up"
    ),
    pytest.param(refusal(429, "", retry_after="tomorrow"), 1, errors.TooManyRequests, id="a date: not understood"),
    pytest.param(refusal(409, "Conflict", retry_after="1"), 1, errors.Conflict, id="conflict: the caller's business"),
    pytest.param(Answer(b"moved", 302, {"Location": "/x"}), 1, errors.ApiError, id="redirect: not followed"),
    pytest.param(refusal(401, "Unauthorized"), 1, errors.Unauthorized, id="wrong fixed token: no second attempt"),
]


@pytest.mark.parametrize(("answer", "attempts", "error"), GIVEN_UP)
async def test_when_it_gives_up(
    client: Client, peer: Peer, answer: Answer, attempts: int, error: type[errors.ApiError]
) -> None:
    peer.answers.extend([answer] * 10)
    with pytest.raises(error) as caught:
        await client.get(THINGS, KEY)
    assert len(peer.asked) == attempts
    assert caught.value.request == f"GET {PATH}/a"


@pytest.mark.parametrize(
    ("verb", "attempts"),
    [
        ("get", 3),
        ("apply", 3),
        ("merge_patch", 3),
        ("delete with uid", 3),
        ("delete", 1),
        ("create", 1),
        ("json_patch", 1),
    ],
)
async def test_a_lost_connection_is_tried_again_only_where_twice_is_once(
    client: Client, peer: Peer, verb: str, attempts: int
) -> None:
    peer.answers.extend([Answer(cut=True)] * 20)
    with pytest.raises(errors.Unreachable) as caught:
        await VERBS[verb](client)
    # aiohttp itself repeats a GET or DELETE once when a kept connection turns out dead.
    assert attempts <= len(peer.asked) <= 2 * attempts
    assert caught.value.status == 0
    assert caught.value.category == "internal"


async def test_nobody_listens_is_unreachable(clock: EagerClock) -> None:
    async with Client(ClusterConfig("http://127.0.0.1:9"), user_agent="t", clock=clock) as client:
        with pytest.raises(errors.Unreachable, match=r"^GET /apis/[a-z0-9./]+: no answer"):
            await client.get(THINGS, KEY)
    assert len(clock.naps) == 2


async def test_a_server_that_says_nothing_is_given_up_after_the_timeout(client: Client, peer: Peer) -> None:
    peer.watches.append(Stream([STALL]))
    with pytest.raises(errors.Unreachable, match="in time") as caught:
        await client.raw("GET", "/x", params={"watch": "1"}, timeout=0.05)
    assert caught.value.reason == "TimedOut"
    assert len(peer.asked) == 1


async def test_pages_follow_the_continue_token(client: Client, peer: Peer) -> None:
    peer.lists.extend([page([thing("a", 1)], 7, token="next one"), page([thing("b", 2)], 7)])
    pages = client.list_pages(THINGS, limit=1, label_selector="a in (b)", field_selector="x=y")
    assert len([body async for body in pages]) == 2
    first, second = (asked.query for asked in peer.asked)
    assert first == {"limit": "1", "labelSelector": "a in (b)", "fieldSelector": "x=y"}
    assert second == {"limit": "1", "labelSelector": "a in (b)", "fieldSelector": "x=y", "continue": "next one"}


async def test_metadata_only_asks_for_partial_objects(client: Client, peer: Peer) -> None:
    peer.lists.append(Answer(b"no JSON is one page"))
    peer.watches.append(Stream([END]))
    assert [body async for body in client.list_pages(THINGS, metadata_only=True)] == [b"no JSON is one page"]
    _ = [line async for line in watch(client, metadata_only=True, namespace="demo")]
    assert peer.asked[0].headers["Accept"].startswith("application/json;as=PartialObjectMetadataList;")
    assert peer.asked[1].headers["Accept"].startswith("application/json;as=PartialObjectMetadata;")
    assert peer.asked[1].path == PATH


def watch(client: Client, **more: Any) -> Any:
    settings = {"resource_version": "7", "timeout_seconds": 300.4, "inactivity_seconds": 5.0, **more}
    return client.watch(THINGS, **settings)


async def test_a_watch_yields_whole_lines_of_any_size_however_they_come(client: Client, peer: Peer) -> None:
    huge = b'{"type":"ADDED","object":"' + b"x" * 1_500_000 + b'"}'
    peer.watches.append(Stream([b'{"type":', b'"BOOKMARK"}\n' + huge[:900_000], huge[900_000:], b"\n{}\nrest", END]))
    opened: list[bool] = []
    lines = [line async for line in watch(client, opened=lambda: opened.append(True))]
    assert lines == [b'{"type":"BOOKMARK"}', huge, b"{}"]
    assert opened == [True]
    assert peer.asked[0].query == {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": "7",
        "timeoutSeconds": "300",
    }


@pytest.mark.parametrize(("step", "reason"), [(CUT, "ConnectionLost"), (STALL, "TimedOut")])
async def test_a_watch_that_breaks_gives_what_came_and_says_so(
    client: Client, peer: Peer, step: str, reason: str
) -> None:
    gate = asyncio.Event()
    peer.watches.append(Stream([b"{}\n", gate, step]))
    lines = watch(client, inactivity_seconds=0.2)
    assert await anext(lines) == b"{}"
    gate.set()
    with pytest.raises(errors.Unreachable) as caught:
        await anext(lines)
    assert caught.value.reason == reason


async def test_a_watch_that_is_refused_raises_at_once(client: Client, peer: Peer) -> None:
    peer.watches.append(refusal(410, "Expired"))
    with pytest.raises(errors.Gone):
        await anext(watch(client))


async def test_a_watch_that_is_closed_early_leaves_nothing_behind(client: Client, peer: Peer) -> None:
    peer.watches.append(Stream([b"{}\n", STALL]))
    lines = watch(client)
    assert await anext(lines) == b"{}"
    await lines.aclose()
    await client.get(THINGS, KEY)


async def test_a_request_that_is_cancelled_leaves_the_client_whole(client: Client, peer: Peer) -> None:
    peer.watches.append(Stream([b"{", STALL]))
    request = asyncio.create_task(client.raw("GET", "/x", params={"watch": "1"}))
    await eventually(lambda: peer.asked)
    request.cancel()
    await asyncio.wait([request])
    assert request.cancelled()
    assert await client.get(THINGS, KEY) == b"{}"


class Rotating:
    """Credentials of which the first is refused."""

    def __init__(self) -> None:
        self.number = 0
        self.identity: Identity | None = None

    def current(self) -> Identity | None:
        return self.identity

    async def renew(self) -> Identity:
        self.number += 1
        if self.number > 2:
            raise ConfigError("no more tokens")
        self.identity = Identity(f"Bearer {self.number}")
        return self.identity

    def reject(self) -> bool:
        self.identity = None
        return True


async def test_a_refused_identity_is_renewed_once(peer: Peer) -> None:
    def check(asked: Asked) -> Answer:
        return Answer() if asked.headers["Authorization"] == "Bearer 2" else refusal(401, "Unauthorized")

    peer.answers.extend([check] * 3)
    credentials = Rotating()
    async with client_of(peer, credentials=credentials) as client:
        await client.create(THINGS, "demo", {}, field_manager="m")
        credentials.reject()
        with pytest.raises(errors.Unauthorized, match="no more tokens"):
            await client.get(THINGS, KEY)
    assert len(peer.asked) == 2


async def test_every_attempt_is_measured(peer: Peer, clock: EagerClock) -> None:
    samples: list[RequestSample] = []
    peer.answers.extend([refusal(429, "TooManyRequests", retry_after="1"), Answer(), Answer(cut=True)])
    async with client_of(peer, clock=clock, observe=samples.append, credentials=Fixed(token="t")) as client:
        await client.get(THINGS, KEY)
        with pytest.raises(errors.Unreachable):
            await client.create(THINGS, "demo", {}, field_manager="m")
    assert [(sample.method, sample.code) for sample in samples] == [("GET", "429"), ("GET", "200"), ("POST", "<error>")]
    assert samples[0].host == peer.url.removeprefix("http://")
    assert peer.asked[0].headers["Authorization"] == "Bearer t"


async def test_a_client_outside_its_context_says_so() -> None:
    client = Client(ClusterConfig("http://127.0.0.1:9"), user_agent="t")
    with pytest.raises(RuntimeError, match="outside its context"):
        await client.get(THINGS, KEY)
    await client.__aexit__(None, None, None)
