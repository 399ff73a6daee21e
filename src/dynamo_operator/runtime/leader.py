"""Leader election over a Lease, so that Go operators and this one exclude each other (platform.md 5 and 19.3)."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from uuid import uuid4

import msgspec
import structlog

from dynamo_operator.runtime.client import Client
from dynamo_operator.runtime.clock import Clock
from dynamo_operator.runtime.errors import ApiError, NotFound
from dynamo_operator.runtime.events import EventRecorder
from dynamo_operator.runtime.metrics import Metrics
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.views import ObjectMeta

LEASE: Final = Resource("coordination.k8s.io", "v1", "Lease", "leases")

# Candidates spread by up to this share of the retry period, as client-go's do.
_JITTER: Final = 1.2

_LOG: Final[Any] = structlog.get_logger("leader-election")

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Candidacy:
    """Who stands for which lease; times in seconds."""

    lease: Key
    identity: str
    duration: float = 15.0
    renew_deadline: float = 10.0
    retry_period: float = 2.0


class _LeaseSpec(msgspec.Struct, frozen=True, rename="camel"):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


class _Held(msgspec.Struct, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: _LeaseSpec = _LeaseSpec()


def new_identity(hostname: str) -> str:
    """A name for one run of the process: ``<hostname>_<uuid>``."""
    return f"{hostname}_{uuid4()}"


class Election:
    """Stands for a lease until it is held, and keeps it.

    A lease counts as held by another until it was not seen to change for its duration on our own clock, so that clocks
    need not agree.
    """

    def __init__(
        self,
        client: Client,
        candidacy: Candidacy,
        *,
        clock: Clock,
        metrics: Metrics,
        recorder: EventRecorder,
    ) -> None:
        self._client = client
        self._as = candidacy
        self._clock = clock
        self._recorder = recorder
        self._leading = metrics.leading.labels(candidacy.lease.name)
        self._slow_path = metrics.slow_path.labels(candidacy.lease.name)
        self._leading.set(0)
        self._seen: dict[str, Any] | None = None
        self._seen_at = 0.0
        self._announced = ""

    @property
    def holder(self) -> str:
        """Who holds the lease as far as was seen; empty when nobody does."""
        return self._held().spec.holder_identity or ""

    @property
    def leads(self) -> bool:
        """Whether this candidate holds the lease and it has not run out."""
        return self.holder == self._as.identity and self._valid()

    async def run(self, on_started: Callable[[], None], on_lost: Callable[[], None]) -> None:
        """Wait for leadership, tell, keep it; returns after ``on_lost`` when it was lost.

        When cancelled, the lease is released so that the next candidate need not wait; ``on_lost`` is not called.
        """
        try:
            await self._acquire()
            self._tell("became leader")
            self._leading.set(1)
            on_started()
            await self._keep()
            _LOG.error("leadership lost", lease=str(self._as.lease), holder=self.holder)
        except asyncio.CancelledError:
            await self._release()
            raise
        finally:
            self._leading.set(0)
        self._tell("stopped leading")
        on_lost()

    async def _acquire(self) -> None:
        while not await self._attempt(self._as.renew_deadline):
            if self.holder != self._announced:
                self._announced = self.holder
                _LOG.info("waiting for leadership", lease=str(self._as.lease), holder=self.holder)
            spread = 1 + random.random() * _JITTER  # noqa: S311 - spreads load, guards nothing
            await self._clock.sleep(self._as.retry_period * spread)
        _LOG.info("leading", lease=str(self._as.lease), identity=self._as.identity)

    async def _keep(self) -> None:
        """Renew until that failed for the renew deadline, or another one holds the lease."""
        patience = self._as.retry_period + self._as.renew_deadline
        deadline = self._clock.monotonic() + patience
        while True:
            await self._clock.sleep(max(0.0, min(self._as.retry_period, deadline - self._clock.monotonic())))
            remaining = deadline - self._clock.monotonic()
            if remaining > 0 and await self._attempt(remaining):
                # The wait before the next renewal does not count, as in client-go.
                deadline = self._clock.monotonic() + patience
            elif remaining <= 0 or self.holder not in ("", self._as.identity):
                return

    async def _attempt(self, limit: float) -> bool:
        """Try once to take or renew the lease, within half the renew deadline or the limit."""
        try:
            seconds = min(self._as.renew_deadline / 2, limit)
            return await _within(self._clock, seconds, self._take_or_renew())
        except (ApiError, TimeoutError, msgspec.MsgspecError) as error:
            _LOG.warning("failed to take or renew the lease", lease=str(self._as.lease), error=str(error))
            return False

    async def _take_or_renew(self) -> bool:
        if self._seen is not None and self.leads:
            try:
                await self._write(self._seen)
            except ApiError:
                # Somebody else wrote, or a former answer was lost: read what there is.
                self._slow_path.inc()
            else:
                return True
        try:
            found = msgspec.json.decode(await self._client.get(LEASE, self._as.lease))
        except NotFound:
            await self._create()
            return True
        if self._seen is None or found.get("spec") != self._seen.get("spec"):
            self._see(found)
        if self.holder not in ("", self._as.identity) and self._valid():
            return False
        await self._write(found)
        return True

    async def _create(self) -> None:
        manifest = {
            "apiVersion": LEASE.api_version,
            "kind": LEASE.kind,
            "metadata": {"namespace": self._as.lease.namespace, "name": self._as.lease.name},
            "spec": self._claim(None),
        }
        answer = await self._client.create(
            LEASE, self._as.lease.namespace, manifest, field_manager=self._field_manager()
        )
        self._see(msgspec.json.decode(answer))

    async def _write(self, base: Mapping[str, Any], spec: Mapping[str, Any] | None = None) -> None:
        """Replace the lease read before; the API server refuses when it changed since."""
        lease = {**base, "spec": spec or self._claim(msgspec.convert(base.get("spec") or {}, _LeaseSpec))}
        path = LEASE.path(self._as.lease.namespace, self._as.lease.name)
        params = {"fieldManager": self._field_manager()}
        answer = await self._client.raw("PUT", path, params=params, body=msgspec.json.encode(lease))
        self._see(msgspec.json.decode(answer))

    def _claim(self, before: _LeaseSpec | None) -> dict[str, Any]:
        """The spec that says: ours, from now on."""
        now = self._clock.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        ours = before is not None and before.holder_identity == self._as.identity
        transitions = (before.lease_transitions or 0) + (not ours) if before is not None else 0
        return {
            "holderIdentity": self._as.identity,
            "leaseDurationSeconds": round(self._as.duration),
            "acquireTime": (before.acquire_time if before is not None and ours else None) or now,
            "renewTime": now,
            "leaseTransitions": transitions,
        }

    async def _release(self) -> None:
        """Say that nobody leads; without success the next candidate waits for the lease to run out."""
        if not self.leads or self._seen is None:
            return
        now = self._clock.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        transitions = self._held().spec.lease_transitions or 0
        # One second, as client-go writes it: a duration must not be zero.
        times = {"leaseDurationSeconds": 1, "acquireTime": now, "renewTime": now}
        spec = {"holderIdentity": "", "leaseTransitions": transitions, **times}
        try:
            await _within(self._clock, self._as.renew_deadline / 2, self._write(self._seen, spec))
        except (ApiError, TimeoutError) as error:
            _LOG.warning("failed to release the lease", lease=str(self._as.lease), error=str(error))
        self._tell("stopped leading")

    def _see(self, lease: dict[str, Any]) -> None:
        self._seen = lease
        self._seen_at = self._clock.monotonic()

    def _held(self) -> _Held:
        return msgspec.convert(self._seen or {}, _Held)

    def _valid(self) -> bool:
        seconds = self._held().spec.lease_duration_seconds or 0
        return self._seen_at + seconds > self._clock.monotonic()

    def _field_manager(self) -> str:
        return self._as.identity.partition("_")[0][:128] or "leader-election"

    def _tell(self, what: str) -> None:
        meta = self._held().metadata
        self._recorder.record((LEASE, meta), "Normal", "LeaderElection", f"{self._as.identity} {what}")


async def _within(clock: Clock, seconds: float, work: Coroutine[Any, Any, R]) -> R:
    """The result of the work. Raises TimeoutError when it takes longer on that clock."""
    task = asyncio.ensure_future(work)
    alarm = asyncio.ensure_future(clock.sleep(seconds))
    try:
        await asyncio.wait({task, alarm}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise TimeoutError(f"no answer in {seconds:g} s")
        return task.result()
    finally:
        task.cancel()
        alarm.cancel()
