"""Which optional kinds the cluster serves right now (specification: platform.md 2.7, with the exact kind probed)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

import msgspec
import structlog

from dynamo_operator.runtime.backoff import spread
from dynamo_operator.runtime.client import Client
from dynamo_operator.runtime.clock import Clock, SystemClock
from dynamo_operator.runtime.errors import ApiError, Forbidden, NotFound, Unauthorized, Unreachable
from dynamo_operator.runtime.informer import Informer
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.store import Change
from dynamo_operator.runtime.views import Metadata

DEFINITIONS: Final = Resource(
    "apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", namespaced=False
)

POLL_SECONDS: Final = 60.0
"""How often discovery is asked while definitions cannot be watched."""

# Discovery follows a definition after a moment.
_LAG_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
_RETRY_SECONDS = 5.0

Listener = Callable[[str, bool], None]

S = TypeVar("S", bound=msgspec.Struct)

_log = structlog.get_logger("capabilities")


class _Version(msgspec.Struct, rename="camel"):
    version: str = ""


class _Group(msgspec.Struct, rename="camel"):
    preferred_version: _Version = msgspec.field(default_factory=_Version)
    versions: tuple[_Version, ...] = ()


class _Plural(msgspec.Struct):
    name: str = ""


class _Plurals(msgspec.Struct):
    resources: tuple[_Plural, ...] = ()


class Capabilities:
    """Follows the definitions of the wanted kinds and asks discovery what is really served.

    ``wanted`` maps a name of ours to group and plural. What discovery does not say for a moment stays as it was.
    """

    def __init__(self, client: Client, wanted: Mapping[str, tuple[str, str]], *, clock: Clock | None = None) -> None:
        self._client = client
        self._wanted = dict(wanted)
        self._clock = clock or SystemClock()
        self._versions: dict[str, str] = {}
        self._listeners: list[Listener] = []
        self._synced = asyncio.Event()
        self._woken = asyncio.Event()
        self._touched: set[str] = set()
        self._rechecks = 0
        self._said_polling = False
        self._definitions = Informer(client, DEFINITIONS, Metadata, metadata_only=True, clock=self._clock)
        self._definitions.subscribe(self._defined)

    def offers(self, name: str) -> bool:
        """Whether the kind is served. Raises KeyError for a name that is not wanted."""
        return bool(self._version_of(name))

    def version(self, name: str) -> str:
        """The served version of the kind, the preferred one when there are several; empty when it is not served."""
        return self._version_of(name)

    def subscribe(self, listener: Listener) -> None:
        """Tell this listener (name, offered) of every kind that comes, goes or changes its version."""
        self._listeners.append(listener)

    async def wait_synced(self, timeout: float | None = None) -> None:  # noqa: ASYNC109 - the message is the point
        """Return once discovery has answered for all kinds. Raises TimeoutError after that long."""
        try:
            async with asyncio.timeout(timeout):
                await self._synced.wait()
        except TimeoutError:
            raise TimeoutError(f"discovery did not answer for all of {', '.join(sorted(self._wanted))}") from None

    async def run(self) -> None:
        """Keep the answers true until cancelled."""
        watching = asyncio.create_task(self._definitions.run())
        try:
            while True:
                answered = await self._ask()
                await self._pause(self._pressing(answered=answered))
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    def _version_of(self, name: str) -> str:
        """The known version, of wanted names only."""
        if name not in self._wanted:
            raise KeyError(name)
        return self._versions.get(name, "")

    async def _ask(self) -> bool:
        """Ask discovery about all kinds; whether it answered for all."""
        answered = True
        for name, (group, plural) in self._wanted.items():
            try:
                self._learn(name, "" if self._is_leaving(name) else await self._served(group, plural))
            except ApiError as error:
                _log.warning("discovery failed", capability=name, error=str(error))
                answered = False
        if answered:
            self._synced.set()
        return answered

    def _pressing(self, *, answered: bool) -> float | None:
        """Seconds until discovery must be asked again; None when nothing presses."""
        if not answered:
            return spread(_RETRY_SECONDS)
        disagreeing = any(self._is_defined(name) != self.offers(name) for name in self._touched)
        if not disagreeing or self._rechecks >= len(_LAG_SECONDS):
            self._touched.clear()
            return None
        self._rechecks += 1
        return _LAG_SECONDS[self._rechecks - 1]

    async def _pause(self, seconds: float | None) -> None:
        """Wait for a definition to change, or so long; without limit only while definitions are watched."""
        while not await self._woken_within(seconds or spread(POLL_SECONDS)) and seconds is None:
            if self._unwatchable():
                self._say_polling()
                return

    async def _woken_within(self, seconds: float) -> bool:
        """Whether a definition changed before that time was over."""
        sleep = asyncio.create_task(self._clock.sleep(seconds))
        change = asyncio.create_task(self._woken.wait())
        try:
            await asyncio.wait((sleep, change), return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleep.cancel()
            change.cancel()
            await asyncio.gather(sleep, change, return_exceptions=True)
        woken = self._woken.is_set()
        self._woken.clear()
        return woken

    def _unwatchable(self) -> bool:
        """Whether the server refuses to show definitions."""
        return isinstance(self._definitions.last_error, Forbidden | Unauthorized | NotFound)

    def _say_polling(self) -> None:
        """Tell the log, once, what right is missing."""
        if not self._said_polling:
            self._said_polling = True
            _log.warning("definitions cannot be watched, discovery is polled", error=str(self._definitions.last_error))

    def _is_defined(self, name: str) -> bool:
        """Whether a definition of the kind exists, and stays."""
        return self._definition(name) is not None and not self._is_leaving(name)

    def _is_leaving(self, name: str) -> bool:
        """Whether the definition is being deleted: it is served until its last object is gone, and takes no new one."""
        definition = self._definition(name)
        return definition is not None and definition.metadata.deleting

    def _definition(self, name: str) -> Metadata | None:
        group, plural = self._wanted[name]
        return self._definitions.get(Key("", f"{plural}.{group}"))

    def _defined(self, change: Change[Metadata]) -> None:
        """A definition came, changed or went: discovery will follow it, maybe after a moment."""
        for name, (group, plural) in self._wanted.items():
            if change.key.name == f"{plural}.{group}":
                self._touched.add(name)
                self._rechecks = 0
                self._woken.set()

    async def _served(self, group: str, plural: str) -> str:
        """The version in which the kind is served, empty when it is not."""
        try:
            found = _decode(await self._client.raw("GET", f"/apis/{group}"), _Group)
            versions = dict.fromkeys([found.preferred_version.version, *(v.version for v in found.versions)])
            for version in filter(None, versions):
                listed = _decode(await self._client.raw("GET", f"/apis/{group}/{version}"), _Plurals)
                if any(kind.name == plural for kind in listed.resources):
                    return version
        except NotFound:
            return ""
        return ""

    def _learn(self, name: str, version: str) -> None:
        """Take over what discovery says, and tell when it is news."""
        if self._versions.get(name, "") == version:
            return
        self._versions[name] = version
        _log.info("capability changed", capability=name, offered=bool(version), version=version)
        for listener in self._listeners:
            try:
                listener(name, bool(version))
            except Exception:  # noqa: BLE001 - logged, and the others are told
                _log.exception("listener failed", capability=name)


def _decode(body: bytes, shape: type[S]) -> S:
    """A discovery answer. Raises Unreachable for anything else."""
    try:
        return msgspec.json.decode(body, type=shape)
    except ValueError as error:
        raise Unreachable(reason="Garbled", message=f"discovery makes no sense: {error}") from error
