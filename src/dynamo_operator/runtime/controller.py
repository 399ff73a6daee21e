"""Workers that reconcile the keys of one kind, each failure its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

import structlog
from structlog.contextvars import bound_contextvars

from dynamo_operator.runtime.errors import (
    AlreadyExists,
    ApiError,
    BadRequest,
    Forbidden,
    Invalid,
    NotFound,
    TooManyRequests,
    Unreachable,
    category,
)
from dynamo_operator.runtime.informer import Informer
from dynamo_operator.runtime.metrics import ControllerMetrics
from dynamo_operator.runtime.owner import Mapper
from dynamo_operator.runtime.queue import LONGEST_RETRY_SECONDS, RESYNC, USER, Priority, WorkQueue
from dynamo_operator.runtime.resource import Key
from dynamo_operator.runtime.store import Change

_LOG: Final[Any] = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Result:
    """How a reconcile ended well; ``requeue_after`` asks for another look in so many seconds."""

    requeue_after: float | None = None


DONE: Final = Result()

# What the API server refuses for its content, for our rights, or because the namespace or kind is gone, it refuses
# again a moment later; so does a name that somebody else holds stay taken.
_REFUSED: Final = (Invalid, BadRequest, Forbidden, NotFound, AlreadyExists)
REFUSED_SECONDS: Final = 10.0
# A server or a webhook that fails is mended by somebody who does not tell us, and a name may be freed unseen. Any
# answer from 500 on is such a failure too.
_UNTOLD: Final = (AlreadyExists, Unreachable, TooManyRequests)
UNTOLD_SECONDS: Final = 60.0

Reconcile = Callable[[Key], Awaitable[Result]]


class Controller:
    """Takes keys from its queue and reconciles them, several at once but never one key twice at a time.

    An exception is logged once, counted, and the key tried again later with a growing delay (specification:
    platform.md 1.6); other keys do not notice. ``timeout`` in seconds bounds one reconcile.
    """

    def __init__(
        self,
        name: str,
        reconcile: Reconcile,
        queue: WorkQueue,
        *,
        workers: int = 8,
        metrics: ControllerMetrics | None = None,
        timeout: float | None = None,
    ) -> None:
        self.name = name
        self.queue = queue
        self._reconcile = reconcile
        self._workers = workers
        self._metrics = metrics or ControllerMetrics.unseen(name)
        self._timeout = timeout
        self._metrics.watch_queue(queue)

    def watch(self, informer: Informer[Any], mapper: Mapper, *, priority: Priority = USER) -> None:
        """Queue the keys that the mapper names for every change; what a first list shows comes with low priority."""

        replaying = True

        def listener(change: Change[Any]) -> None:
            urgency = RESYNC if replaying or not informer.has_synced else priority
            for key in mapper(change):
                self.queue.add(key, urgency)

        # An informer that is in use already tells all it has before this returns.
        informer.subscribe(listener)
        replaying = False

    async def run(self) -> None:
        """Work until the queue is shut down, and finish what was begun; when cancelled, give that up too."""
        self._metrics.workers(self._workers)
        tasks = [asyncio.create_task(self._work(), name=f"{self.name}-{n}") for n in range(self._workers)]
        try:
            await asyncio.gather(*tasks)
        finally:
            self.queue.shut_down()
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _work(self) -> None:
        while (key := await self.queue.take()) is not None:
            try:
                await self._reconcile_once(key)
            finally:
                self.queue.done(key)

    async def _reconcile_once(self, key: Key) -> None:
        with (
            bound_contextvars(controller=self.name, namespace=key.namespace, name=key.name, reconcileID=str(uuid4())),
            self._metrics.reconciling() as outcome,
        ):
            try:
                async with asyncio.timeout(self._timeout):
                    result = await self._reconcile(key)
            except Exception as error:  # noqa: BLE001 - one broken key must not disturb the others
                outcome.failed(panic=not isinstance(error, ApiError | TimeoutError))
                self._retry(key, error)
                return
            outcome.succeeded(requeued=result.requeue_after is not None)
        self.queue.forget(key)
        if result.requeue_after is not None:
            self.queue.add_after(key, result.requeue_after)

    def _retry(self, key: Key, error: Exception) -> None:
        untold = isinstance(error, _UNTOLD) or (isinstance(error, ApiError) and error.status >= 500)
        delay = self.queue.retry(
            key,
            at_least=REFUSED_SECONDS if isinstance(error, _REFUSED) else 0.0,
            at_most=UNTOLD_SECONDS if untold else LONGEST_RETRY_SECONDS,
        )
        expected = isinstance(error, ApiError | TimeoutError)
        _LOG.error(
            "reconciler error",
            error=str(error) or type(error).__name__,
            category=category(error),
            retry_after=delay,
            # An answer of the API server says where it came from; a fault of ours needs its place in the code.
            exc_info=None if expected else error,
        )
