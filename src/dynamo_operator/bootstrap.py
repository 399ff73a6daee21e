"""The composition root: the only place that builds the parts of the operator and joins them."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import structlog
from prometheus_client import CollectorRegistry

from dynamo_operator import __version__
from dynamo_operator.controllers.caches import OPTIONAL, Caches, build_caches
from dynamo_operator.controllers.cluster import FIELD_MANAGER, Cluster
from dynamo_operator.controllers.component_deployment.reconciler import ComponentReconciler
from dynamo_operator.controllers.component_deployment.watches import watch_components
from dynamo_operator.controllers.discovery_keys import DiscoveryKeys
from dynamo_operator.controllers.graph_deployment.reconciler import GraphReconciler
from dynamo_operator.controllers.graph_deployment.watches import watch_graphs
from dynamo_operator.controllers.graph_deployment_scaling_adapter.reconciler import AdapterReconciler
from dynamo_operator.controllers.graph_deployment_scaling_adapter.watches import watch_adapters
from dynamo_operator.controllers.metrics import Inventory, OperatorMetrics, Reconcile
from dynamo_operator.controllers.resources import ADAPTERS, CAPABILITIES, COMPONENTS, GRAPHS
from dynamo_operator.controllers.status_writer import StatusWriter
from dynamo_operator.domain.labels import LAST_APPLIED_HASH
from dynamo_operator.domain.site import Offers
from dynamo_operator.runtime.apply import Applier
from dynamo_operator.runtime.background import Background
from dynamo_operator.runtime.capabilities import Capabilities
from dynamo_operator.runtime.client import Client
from dynamo_operator.runtime.clock import SystemClock
from dynamo_operator.runtime.controller import Controller
from dynamo_operator.runtime.errors import ApiError
from dynamo_operator.runtime.events import EventRecorder
from dynamo_operator.runtime.health import Health
from dynamo_operator.runtime.kubeconfig import ClusterConfig, ConfigError, load_config
from dynamo_operator.runtime.leader import Candidacy, Election, new_identity
from dynamo_operator.runtime.logs import Levels, configure_logs, parse_level
from dynamo_operator.runtime.metrics import Metrics
from dynamo_operator.runtime.process import run as run_process
from dynamo_operator.runtime.process import settle_garbage
from dynamo_operator.runtime.queue import RESYNC, WorkQueue
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.server import Address, health_app, metrics_app, parse_address, serving
from dynamo_operator.settings import Settings, settings_warnings

# The chart's pod has 45 s to go; what was begun gets most of them.
DRAIN_SECONDS: Final = 30.0
SYNC_SECONDS: Final = 120.0
# A kind that may not be listed concerns few graphs; the others must not wait for it as long.
OPTIONAL_SYNC_SECONDS: Final = 15.0

# Component names of event sources, as upstream's recorders have them.
_RECORDERS: Final = {
    GRAPHS: "dynamographdeployment",
    COMPONENTS: "dynamocomponentdeployment",
    ADAPTERS: "dgdscalingadapter",
}

log: Final[Any] = structlog.get_logger("setup")


def run(settings: Settings) -> int:
    """Run the operator until it is told to stop; the exit code of the process (platform.md 1.5)."""
    logging = settings.logging
    configure_logs(form="console" if logging.form == "console" else "json", levels=_levels(logging.level))
    for warning in settings_warnings(settings):
        log.warning(warning)
    try:
        config = load_config(settings.kubeconfig or None, os.environ)
        addresses = [parse_address(text) for text in (settings.health_address, settings.metrics_address)]
    except (ConfigError, ValueError) as error:
        log.error("failed to start", error=str(error))  # noqa: TRY400 - the text says it all
        return 1
    return run_process(partial(_main, settings, config, addresses))


def _levels(level: str) -> Levels:
    return Levels(default=parse_level("error" if level == "panic" else level))


async def _main(
    settings: Settings, config: ClusterConfig, addresses: Sequence[Address | None], stop: asyncio.Event
) -> int:
    metrics = Metrics(CollectorRegistry())
    async with AsyncExitStack() as stack:
        agent = f"dynamo-operator/{__version__}"
        client = await stack.enter_async_context(Client(config, user_agent=agent, observe=metrics.observe_request))
        operator = Operator.assembled(settings, client, metrics)
        apps = (health_app(live=operator.live, ready=operator.ready), metrics_app(metrics.registry))
        try:
            for app, address in zip(apps, addresses, strict=True):
                if address is not None:
                    await stack.enter_async_context(serving(app, address))
            return await operator.operate(stop)
        except (OSError, TimeoutError, ApiError) as error:
            log.error("failed to run", error=str(error))  # noqa: TRY400 - the text says it all
            return 1


@dataclass(slots=True)
class Operator:
    """All parts of one running operator."""

    settings: Settings
    cluster: Cluster
    caches: Caches
    controllers: list[Controller]
    recorders: dict[Resource, EventRecorder]
    metrics: Metrics
    own_metrics: OperatorMetrics
    live: Health = field(default_factory=Health)
    ready: Health = field(default_factory=Health)
    _background: Background = field(init=False)
    _optional: dict[Resource, asyncio.Task[None]] = field(default_factory=dict[Resource, asyncio.Task[None]])

    @classmethod
    def assembled(cls, settings: Settings, client: Client, metrics: Metrics) -> Operator:
        """Build every part; nothing runs yet."""
        clock = SystemClock()
        caches = build_caches(client, settings.restricted_namespace, ssh_secret=settings.mpi_secret_name)
        applier = Applier(client, caches.whole, field_manager=FIELD_MANAGER, hash_annotation=LAST_APPLIED_HASH)
        recorders = {kind: EventRecorder(client, name, clock, applier.idle) for kind, name in _RECORDERS.items()}
        cluster = Cluster(
            client=client,
            informers=caches.whole,
            claims=caches.claims,
            accounts=caches.accounts,
            pull_secrets=caches.pull_secrets,
            ssh_secrets=caches.ssh_secrets,
            applier=applier,
            capabilities=Capabilities(client, CAPABILITIES, clock=clock),
            clock=clock,
            settled_site=settings.site(Offers()),
            recorder_of=recorders.__getitem__,
        )
        mode = "namespace-restricted" if settings.restricted_namespace else "cluster-wide"
        own = OperatorMetrics(metrics.registry, caches.whole, mode=mode)
        metrics.registry.register(Inventory(caches.whole))
        controllers = _build_controllers(cluster, settings, metrics, own)
        operator = cls(settings, cluster, caches, controllers, recorders, metrics, own)
        operator.ready.add("caches", operator.unsynced)
        return operator

    def unsynced(self) -> str | None:
        """What is not listed yet; None when all caches are filled."""
        waiting = [informer.resource.plural for informer in self.caches.required() if not informer.has_synced]
        return f"not listed yet: {', '.join(waiting)}" if waiting else None

    async def operate(self, stop: asyncio.Event) -> int:
        """Fill the caches, reconcile until told to stop, then finish what was begun; 1 when a part of it broke."""
        self._background = Background(stop.set)
        self._start_parts()
        try:
            code = await self._live(stop)
            return 1 if self._background.broken else code
        finally:
            await self._background.cancel()

    async def _live(self, stop: asyncio.Event) -> int:
        if not await self._synced(stop):
            return 0
        self.cluster.capabilities.subscribe(self._offer_changed)
        for name in CAPABILITIES:
            self._follow(name, offered=self.cluster.capabilities.offers(name))
        await _first(stop.wait, self._optional_listed)
        settle_garbage()
        log.info("caches are filled", graphs=len(self.cluster.informers[GRAPHS]), offers=self._offered())
        return await self._lead(stop)

    def _start_parts(self) -> None:
        start = self._background.start
        for resource, recorder in self.recorders.items():
            start(recorder.run(), name=f"events of {resource.plural}")
        start(self.cluster.capabilities.run(), name="capabilities")
        for informer in self.caches.required():
            start(informer.run(), name=f"cache of {informer.resource.plural}")

    async def _synced(self, stop: asyncio.Event) -> bool:
        """Wait for the first lists; False when the operator was told to stop meanwhile."""
        waits = [informer.wait_synced(SYNC_SECONDS) for informer in self.caches.required()]
        synced = asyncio.gather(*waits, self.cluster.capabilities.wait_synced(SYNC_SECONDS))
        stopped = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait([synced, stopped], return_when=asyncio.FIRST_COMPLETED)
            if synced.done():
                await synced
            return not stop.is_set()
        finally:
            stopped.cancel()
            synced.cancel()
            await asyncio.gather(stopped, synced, return_exceptions=True)

    async def _optional_listed(self) -> None:
        """Wait for the first lists of optional kinds: what is not seen would be made again, and written for nothing."""
        waits = [self.cluster.informers[resource].wait_synced(OPTIONAL_SYNC_SECONDS) for resource in self._optional]
        for late in await asyncio.gather(*waits, return_exceptions=True):
            if isinstance(late, TimeoutError):
                log.warning("going on without an optional kind", error=str(late))

    async def _lead(self, stop: asyncio.Event) -> int:
        """Reconcile while we may: always, or while we hold the election lease."""
        if not self.settings.leader_elect:
            await self._reconcile(stop, lost=asyncio.Event())
            return 0
        leading, lost = asyncio.Event(), asyncio.Event()
        election = self._background.start(self._election().run(leading.set, lost.set), name="leader election")
        try:
            if await _first(stop.wait, leading.wait, lost.wait) == 1:
                await self._reconcile(stop, lost=lost)
            return 1 if lost.is_set() else 0
        finally:
            election.cancel()
            await asyncio.gather(election, return_exceptions=True)

    def _election(self) -> Election:
        settings = self.settings
        namespace = settings.leader_namespace or os.environ.get("POD_NAMESPACE", "default")
        identity = new_identity(socket.gethostname())
        candidacy = Candidacy(
            Key(namespace, settings.leader_id),
            identity,
            duration=settings.leader_lease_duration.seconds,
            renew_deadline=settings.leader_renew_deadline.seconds,
            retry_period=settings.leader_retry_period.seconds,
        )
        client, clock = self.cluster.client, self.cluster.clock
        recorder = EventRecorder(client, identity, clock)
        self._background.start(recorder.run(), name="events of leases")
        return Election(client, candidacy, clock=clock, metrics=self.metrics, recorder=recorder)

    async def _reconcile(self, stop: asyncio.Event, *, lost: asyncio.Event) -> None:
        """Run the controllers until told to stop; what they began is finished within the drain time.

        Nothing is finished once the lease is lost or the caches are wrong: another operator may be at work already.
        """
        running = [self._background.start(each.run(), name=f"controller {each.name}") for each in self.controllers]
        await _first(stop.wait, lost.wait)
        for controller in self.controllers:
            controller.queue.shut_down()
        at_once = lost.is_set() or self._background.broken
        _, late = await asyncio.wait(running, timeout=0 if at_once else DRAIN_SECONDS)
        for task in late:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        log.info("stopped", unfinished=len(late))

    def _offer_changed(self, name: str, offered: bool) -> None:
        log.info("the cluster's offer changed", name=name, offered=offered)
        self._follow(name, offered=offered)
        self.own_metrics.offered.labels(name).set(offered)
        for controller, resource in zip(self.controllers, (GRAPHS, COMPONENTS), strict=False):
            for body in self.cluster.informers[resource].values():
                controller.queue.add(body.metadata.key, RESYNC)

    def _follow(self, name: str, *, offered: bool) -> None:
        """Watch the kinds of an offer while the cluster serves them."""
        for resource in (resource for resource, offer in OPTIONAL.items() if offer == name):
            task = self._optional.pop(resource, None)
            if task is not None:
                task.cancel()
            cache = self.cluster.informers[resource]
            if offered:
                self._optional[resource] = self._background.start(cache.run(), name=f"cache of {resource.plural}")
            else:
                cache.clear()

    def _offered(self) -> list[str]:
        offered = [name for name in CAPABILITIES if self.cluster.capabilities.offers(name)]
        for name in CAPABILITIES:
            self.own_metrics.offered.labels(name).set(name in offered)
        return offered


def _build_controllers(
    cluster: Cluster, settings: Settings, metrics: Metrics, own: OperatorMetrics
) -> list[Controller]:
    """The controllers, subscribed to what wakes them: graphs first, then components."""

    def controller(name: str, reconcile: Reconcile, queue: WorkQueue) -> Controller:
        return Controller(
            name,
            reconcile,
            queue=queue,
            workers=settings.workers,
            metrics=metrics.controller(name),
        )

    def status_writer(resource: Resource) -> tuple[StatusWriter, Controller]:
        queue = WorkQueue(cluster.clock)
        writer = StatusWriter(cluster, resource, queue)
        return writer, controller(f"{resource.kind}-status", writer.reconcile, queue)

    graph_statuses, graph_status_controller = status_writer(GRAPHS)
    component_statuses, component_status_controller = status_writer(COMPONENTS)
    reconcilers = {
        GRAPHS: GraphReconciler(cluster, graph_statuses).reconcile,
        COMPONENTS: ComponentReconciler(cluster, DiscoveryKeys(cluster), component_statuses).reconcile,
        ADAPTERS: AdapterReconciler(cluster).reconcile,
    }
    graphs, components, adapters = (
        controller(resource.kind, own.counted(resource, reconcile), WorkQueue(cluster.clock))
        for resource, reconcile in reconcilers.items()
    )
    watch_graphs(graphs, cluster)
    watch_components(components, cluster)
    watch_adapters(adapters, cluster)
    return [graphs, components, adapters, graph_status_controller, component_status_controller]


async def _first(*waits: Callable[[], Awaitable[Any]]) -> int:
    """Place of the wait that is over first; the others are given up."""
    tasks = [asyncio.ensure_future(wait()) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(place for place, task in enumerate(tasks) if task.done())
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
