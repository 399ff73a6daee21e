"""A live copy of the objects of one kind: listed once, watched from then on, and told to listeners as changes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Hashable, Mapping
from contextlib import aclosing
from typing import Any, Final, Generic, TypeVar, cast

import msgspec
import structlog
from msgspec import Raw

from dynamo_operator.runtime.backoff import Backoff, spread
from dynamo_operator.runtime.client import TIMED_OUT, Client
from dynamo_operator.runtime.clock import Clock, SystemClock
from dynamo_operator.runtime.errors import (
    ApiError,
    Forbidden,
    Gone,
    ServerTimeout,
    Timeout,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    Unreachable,
)
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.store import Change, Index, Store
from dynamo_operator.runtime.views import Viewed
from dynamo_operator.runtime.watch import ADDED, BOOKMARK, DELETED, MODIFIED, parse_event, parse_identity

__all__ = ["Change", "Informer"]

T = TypeVar("T", bound=Viewed)

Listener = Callable[[Change[T]], None]

WATCH_SECONDS: Final = 420.0
INACTIVITY_SECONDS: Final = 120.0
"""The API server sends a bookmark about once a minute."""
REFUSED_SECONDS: Final = 30.0

_PAGE = 500
_BATCH = 100
_SHORT_WATCH = 1.0
_PATIENCE = 5
_COMPLAINTS = 1000

# After these the same version can be resumed; any other error of a watch is cured by a new list.
_RESUMABLE = (Unreachable, TooManyRequests, Unavailable, Timeout, ServerTimeout)
_REFUSED = (Forbidden, Unauthorized)

# name=value or name==value, joined by commas; or nothing.
_EQUALITIES: Final = re.compile(r"([^!=,()\s]+==?[^!=,()\s]*(,|\Z))*")

_log = structlog.get_logger("informer")


class _ListMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""


class _List(msgspec.Struct):
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)
    items: list[Raw] | None = None


_LIST = msgspec.json.Decoder(_List)


class Informer(Generic[T]):
    """Keeps a Store true to the API server; serves what it has while the server is away.

    ``view`` is a Struct type or a function from an object's JSON to a view, so that a projection can drop what
    nobody may keep. ``inactivity_seconds`` of silence cut a watch, which is then resumed.
    """

    def __init__(  # noqa: PLR0913 - the parts of a list request and of the store
        self,
        client: Client,
        resource: Resource,
        view: type[T] | Callable[[bytes], T],
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        metadata_only: bool = False,
        indexes: Mapping[str, Callable[[T], Any]] | None = None,
        inactivity_seconds: float = INACTIVITY_SECONDS,
        clock: Clock | None = None,
    ) -> None:
        self.resource = resource
        self._client = client
        decode = msgspec.json.Decoder(view).decode if isinstance(view, type) else view
        self._decode = cast(Callable[[bytes], T], decode)
        self._scope: dict[str, Any] = {
            "namespace": namespace,
            "label_selector": label_selector,
            "field_selector": field_selector,
            "metadata_only": metadata_only,
        }
        self.selective = bool(label_selector or field_selector)
        self._namespace = namespace if resource.namespaced else ""
        self._opaque = bool(field_selector) or not _EQUALITIES.fullmatch(label_selector)
        self._labels = () if self._opaque else _pairs(label_selector)
        self._inactivity = inactivity_seconds
        self._clock = clock or SystemClock()
        wanted: dict[str, Index[T]] = dict(indexes or {})
        self._store = Store[T](resource, wanted)
        self._listeners: list[Listener[T]] = []
        self._synced = asyncio.Event()
        self._backoff = Backoff(0.2, 30.0)
        self._setbacks = 0
        self._page_size = _PAGE
        self._version: int | None = None
        self._garbled_at: int | None = None
        self._told = False
        self._complaints: set[str] = set()
        self.last_error: ApiError | None = None
        """What keeps the copy from being fresh right now; None when nothing does."""

    def get(self, key: Key) -> T | None:
        """The object of that key, or None."""
        return self._store.get(key)

    def values(self) -> list[T]:
        """All objects."""
        return self._store.values()

    def by(self, index: str, value: Hashable) -> list[T]:
        """The objects to which the index function gave that value. Raises KeyError for an unknown index."""
        return self._store.by(index, value)

    def __len__(self) -> int:
        return len(self._store)

    @property
    def has_synced(self) -> bool:
        """Whether a whole list came in since the start."""
        return self._synced.is_set()

    async def wait_synced(self, timeout: float | None = None) -> None:  # noqa: ASYNC109 - the message is the point
        """Return once a whole list came in. Raises TimeoutError, which says what is in the way, after that long."""
        try:
            async with asyncio.timeout(timeout):
                await self._synced.wait()
        except TimeoutError:
            cause = self.last_error or "the list takes longer"
            raise TimeoutError(f"{self.resource.plural} were not listed within {timeout:g} s: {cause}") from None

    def subscribe(self, listener: Listener[T]) -> None:
        """Tell this listener of every object known now, and of every change in the order in which it is taken in."""
        self._listeners.append(listener)
        for obj in self._store.values():
            self._tell(listener, Change(self.resource, obj.metadata.key, None, obj))

    def observe(self, body: bytes, *, before: Callable[[T], None] | None = None) -> T:
        """Take in an object with which the server answered our own request, so that the next read sees it.

        An answer older than what is known changes nothing. With a selector, only known objects are taken in, because
        only the server can tell whether a new one matches; equality of labels we can tell ourselves. ``before`` is
        called with the object before any listener hears of it. Raises what the view raises for a body that is no
        object.
        """
        obj = self._decode(body)
        if before is not None:
            before(obj)
        key = obj.metadata.key
        inside = self._namespace in ("", key.namespace)
        if inside and (self._selects(obj) or self._store.get(key) is not None):
            self._publish(self._store.upsert(obj))
        return obj

    def _selects(self, obj: T) -> bool:
        """Whether our selector matches for certain."""
        labels = obj.metadata.labels
        return not self._opaque and all(labels.get(name) == value for name, value in self._labels)

    def forget(self, key: Key, uid: str) -> None:
        """Drop an object whose deletion the server accepted; its late events will not bring it back."""
        self._publish(self._store.remove(key, uid))

    def clear(self) -> None:
        """Start over: the kind is not served any more, so that nothing of it exists. Not while it runs."""
        self._version = None
        self._synced.clear()
        for change in self._store.clear():
            self._publish(change)

    async def run(self) -> None:
        """Keep the copy true until cancelled; errors of the server are waited out."""
        while True:
            pause = await self._step()
            if pause > 0:
                await self._clock.sleep(pause)

    async def _step(self) -> float:
        """One list (when needed) and one watch; seconds to wait before the next."""
        error = await self._attempt(self._list) if self._version is None else None
        if error is not None:
            return self._setback(error)
        self._told = False
        started = self._clock.monotonic()
        error = await self._attempt(self._follow)
        lasted = self._clock.monotonic() - started >= _SHORT_WATCH
        silent = isinstance(error, Unreachable) and error.reason == TIMED_OUT
        if self._told or (lasted and not silent):
            self._recovered()
        if error is not None:
            return self._setback(error)
        # A server that ends every watch at once must not be asked without end.
        return 0.0 if lasted else self._backoff.pause()

    async def _attempt(self, what: Callable[[], Awaitable[None]]) -> ApiError | None:
        """Do it; the server's error when it fails."""
        try:
            await what()
        except ApiError as error:
            return error
        return None

    def _recovered(self) -> None:
        """The connection proved good: the next failure is a first one."""
        self._backoff.reset()
        self._setbacks = 0

    def _setback(self, error: ApiError) -> float:
        """Decide how to go on after an error: where from, and after how many seconds."""
        self.last_error = error
        # While nobody answers there is nothing wrong with our version.
        lost = isinstance(error, Unreachable) and error.reason != TIMED_OUT
        self._setbacks += not lost
        _log.debug("list or watch failed", resource=self.resource.plural, error=str(error))
        if isinstance(error, _REFUSED):
            self._version = None
            return spread(REFUSED_SECONDS)
        if isinstance(error, Gone) and self._version is None:
            self._page_size = 0  # the snapshot expires between two pages: take it in one
        if not isinstance(error, _RESUMABLE) or self._setbacks >= _PATIENCE:
            self._version = None
        return max(self._backoff.pause(), error.retry_after or 0.0)

    async def _list(self) -> None:
        """Take in a whole list, page by page, and drop what it does not show."""
        seen: set[Key] = set()
        version = ""
        async with aclosing(self._client.list_pages(self.resource, limit=self._page_size, **self._scope)) as pages:
            async for page in pages:
                listed = _parse_list(page, self.resource)
                version = version or listed.metadata.resource_version
                self._heard()
                await self._take_all(listed.items or [], seen)
        for change in self._store.retain(seen, int(version)):
            self._publish(change)
        self._version = int(version)
        self._page_size = _PAGE
        self._synced.set()

    async def _take_all(self, items: list[Raw], seen: set[Key]) -> None:
        """Take in the objects of a page, letting others run in between."""
        for start in range(0, len(items), _BATCH):
            for raw in items[start : start + _BATCH]:
                key = self._take(bytes(raw))
                if key is not None:
                    seen.add(key)
            await asyncio.sleep(0)

    async def _follow(self) -> None:
        """Watch from the known version until the server ends the watch."""
        events = self._client.watch(
            self.resource,
            resource_version=str(self._version),
            timeout_seconds=spread(WATCH_SECONDS),
            inactivity_seconds=self._inactivity,
            opened=self._heard,
            **self._scope,
        )
        async with aclosing(events):
            async for line in events:
                self._heard()
                self._hear(line)

    def _heard(self) -> None:
        """The server said something."""
        self.last_error = None

    def _hear(self, line: bytes) -> None:
        """Take in one line of a watch. Raises the error that the server sent in it."""
        try:
            event = parse_event(line)
            said = parse_identity(event.object)
            version = said.version
        except ValueError as error:
            self._garbled(line, error)
            return
        if event.type == DELETED:
            self._publish(self._store.remove(said.key, said.uid, version=version))
        elif event.type in (ADDED, MODIFIED):
            self._take(bytes(event.object))
        elif event.type != BOOKMARK:
            self._complain(event.type, "watch event of an unknown type is skipped")
        self._version = version
        self._told = True

    def _garbled(self, line: bytes, error: Exception) -> None:
        """Ask once more for what came garbled; skip it when it comes garbled again."""
        if self._garbled_at != self._version:
            self._garbled_at = self._version
            raise Unreachable(
                reason="Garbled",
                message=f"a line of the watch makes no sense: {error}",
                request=f"WATCH {self.resource.path(self._namespace)}",
            ) from error
        self._complain(f"{line[:200]!r}", "line of a watch is skipped", error=str(error))

    def _take(self, body: bytes) -> Key | None:
        """Take in one listed or watched object; its key, None when it has none."""
        try:
            obj = self._decode(body)
            self._publish(self._store.upsert(obj))
        except Exception as error:  # noqa: BLE001 - views and indexes are others' code; one object must not stop all
            key = _salvage(body)
            self._complain(f"{key}: {error}", "object is skipped: it does not fit its view", error=str(error))
            return key
        return obj.metadata.key

    def _publish(self, change: Change[T] | None) -> None:
        """Tell all listeners."""
        if change is not None:
            for listener in self._listeners:
                self._tell(listener, change)

    def _tell(self, listener: Listener[T], change: Change[T]) -> None:
        """Tell one listener; its faults are its own."""
        try:
            listener(change)
        except Exception:  # noqa: BLE001 - logged, and the others are told
            _log.exception("listener failed", resource=self.resource.plural, object=str(change.key))

    def _complain(self, subject: str, message: str, **details: str) -> None:
        """Log once per subject."""
        if subject not in self._complaints and len(self._complaints) < _COMPLAINTS:
            self._complaints.add(subject)
            _log.warning(message, resource=self.resource.plural, subject=subject, **details)


def _pairs(selector: str) -> tuple[tuple[str, str], ...]:
    """Names and values of a selector that is nothing but equalities."""
    split = [term.partition("=") for term in selector.split(",") if term]
    return tuple((name.strip(), value.strip("= ")) for name, _, value in split)


def _parse_list(page: bytes, resource: Resource) -> _List:
    """A page of a list, its objects still text. Raises Unreachable for anything else."""
    try:
        listed = _LIST.decode(page)
        int(listed.metadata.resource_version)
    except ValueError as error:
        message = f"the list makes no sense: {error}"
        raise Unreachable(reason="Garbled", message=message, request=f"GET {resource.path()}") from error
    return listed


def _salvage(body: bytes) -> Key | None:
    """The key of an object that cannot be read otherwise."""
    try:
        key = parse_identity(body).key
    except ValueError:
        return None
    return key if key.name else None
