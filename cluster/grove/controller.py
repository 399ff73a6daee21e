"""Does what is to be done for each PodCliqueSet, step by step, until nothing is left."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from typing import Any, Final

from cluster.grove import facts
from cluster.grove.facts import Gang, Seen
from cluster.grove.steps import Change, Create, Report, Step, next_steps, waits_for
from dynamo_operator.runtime.background import Background
from dynamo_operator.runtime.client import Client
from dynamo_operator.runtime.clock import SystemClock
from dynamo_operator.runtime.controller import Controller, Result
from dynamo_operator.runtime.errors import AlreadyExists, ApiError, Conflict, NotFound
from dynamo_operator.runtime.health import Health
from dynamo_operator.runtime.informer import Informer
from dynamo_operator.runtime.kubeconfig import load_config
from dynamo_operator.runtime.queue import WorkQueue
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.server import Address, health_app, serving
from dynamo_operator.runtime.store import Change as Changed

MANAGER: Final = facts.GROVE
_CHILDREN: Final = (facts.CLIQUES, facts.GROUPS, facts.PODS, facts.SERVICES)
_BY_SET: Final = "set"
# More rounds than any set needs; what is still not done then is begun anew.
_ROUNDS: Final = 50
_PAUSE: Final = 1.0
_WORKERS: Final = 8

Caches = Mapping[Resource, Informer[Seen]]


class StandIn:
    """Looks after all PodCliqueSets of a cluster."""

    def __init__(self, client: Client) -> None:
        self._client, self._clock = client, SystemClock()
        self._caches = build_caches(client)
        self.controller = Controller("PodCliqueSet", self.reconcile, WorkQueue(self._clock), workers=_WORKERS)
        for resource, cache in self._caches.items():
            self.controller.watch(cache, _itself if resource is facts.SETS else _its_set)

    def unsynced(self) -> str | None:
        """What is not listed yet; None when all is."""
        waiting = [resource.plural for resource, cache in self._caches.items() if not cache.has_synced]
        return f"not listed yet: {', '.join(waiting)}" if waiting else None

    async def run(self, stop: asyncio.Event) -> int:
        """Work until told to stop; 1 when a part of it broke."""
        background = Background(stop.set)
        for resource, cache in self._caches.items():
            background.start(cache.run(), name=f"cache of {resource.plural}")
        try:
            for cache in self._caches.values():
                await cache.wait_synced(60)
            background.start(self.controller.run(), name="controller")
            await stop.wait()
            return 1 if background.broken else 0
        finally:
            await background.cancel()

    async def reconcile(self, key: Key) -> Result:
        """Bring one set to what it asks for. Raises what the API server has against a pod, once all else is done."""
        refused: dict[str, ApiError] = {}
        for _ in range(_ROUNDS):
            gang = self._gang(key, {name: error.message for name, error in refused.items()})
            steps = next_steps(gang, self._clock.now())
            outcomes = await asyncio.gather(*map(self._do, steps), return_exceptions=True)
            for step, outcome in zip(steps, outcomes, strict=True):
                _take(step, outcome, refused)
            if not steps:
                for error in refused.values():
                    raise error
                return Result(requeue_after=waits_for(gang, self._clock.now()))
        return Result(requeue_after=_PAUSE)

    def _gang(self, key: Key, refused: Mapping[str, str]) -> Gang:
        parent = self._caches[facts.SETS].get(key)
        cliques, groups, pods, services = (self._caches[kind].by(_BY_SET, key) for kind in _CHILDREN)
        return Gang(key, parent, cliques, groups, pods, services, refused)

    async def _do(self, step: Step) -> None:
        cache = self._caches[step.resource]
        if isinstance(step, Create):
            namespace = step.manifest["metadata"]["namespace"]
            cache.observe(await self._client.create(step.resource, namespace, step.manifest, field_manager=MANAGER))
            return
        key = step.target.metadata.key
        if isinstance(step, Change):
            self._observe(
                cache, await self._client.json_patch(step.resource, key, step.operations, field_manager=MANAGER), key
            )
        elif isinstance(step, Report):
            dropped = {name: None for name in step.target.status if name not in step.status}
            patch = {"status": {**step.status, **dropped}}
            told = await self._client.merge_patch(
                step.resource, key, patch, field_manager=MANAGER, subresource="status"
            )
            cache.observe(told)
        else:
            await self._client.delete(step.resource, key, uid=step.target.metadata.uid)
            await self._look_again(step.resource, key)

    def _observe(self, cache: Informer[Seen], body: bytes, key: Key) -> None:
        seen = cache.observe(body)
        if seen.metadata.deleting and not seen.metadata.finalizers:
            # That was its last finalizer: the answer still shows it, and it is gone.
            cache.forget(key, seen.metadata.uid)

    async def _look_again(self, resource: Resource, key: Key) -> None:
        """What is deleted shows it, or is gone."""
        cache = self._caches[resource]
        known = cache.get(key)
        try:
            cache.observe(await self._client.get(resource, key))
        except NotFound:
            if known is not None:
                cache.forget(key, known.metadata.uid)


def build_caches(client: Client) -> Caches:
    """Sets, and what was made of them."""
    ours = f"{facts.MANAGED_BY}={facts.GROVE}"
    caches: dict[Resource, Informer[Seen]] = {facts.SETS: Informer(client, facts.SETS, Seen)}
    for resource in _CHILDREN:
        caches[resource] = Informer(client, resource, Seen, label_selector=ours, indexes={_BY_SET: _set_of})
    return caches


async def run(kubeconfig: str, health: Address, stop: asyncio.Event) -> int:
    """Stand for Grove's controller on the cluster of a kubeconfig until told to stop."""
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(Client(load_config(kubeconfig, {}), user_agent=MANAGER))
        stand_in = StandIn(client)
        app = health_app(live=Health(), ready=Health({"caches": stand_in.unsynced}))
        await stack.enter_async_context(serving(app, health))
        return await stand_in.run(stop)


def _take(step: Step, outcome: Any, refused: dict[str, ApiError]) -> None:
    """Somebody else was faster: the next round sees it. A pod that is refused must not hold the others up."""
    if outcome is None or (isinstance(outcome, NotFound | Conflict | AlreadyExists) and not _is_pod(step)):
        return
    if isinstance(outcome, ApiError) and isinstance(step, Create) and step.clique:
        refused[step.clique] = outcome
        return
    raise outcome


def _is_pod(step: Step) -> bool:
    return isinstance(step, Create) and bool(step.clique)


def _itself(change: Changed[Seen]) -> Iterable[Key]:
    return (change.key,)


def _its_set(change: Changed[Seen]) -> Iterable[Key]:
    seen = change.new or change.old
    return _set_of(seen) if seen is not None else ()


def _set_of(seen: Seen) -> tuple[Key, ...]:
    return (Key(seen.metadata.namespace, seen.label(facts.PART_OF)),)
