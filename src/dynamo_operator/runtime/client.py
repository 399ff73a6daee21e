"""Requests to the API server: typed errors, bounded retries, one connection pool, little work per request."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import TracebackType
from typing import Any, Final, Self, TypeVar
from urllib.parse import urlencode

import aiohttp
import msgspec
from yarl import URL

from dynamo_operator.runtime.clock import Clock, SystemClock
from dynamo_operator.runtime.credentials import ConfigError, Identity
from dynamo_operator.runtime.errors import (
    ApiError,
    NotFound,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    Unreachable,
    parse_error,
)
from dynamo_operator.runtime.kubeconfig import ClusterConfig, load_client_certificate
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.watch import LineSplitter

# Media types that the API server reads.
JSON: Final = "application/json"
APPLY_PATCH: Final = "application/apply-patch+yaml"
MERGE_PATCH: Final = "application/merge-patch+json"
JSON_PATCH: Final = "application/json-patch+json"
METADATA: Final = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
METADATA_LIST: Final = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

# Reasons of Unreachable.
CONNECTION_LOST: Final = "ConnectionLost"
TIMED_OUT: Final = "TimedOut"

REQUEST_SECONDS: Final = 30.0
LIST_SECONDS: Final = 60.0
CONNECT_SECONDS: Final = 10.0

_BUFFER = 256 * 1024
_REQUESTS_AT_ONCE = 64
_KEEPALIVE_SECONDS = 60.0

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class RequestSample:
    """One attempt, for metrics: ``code`` is the HTTP status or ``<error>`` as client-go counts it."""

    method: str
    host: str
    code: str
    seconds: float


@dataclass(frozen=True, slots=True)
class _Call:
    """One request; ``repeatable`` when carrying it out twice is the same as once."""

    method: str
    target: str
    body: bytes | None = None
    content_type: str = ""
    accept: str = JSON
    repeatable: bool = True
    seconds: float | None = REQUEST_SECONDS
    silence: float | None = None

    def __str__(self) -> str:
        return f"{self.method} {self.target.partition('?')[0]}"


class _Tries:
    """Decides after each failure of one request whether and when to try again."""

    REFUSALS = 5
    LOSSES = 2
    LONGEST_WAIT = 10.0

    def __init__(self, *, repeatable: bool, another_identity: Callable[[], bool]) -> None:
        self._repeatable = repeatable
        self._another_identity = another_identity
        self._refusals = 0
        self._losses = 0
        self._rejections = 0

    def pause_after(self, error: ApiError) -> float | None:
        """Seconds to wait before the next attempt; None to give up."""
        if isinstance(error, Unauthorized):
            self._rejections += 1
            return 0.0 if self._rejections == 1 and error.status and self._another_identity() else None
        if isinstance(error, TooManyRequests | Unavailable):
            return self._after_refusal(error.retry_after)
        if isinstance(error, Unreachable) and error.reason == CONNECTION_LOST and self._repeatable:
            self._losses += 1
            jitter = random.uniform(0.5, 1.5)  # noqa: S311 - spreads load, guards nothing
            return 0.1 * 2**self._losses * jitter if self._losses <= self.LOSSES else None
        return None

    def _after_refusal(self, retry_after: float | None) -> float | None:
        """A refused request was not carried out: any may be sent again when the server says when."""
        self._refusals += 1
        if retry_after is None or retry_after > self.LONGEST_WAIT or self._refusals > self.REFUSALS:
            return None
        return max(retry_after, 0.05)


class Client:
    """Talks to one API server; an async context manager that owns the connections."""

    def __init__(
        self,
        config: ClusterConfig,
        *,
        user_agent: str,
        observe: Callable[[RequestSample], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._config = config
        self._user_agent = user_agent
        self._observe = observe
        self._clock = clock or SystemClock()
        self._host = URL(config.server).authority
        # Waiting for a turn is no part of a request's time, as it would be in the connector; watches need no turn.
        self._turns = asyncio.Semaphore(_REQUESTS_AT_ONCE)
        self._session: aiohttp.ClientSession | None = None
        self._identity = Identity()
        self._headers: dict[tuple[str, str], dict[str, str]] = {}
        self._options: dict[str, Any] = {"proxy": config.proxy} if config.proxy else {}
        if config.tls_server_name:
            self._options["server_hostname"] = config.tls_server_name

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEEPALIVE_SECONDS, ssl=self._config.tls or True)
        # Compression costs more CPU than it saves when the server is on this machine.
        encoding = "identity" if URL(self._config.server).host in ("localhost", "127.0.0.1", "::1") else "gzip"
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": self._user_agent, "Accept-Encoding": encoding},
            read_bufsize=_BUFFER,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def get(self, resource: Resource, key: Key) -> bytes:
        """The object as the API server has it, past any cache. Raises NotFound."""
        return await self._request(_Call("GET", resource.path(key.namespace, key.name)))

    async def list_pages(
        self,
        resource: Resource,
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        limit: int = 500,
        metadata_only: bool = False,
    ) -> AsyncGenerator[bytes]:
        """The pages of a list (whole list objects), of one snapshot. ``limit`` 0 means one page.

        Raises Gone when the snapshot became too old between two pages.
        """
        query = {
            "labelSelector": label_selector,
            "fieldSelector": field_selector,
            "limit": str(limit or ""),
        }
        accept = METADATA_LIST if metadata_only else JSON
        path = resource.path(namespace)
        while True:
            page = await self._request(_Call("GET", _target(path, query), accept=accept, seconds=LIST_SECONDS))
            query["continue"] = _continuation(page)
            yield page
            if not query["continue"]:
                return

    async def watch(  # noqa: PLR0913 - the parts of a watch request
        self,
        resource: Resource,
        *,
        resource_version: str,
        timeout_seconds: float,
        inactivity_seconds: float,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        metadata_only: bool = False,
        opened: Callable[[], None] | None = None,
    ) -> AsyncGenerator[bytes]:
        """The events after that version with bookmarks, one JSON line each, until the server ends the watch.

        ``timeout_seconds`` is the server's to keep; ``inactivity_seconds`` without a byte raise Unreachable.
        ``opened`` is called when the server accepted the watch. Close the generator to end the watch early.
        """
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": str(round(timeout_seconds)),
            "labelSelector": label_selector,
            "fieldSelector": field_selector,
        }
        call = _Call(
            "GET",
            _target(resource.path(namespace), query),
            accept=METADATA if metadata_only else JSON,
            seconds=None,
            silence=inactivity_seconds,
        )
        response = await self._persist(call, self._open)
        try:
            if opened is not None:
                opened()
            splitter = LineSplitter()
            async for chunk in response.content.iter_any():
                for line in splitter.feed(chunk):
                    yield line
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise _unreachable(call, error) from error
        finally:
            response.close()

    async def create(
        self, resource: Resource, namespace: str, manifest: Mapping[str, Any] | bytes, *, field_manager: str
    ) -> bytes:
        """Make an object; the object as stored. Raises AlreadyExists, Invalid."""
        target = _target(resource.path(namespace), {"fieldManager": field_manager})
        return await self._request(_Call("POST", target, _encoded(manifest), JSON, repeatable=False))

    async def apply(
        self,
        resource: Resource,
        key: Key,
        manifest: Mapping[str, Any] | bytes,
        *,
        field_manager: str,
        force: bool = True,
    ) -> bytes:
        """Server-side apply: own exactly the fields in the manifest; the object as stored."""
        query = {"fieldManager": field_manager, "force": "true" if force else ""}
        target = _target(resource.path(key.namespace, key.name), query)
        return await self._request(_Call("PATCH", target, _encoded(manifest), APPLY_PATCH))

    async def merge_patch(
        self,
        resource: Resource,
        key: Key,
        patch: Mapping[str, Any] | bytes,
        *,
        field_manager: str,
        subresource: str = "",
    ) -> bytes:
        """JSON merge patch (RFC 7386); the object as stored."""
        target = _target(resource.path(key.namespace, key.name, subresource), {"fieldManager": field_manager})
        return await self._request(_Call("PATCH", target, _encoded(patch), MERGE_PATCH))

    async def json_patch(
        self, resource: Resource, key: Key, operations: Sequence[Mapping[str, Any]], *, field_manager: str
    ) -> bytes:
        """JSON patch (RFC 6902); the object as stored. Raises Invalid when a test operation fails."""
        target = _target(resource.path(key.namespace, key.name), {"fieldManager": field_manager})
        return await self._request(_Call("PATCH", target, _encoded(operations), JSON_PATCH, repeatable=False))

    async def delete(self, resource: Resource, key: Key, *, uid: str = "", propagation: str = "Background") -> None:
        """Ask for deletion; an object that is not there is fine. Raises Conflict when the uid is another one."""
        options: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": propagation}
        if uid:
            options["preconditions"] = {"uid": uid}
        target = resource.path(key.namespace, key.name)
        # Without a uid a second attempt could hit a successor of the object.
        call = _Call("DELETE", target, _encoded(options), JSON, repeatable=bool(uid))
        try:
            await self._request(call)
        except NotFound:
            return

    async def raw(  # noqa: PLR0913 - the parts of an HTTP request
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str = "",
        accept: str = JSON,
        timeout: float = REQUEST_SECONDS,  # noqa: ASYNC109 - a setting of the request
    ) -> bytes:
        """Any request; the body of the answer. ``path`` is percent-encoded, ``timeout`` in seconds."""
        return await self._request(
            _Call(
                method,
                _target(path, params or {}),
                body,
                content_type or (JSON if body is not None else ""),
                accept,
                repeatable=method in ("GET", "HEAD", "PUT"),
                seconds=timeout,
            )
        )

    async def _request(self, call: _Call) -> bytes:
        """Carry out a call, trying again where that is safe."""
        return await self._persist(call, self._exchange)

    async def _persist(self, call: _Call, attempt: Callable[[_Call], Awaitable[R]]) -> R:
        """Attempt until it works or more attempts make no sense."""
        tries: _Tries | None = None
        while True:
            try:
                return await attempt(call)
            except ApiError as error:
                tries = tries or _Tries(repeatable=call.repeatable, another_identity=self._config.credentials.reject)
                pause = tries.pause_after(error)
                if pause is None:
                    raise
            await self._clock.sleep(pause)

    async def _exchange(self, call: _Call) -> bytes:
        """One attempt at a whole answer."""
        async with self._turns:
            response = await self._open(call)
            try:
                return await response.read()
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                raise _unreachable(call, error) from error
            finally:
                response.release()

    async def _open(self, call: _Call) -> aiohttp.ClientResponse:
        """One attempt, up to the head of a good answer, whose body the caller reads."""
        if self._session is None:
            raise RuntimeError("the client is used outside its context")
        headers = await self._headers_of(call)
        started = self._clock.monotonic()
        code = "<error>"
        try:
            response = await self._session.request(
                call.method,
                URL(self._config.server + call.target, encoded=True),
                data=call.body,
                headers=headers,
                allow_redirects=False,
                timeout=_limits(call.seconds, call.silence),
                **self._options,
            )
            code = str(response.status)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _unreachable(call, error) from error
        finally:
            if self._observe is not None:
                self._observe(RequestSample(call.method, self._host, code, self._clock.monotonic() - started))
        if response.status >= 300:
            raise await _refusal(call, response)
        return response

    async def _headers_of(self, call: _Call) -> dict[str, str]:
        """Headers of the call, made once per kind of call and identity."""
        await self._identify()
        headers = self._headers.get((call.accept, call.content_type))
        if headers is None:
            headers = {"Accept": call.accept}
            if call.content_type:
                headers["Content-Type"] = call.content_type
            if self._identity.authorization:
                headers["Authorization"] = self._identity.authorization
            self._headers[(call.accept, call.content_type)] = headers
        return headers

    async def _identify(self) -> None:
        """Take over the identity of now. Raises Unauthorized when there is none to be had."""
        try:
            identity = self._config.credentials.current() or await self._config.credentials.renew()
            if identity is self._identity:
                return
            if identity.certificate and self._config.tls is not None:
                load_client_certificate(self._config.tls, identity.certificate, identity.key)
        except ConfigError as error:
            raise Unauthorized(reason="NoCredentials", message=str(error)) from error
        self._identity = identity
        self._headers.clear()


class _ListMeta(msgspec.Struct):
    token: str = msgspec.field(default="", name="continue")


class _ListHead(msgspec.Struct):
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)


_LIST_HEAD = msgspec.json.Decoder(_ListHead)


def _continuation(page: bytes) -> str:
    """The continue token of a page; empty on the last one, or when the page makes no sense to us."""
    try:
        return _LIST_HEAD.decode(page).metadata.token
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return ""


def _target(path: str, query: Mapping[str, str]) -> str:
    """Path and query as they go into the request line; empty parameters are left out."""
    text = _query_text(tuple(query.items()))
    return f"{path}?{text}" if text else path


@lru_cache(maxsize=256)
def _query_text(parameters: tuple[tuple[str, str], ...]) -> str:
    """The encoded query; writes have few different ones."""
    return urlencode([(name, value) for name, value in parameters if value])


@lru_cache(maxsize=64)
def _limits(seconds: float | None, silence: float | None) -> aiohttp.ClientTimeout:
    """The time limits of a request as aiohttp takes them."""
    return aiohttp.ClientTimeout(total=seconds, sock_connect=CONNECT_SECONDS, sock_read=silence)


def _encoded(tree: object) -> bytes:
    """The JSON of a tree; bytes are taken as JSON already."""
    return tree if isinstance(tree, bytes) else msgspec.json.encode(tree)


def _unreachable(call: _Call, error: BaseException) -> Unreachable:
    """The error for a request without a (complete) answer."""
    late = isinstance(error, TimeoutError)
    text = str(error) or type(error).__name__
    return Unreachable(
        reason=TIMED_OUT if late else CONNECTION_LOST,
        message=f"no answer in time: {text}" if late else f"no answer: {text}",
        request=str(call),
    )


async def _refusal(call: _Call, response: aiohttp.ClientResponse) -> ApiError:
    """The error in an answer that is none of success."""
    try:
        body = await response.read()
    except (aiohttp.ClientError, TimeoutError, OSError):
        body = b""  # the status says enough
    finally:
        response.release()
    return parse_error(
        body, status=response.status, retry_after=_retry_after(response.headers.get("Retry-After")), request=str(call)
    )


def _retry_after(text: str | None) -> float | None:
    """Seconds in a Retry-After header; the API server sends no dates."""
    try:
        return max(0.0, float(text)) if text else None
    except ValueError:
        return None
