"""Leader election, with clocks that stand still."""

import asyncio
import re
from typing import Any

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from dynamo_operator.runtime.errors import AlreadyExists, Conflict, NotFound, Unreachable
from dynamo_operator.runtime.leader import LEASE, Candidacy, Election, new_identity
from dynamo_operator.runtime.metrics import Metrics
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.views import ObjectMeta
from tests.support.clock import ManualClock, settle

KEY = Key("n", "lock")


class Leases:
    """One lease as an API server keeps it; ``down`` refuses everything, ``hang`` answers nothing."""

    def __init__(self) -> None:
        self.lease: dict[str, Any] | None = None
        self.version = 0
        self.down = self.hang = False
        self.calls: list[str] = []

    async def _serve(self, verb: str) -> None:
        self.calls.append(verb)
        if self.hang:
            await asyncio.get_running_loop().create_future()
        if self.down:
            raise Unreachable(message="refused")

    def store(self, lease: dict[str, Any]) -> bytes:
        self.version += 1
        self.lease = {**lease, "metadata": {**lease["metadata"], "resourceVersion": str(self.version)}}
        return msgspec.json.encode(self.lease)

    async def get(self, _: Resource, key: Key) -> bytes:
        await self._serve("get")
        if self.lease is None:
            raise NotFound(status=404)
        return msgspec.json.encode(self.lease)

    async def create(self, _: Resource, namespace: str, manifest: dict[str, Any], *, field_manager: str) -> bytes:
        await self._serve("create")
        if self.lease is not None:
            raise AlreadyExists(status=409)
        return self.store(manifest)

    async def raw(self, method: str, path: str, *, params: dict[str, str], body: bytes) -> bytes:
        await self._serve("put")
        lease = msgspec.json.decode(body)
        if self.lease is None or lease["metadata"]["resourceVersion"] != self.lease["metadata"]["resourceVersion"]:
            raise Conflict(status=409)
        return self.store(lease)

    @property
    def spec(self) -> dict[str, Any]:
        assert self.lease is not None
        return self.lease["spec"]

    def taken_by(self, holder: str, seconds: int = 15, transitions: int = 3) -> None:
        spec = {"holderIdentity": holder, "leaseDurationSeconds": seconds, "leaseTransitions": transitions}
        self.store({"metadata": {"namespace": "n", "name": "lock", "labels": {"kept": "x"}}, "spec": spec})


class Recorder:
    def __init__(self) -> None:
        self.said: list[str] = []

    def record(self, regarding: tuple[Resource, ObjectMeta], type_: str, reason: str, message: str) -> None:
        assert (regarding[0], reason) == (LEASE, "LeaderElection")
        self.said.append(message)


class Candidate:
    """One process that stands for the lease."""

    def __init__(self, leases: Leases, clock: ManualClock, name: str = "me", **more: Any) -> None:
        self.said: list[str] = []
        self.recorder, self.registry = Recorder(), CollectorRegistry()
        self.election = Election(
            leases,  # type: ignore[arg-type]
            Candidacy(KEY, name, **more),
            clock=clock,
            metrics=Metrics(self.registry, clock=clock, process=False),
            recorder=self.recorder,  # type: ignore[arg-type]
        )

    async def start(self) -> None:
        run = self.election.run(lambda: self.said.append("started"), lambda: self.said.append("lost"))
        self.task = asyncio.create_task(run)
        await settle()

    async def stop(self) -> None:
        self.task.cancel()
        await asyncio.wait([self.task])

    def sample(self, name: str) -> float | None:
        return self.registry.get_sample_value(name, {"name": "lock"})


@pytest.fixture
def leases() -> Leases:
    return Leases()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


async def test_no_lease_it_is_created_and_we_lead(leases: Leases, clock: ManualClock) -> None:
    me = Candidate(leases, clock)
    await me.start()
    assert leases.spec == {
        "holderIdentity": "me",
        "leaseDurationSeconds": 15,
        "acquireTime": "2026-01-01T00:00:00.000000Z",
        "renewTime": "2026-01-01T00:00:00.000000Z",
        "leaseTransitions": 0,
    }
    assert (me.said, me.sample("leader_election_master_status")) == (["started"], 1.0)
    await me.stop()
    assert (me.said, me.sample("leader_election_master_status")) == (["started"], 0.0)


async def test_we_lead_the_lease_is_renewed_without_reading_it(leases: Leases, clock: ManualClock) -> None:
    me = Candidate(leases, clock)
    await me.start()
    await clock.advance(4.5)
    assert leases.calls == ["get", "create", "put", "put"]
    assert (leases.spec["renewTime"], leases.spec["acquireTime"][17:19]) == ("2026-01-01T00:00:04.000000Z", "00")
    await me.stop()


async def test_clean_stop_the_lease_is_released_and_the_next_takes_it_soon(leases: Leases, clock: ManualClock) -> None:
    me, you = Candidate(leases, clock, "me"), Candidate(leases, clock, "you")
    await me.start()
    await you.start()
    await me.stop()
    assert (leases.spec["holderIdentity"], leases.spec["leaseDurationSeconds"]) == ("", 1)
    await clock.advance(4.5)
    assert (you.said, leases.spec["holderIdentity"], leases.spec["leaseTransitions"]) == (["started"], "you", 1)
    assert me.recorder.said == ["me became leader", "me stopped leading"]
    await you.stop()


async def test_holder_is_silent_for_the_duration_on_our_clock_we_take_over(leases: Leases, clock: ManualClock) -> None:
    leases.taken_by("other")
    me = Candidate(leases, clock)
    await me.start()
    await clock.advance(14)
    assert me.said == []
    await clock.advance(6)
    assert (me.said, leases.spec["leaseTransitions"]) == (["started"], 4)
    assert leases.lease is not None
    assert leases.lease["metadata"]["labels"] == {"kept": "x"}
    await me.stop()


async def test_holder_renews_we_wait(leases: Leases, clock: ManualClock) -> None:
    me = Candidate(leases, clock)
    for n in range(10):
        leases.taken_by("other", transitions=n)
        if not n:
            await me.start()
        await clock.advance(10)
    assert (me.said, me.election.holder, me.election.leads) == ([], "other", False)
    await me.stop()
    assert leases.spec["holderIdentity"] == "other"


@pytest.mark.parametrize("fault", ["down", "hang"])
async def test_server_is_away_for_the_deadline_leadership_is_lost(
    leases: Leases, clock: ManualClock, fault: str
) -> None:
    me = Candidate(leases, clock)
    await me.start()
    setattr(leases, fault, True)
    await clock.advance(11.9)
    assert me.said == ["started"]
    await clock.advance(0.2)
    assert (me.said, me.sample("leader_election_master_status")) == (["started", "lost"], 0.0)
    await asyncio.wait([me.task])


async def test_server_is_away_for_a_while_leadership_stays(leases: Leases, clock: ManualClock) -> None:
    me = Candidate(leases, clock)
    await me.start()
    leases.down = True
    await clock.advance(9)
    leases.down = False
    await clock.advance(20)
    assert me.said == ["started"]
    assert me.sample("leader_election_slowpath_total") == 4.0
    await me.stop()


async def test_another_took_the_lease_leadership_is_lost_at_once(leases: Leases, clock: ManualClock) -> None:
    me = Candidate(leases, clock)
    await me.start()
    leases.taken_by("other")
    await clock.advance(2.1)
    assert me.said == ["started", "lost"]
    await asyncio.wait([me.task])


async def test_lease_is_deleted_while_we_lead_it_is_made_again(leases: Leases, clock: ManualClock) -> None:
    me = Candidate(leases, clock)
    await me.start()
    leases.lease = None
    await clock.advance(2.1)
    assert (me.said, leases.spec["holderIdentity"]) == (["started"], "me")
    await me.stop()


@pytest.mark.parametrize("fault", ["down", "hang"])
async def test_server_is_away_at_the_end_we_leave_without_release(
    leases: Leases, clock: ManualClock, fault: str
) -> None:
    me = Candidate(leases, clock)
    await me.start()
    setattr(leases, fault, True)
    me.task.cancel()
    await clock.advance(5)
    await asyncio.wait([me.task])
    assert leases.spec["holderIdentity"] == "me"


async def test_garbled_lease_is_not_taken(leases: Leases, clock: ManualClock) -> None:
    leases.store({"metadata": {"name": "lock"}, "spec": {"holderIdentity": 7}})
    me = Candidate(leases, clock)
    await me.start()
    await clock.advance(30)
    assert me.said == []
    await me.stop()


def test_identity_is_unique_and_tells_the_host() -> None:
    assert re.fullmatch(r"pod-1_[0-9a-f-]{36}", new_identity("pod-1"))
    assert new_identity("a") != new_identity("a")
