import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from structlog.testing import capture_logs

from dynamo_operator.runtime.capabilities import Capabilities
from tests.support.clock import EagerClock, ManualClock
from tests.support.peer import STALL, Answer, Peer, Stream, client_of, event, eventually, page, peer_running, refusal

WANTED = {"grove": ("grove.io", "podcliquesets"), "lws": ("lws.io", "leaderworkersets")}


def definition(version: int) -> dict[str, Any]:
    return {"metadata": {"name": "podcliquesets.grove.io", "uid": "u", "resourceVersion": str(version)}}


def serve(peer: Peer, *versions: str, plural: str = "podcliquesets") -> None:
    """Let discovery say that the group has these versions and the last one the kind."""
    group = {"versions": [{"version": v} for v in versions], "preferredVersion": {"version": versions[0]}}
    peer.routes["/apis/grove.io"] = Answer(json.dumps(group).encode())
    for version in versions:
        kinds = [{"name": plural}] if version == versions[-1] else [{"name": "others"}]
        peer.routes[f"/apis/grove.io/{version}"] = Answer(json.dumps({"resources": kinds}).encode())


@asynccontextmanager
async def following(peer: Peer, clock: ManualClock) -> AsyncIterator[tuple[Capabilities, list[tuple[str, bool]]]]:
    """Running capabilities and what they told."""
    peer.routes.setdefault("/apis/grove.io", refusal(404, "NotFound"))
    peer.routes.setdefault("/apis/lws.io", refusal(404, "NotFound"))
    told: list[tuple[str, bool]] = []
    async with client_of(peer) as client:
        capabilities = Capabilities(client, WANTED, clock=clock)
        capabilities.subscribe(lambda name, offered: told.append((name, offered)))
        task = asyncio.create_task(capabilities.run())
        try:
            yield capabilities, told
        finally:
            task.cancel()
            await asyncio.wait([task])


@pytest.fixture
async def peer() -> AsyncIterator[Peer]:
    async with peer_running() as running:
        yield running


async def test_what_is_served_at_the_start(peer: Peer) -> None:
    serve(peer, "v2", "v1alpha1")
    peer.lists.append(page([], 9))
    async with following(peer, ManualClock()) as (capabilities, told):
        await capabilities.wait_synced(5)
        assert capabilities.offers("grove")
        assert capabilities.version("grove") == "v1alpha1"
        assert not capabilities.offers("lws")
        assert capabilities.version("lws") == ""
        assert told == [("grove", True)]
        with pytest.raises(KeyError):
            capabilities.offers("kai")


async def test_a_group_without_the_kind_does_not_count(peer: Peer) -> None:
    serve(peer, "v1", plural="podgangs")
    async with following(peer, ManualClock()) as (capabilities, told):
        await capabilities.wait_synced(5)
        assert told == []


async def test_a_definition_that_comes_and_goes_is_followed_as_soon_as_discovery_follows(peer: Peer) -> None:
    come, gone = asyncio.Event(), asyncio.Event()
    peer.lists.append(page([], 9))
    said = [come, event("ADDED", definition(10)), gone, event("DELETED", definition(11)), STALL]
    peer.watches.append(Stream(said))
    clock = ManualClock()
    async with following(peer, clock) as (capabilities, told):
        await capabilities.wait_synced(5)
        come.set()
        await eventually(lambda: 0.5 in clock.naps)
        serve(peer, "v1")
        await clock.advance(0.5)
        await eventually(lambda: told == [("grove", True)])
        peer.routes["/apis/grove.io"] = refusal(404, "NotFound")
        gone.set()
        await eventually(lambda: told == [("grove", True), ("grove", False)])


async def test_a_definition_that_is_being_deleted_is_no_offer_although_it_is_served(peer: Peer) -> None:
    leave = asyncio.Event()
    serve(peer, "v1")
    peer.lists.append(page([definition(9)], 9))
    leaving = definition(10)
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    peer.watches.append(Stream([leave, event("MODIFIED", leaving), STALL]))
    async with following(peer, ManualClock()) as (capabilities, told):
        await capabilities.wait_synced(5)
        await eventually(lambda: told == [("grove", True)])
        leave.set()
        await eventually(lambda: told == [("grove", True), ("grove", False)])


async def test_discovery_that_never_follows_is_left_alone_after_a_while(peer: Peer) -> None:
    peer.lists.append(page([definition(1)], 9))
    clock = EagerClock()
    async with following(peer, clock) as (_, told):
        await eventually(lambda: len([nap for nap in clock.naps if nap > 40]) > 3)
        assert [nap for nap in clock.naps if nap in (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)] == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0]
        assert told == []


async def test_without_the_right_to_watch_discovery_is_polled_and_the_log_says_so_once(peer: Peer) -> None:
    peer.routes["/apis/apiextensions.k8s.io/v1/customresourcedefinitions"] = refusal(403, "Forbidden")
    clock = ManualClock()
    with capture_logs() as logs:
        async with following(peer, clock) as (capabilities, told):
            await capabilities.wait_synced(5)
            await eventually(lambda: clock.sleeping == 2)
            for expected in (True, False):
                if expected:
                    serve(peer, "v1")
                else:
                    peer.routes["/apis/grove.io"] = refusal(404, "NotFound")
                for _ in range(4):
                    await clock.advance(25)
                    await eventually(lambda: clock.sleeping == 2)
                await eventually(lambda want=expected: told and told[-1] == ("grove", want))
    assert [log["event"] for log in logs].count("definitions cannot be watched, discovery is polled") == 1


@pytest.mark.parametrize("answer", [refusal(500, "InternalError"), Answer(b"<html>")])
async def test_discovery_that_fails_changes_nothing_and_is_asked_again(peer: Peer, answer: Answer) -> None:
    serve(peer, "v1")
    peer.lists.append(page([], 9))
    come = asyncio.Event()
    peer.watches.append(Stream([come, event("ADDED", definition(10)), STALL]))
    clock = ManualClock()
    with capture_logs() as logs:
        async with following(peer, clock) as (capabilities, _):
            await capabilities.wait_synced(5)
            peer.routes["/apis/grove.io"] = answer
            come.set()
            await eventually(lambda: any(log["event"] == "discovery failed" for log in logs))
            assert capabilities.offers("grove")
            serve(peer, "v2")
            await eventually(lambda: any(4 <= nap <= 6 for nap in clock.naps))
            await clock.advance(6)
            await eventually(lambda: capabilities.version("grove") == "v2")


async def test_waiting_too_long_names_the_kinds(peer: Peer) -> None:
    peer.routes["/apis/grove.io"] = refusal(500, "InternalError")
    async with following(peer, ManualClock()) as (capabilities, _):
        with pytest.raises(TimeoutError, match="discovery did not answer for all of grove, lws"):
            await capabilities.wait_synced(0.05)


async def test_a_listener_that_fails_disturbs_nobody(peer: Peer) -> None:
    serve(peer, "v1")
    told: list[str] = []

    def broken(name: str, offered: bool) -> None:
        raise RuntimeError(name)

    async with client_of(peer) as client:
        capabilities = Capabilities(client, {"grove": ("grove.io", "podcliquesets")})
        capabilities.subscribe(broken)
        capabilities.subscribe(lambda name, _: told.append(name))
        with capture_logs() as logs:
            assert await capabilities._ask()
    assert told == ["grove"]
    assert "listener failed" in [log["event"] for log in logs]
