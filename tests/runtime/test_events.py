"""Events about objects."""

import asyncio
from typing import Any

import msgspec
import pytest

from dynamo_operator.runtime.errors import Forbidden, NotFound
from dynamo_operator.runtime.events import EventRecorder
from dynamo_operator.runtime.resource import Resource
from dynamo_operator.runtime.views import ObjectMeta
from tests.support.clock import ManualClock, settle

GRAPH = Resource("nvidia.com", "v1", "Graph", "graphs")
META = ObjectMeta(name="g", namespace="n", uid="u", resource_version="7")


class Api:
    def __init__(self) -> None:
        self.made: list[dict[str, Any]] = []
        self.patches: list[dict[str, Any]] = []
        self.failures: list[Exception] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def create(self, _: Resource, namespace: str, manifest: dict[str, Any], *, field_manager: str) -> bytes:
        await self.gate.wait()
        if self.failures:
            raise self.failures.pop(0)
        self.made.append(manifest)
        return msgspec.json.encode(manifest)

    async def merge_patch(self, _: Resource, key: Any, patch: dict[str, Any], *, field_manager: str) -> bytes:
        if self.failures:
            raise self.failures.pop(0)
        self.patches.append({"key": key, **patch})
        return b"{}"


class Bed:
    def __init__(self) -> None:
        self.api, self.clock = Api(), ManualClock()
        self.recorder = EventRecorder(self.api, "operator", self.clock)  # type: ignore[arg-type]

    async def __aenter__(self) -> "Bed":  # noqa: PYI034
        self.task = asyncio.create_task(self.recorder.run())
        return self

    async def __aexit__(self, *_: object) -> None:
        self.task.cancel()
        await asyncio.wait([self.task])

    async def say(self, message: str = "hello", meta: ObjectMeta = META) -> None:
        self.recorder.record((GRAPH, meta), "Normal", "Said", message)
        await settle()


async def test_something_is_said_an_event_is_made() -> None:
    async with Bed() as bed:
        await bed.say()
    [event] = bed.api.made
    assert event["metadata"]["name"].startswith("g.")
    assert event["involvedObject"] == {
        "apiVersion": "nvidia.com/v1",
        "kind": "Graph",
        "namespace": "n",
        "name": "g",
        "uid": "u",
        "resourceVersion": "7",
    }
    assert (event["reason"], event["message"], event["count"]) == ("Said", "hello", 1)
    assert (event["firstTimestamp"], event["source"]) == ("2026-01-01T00:00:00Z", {"component": "operator"})


async def test_work_goes_on_an_event_waits_for_half_a_minute_at_most() -> None:
    asked: list[float] = []

    async def busy(seconds: float) -> None:
        asked.append(seconds)

    async with Bed() as bed:
        bed.recorder.my_turn = busy
        bed.api.gate.clear()
        await bed.say("first")
        await bed.say("second")
        await bed.clock.advance(20.0)
        bed.api.gate.set()
        await settle()
        await bed.say("third")
        assert asked == pytest.approx([30.0, 10.0, 30.0])
        assert [event["message"] for event in bed.api.made] == ["first", "second", "third"]


async def test_same_is_said_again_the_count_rises() -> None:
    async with Bed() as bed:
        await bed.say()
        await bed.clock.advance(60)
        await bed.say()
        await bed.say("other")
    assert len(bed.api.made) == 2
    assert [(patch["count"], patch["lastTimestamp"]) for patch in bed.api.patches] == [(2, "2026-01-01T00:01:00Z")]


async def test_same_is_said_much_later_another_event_is_made() -> None:
    async with Bed() as bed:
        await bed.say()
        await bed.clock.advance(601)
        await bed.say()
    names = {event["metadata"]["name"] for event in bed.api.made}
    assert (len(names), bed.api.patches) == (2, [])


async def test_event_expired_meanwhile_another_is_made() -> None:
    async with Bed() as bed:
        await bed.say()
        bed.api.failures = [NotFound(status=404)]
        await bed.say()
    assert len(bed.api.made) == 2


async def test_object_says_too_much_the_rest_is_dropped_until_time_passes() -> None:
    async with Bed() as bed:
        for n in range(30):
            await bed.say(f"{n}")
        await bed.say(meta=ObjectMeta(name="other", uid="o"))
        assert (len(bed.api.made), bed.recorder.dropped) == (26, 5)
        await bed.clock.advance(300)
        await bed.say("30")
        await bed.say("31")
    assert (len(bed.api.made), bed.recorder.dropped) == (27, 6)
    assert bed.api.made[25]["metadata"]["namespace"] == "default"


@pytest.mark.parametrize(
    "failure",
    [
        pytest.param(Forbidden(status=403), id="server refuses: nobody notices but the count"),
        pytest.param(ValueError("no JSON"), id="answer makes no sense: the next event is written all the same"),
    ],
)
async def test_event_fails(failure: Exception) -> None:
    async with Bed() as bed:
        bed.api.failures = [failure]
        await bed.say("lost")
        await bed.say("kept")
    assert ([event["message"] for event in bed.api.made], bed.recorder.dropped) == (["kept"], 1)


async def test_long_message_is_cut() -> None:
    async with Bed() as bed:
        await bed.say("x" * 5000)
    assert len(bed.api.made[0]["message"]) == 1024


async def test_recorder_stops_what_is_pending_is_still_written() -> None:
    async with Bed() as bed:
        bed.api.gate.clear()
        for n in range(3):
            bed.recorder.record((GRAPH, META), "Warning", "Said", f"{n}")
        await settle()
        bed.task.cancel()
        await settle()
        bed.api.gate.set()
        await asyncio.wait([bed.task])
    assert [event["message"] for event in bed.api.made] == ["0", "1", "2"]


async def test_server_hangs_at_the_end_what_is_pending_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dynamo_operator.runtime.events.FLUSH_SECONDS", 0)
    async with Bed() as bed:
        bed.api.gate.clear()
        await bed.say()
    assert bed.recorder.dropped == 1


async def test_far_too_much_is_said_memory_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dynamo_operator.runtime.events._PENDING", 3)
    monkeypatch.setattr("dynamo_operator.runtime.events._REMEMBERED", 2)
    bed = Bed()
    for n in range(5):
        bed.recorder.record((GRAPH, ObjectMeta(name="g", uid=f"{n}")), "Normal", "Said", "x")
    assert bed.recorder.dropped == 2
    async with bed:
        await settle()
    assert (len(bed.recorder._entries), len(bed.recorder._buckets)) == (2, 2)
