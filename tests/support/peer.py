"""An HTTP server that says what a test tells it to say: a scripted peer, not an API server."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from dynamo_operator.runtime.client import Client
from dynamo_operator.runtime.clock import Clock
from dynamo_operator.runtime.credentials import Credentials, Fixed
from dynamo_operator.runtime.kubeconfig import ClusterConfig

STALL = "stall"
"""Say nothing more until the test ends."""
CUT = "cut"
"""Break the connection in the middle."""
END = "end"
"""End the stream properly."""


@dataclass(frozen=True)
class Asked:
    """A request that came in."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


@dataclass
class Answer:
    """A whole answer."""

    body: bytes = b"{}"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False


@dataclass
class Stream:
    """An answer in chunks, which may stall, end or be cut."""

    steps: list[Any]


class Peer:
    """Answers watches, fixed paths, lists and all else from queues; then with silence, or an empty object."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.answers: deque[Answer | Callable[[Asked], Answer]] = deque()
        self.lists: deque[Answer | Callable[[Asked], Answer]] = deque()
        self.watches: deque[Stream | Answer] = deque()
        self.routes: dict[str, Answer] = {}
        self.url = ""
        self._closing = asyncio.Event()

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        asked = Asked(
            request.method,
            request.raw_path.partition("?")[0],
            dict(request.query),
            dict(request.headers),
            await request.read(),
        )
        self.asked.append(asked)
        if "watch" in asked.query:
            said = self.watches.popleft() if self.watches else Stream([STALL])
            return await (self._stream(request, said) if isinstance(said, Stream) else self._whole(request, said))
        if asked.path in self.routes:
            return await self._whole(request, self.routes[asked.path])
        queue = self.lists if "limit" in asked.query or self.lists else self.answers
        said = queue.popleft() if queue else Answer()
        return await self._whole(request, said(asked) if callable(said) else said)

    async def _whole(self, request: web.Request, answer: Answer) -> web.Response:
        """An answer in one piece, or none at all."""
        if answer.cut and request.transport is not None:
            request.transport.abort()
        return web.Response(
            body=answer.body, status=answer.status, headers=answer.headers, content_type="application/json"
        )

    async def _stream(self, request: web.Request, stream: Stream) -> web.StreamResponse:
        """An answer step by step."""
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        for step in stream.steps:
            if step == STALL:
                await self._closing.wait()
            elif step == CUT and request.transport is not None:
                request.transport.abort()
            elif isinstance(step, asyncio.Event):
                await step.wait()
            elif isinstance(step, bytes):
                await response.write(step)
        return response

    def watches_seen(self) -> list[Asked]:
        """The watch requests so far."""
        return [asked for asked in self.asked if "watch" in asked.query]

    def lists_seen(self) -> list[Asked]:
        """The list requests so far."""
        return [asked for asked in self.asked if "watch" not in asked.query]

    def close(self) -> None:
        """Let go of what stalls."""
        self._closing.set()


@asynccontextmanager
async def peer_running() -> AsyncIterator[Peer]:
    """A peer on a free port of the loopback interface."""
    peer = Peer()
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_route("*", "/{tail:.*}", peer.serve)
    runner = web.AppRunner(app, shutdown_timeout=0.5, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    peer.url = f"http://{host}:{port}"
    try:
        yield peer
    finally:
        peer.close()
        await runner.cleanup()


@asynccontextmanager
async def client_of(
    peer: Peer, *, clock: Clock | None = None, credentials: Credentials | None = None, **options: Any
) -> AsyncIterator[Client]:
    """A client of that peer."""
    config = ClusterConfig(server=peer.url, credentials=credentials or Fixed())
    async with Client(config, user_agent="test/1", clock=clock, **options) as client:
        yield client


async def eventually(condition: Callable[[], Any], *, seconds: float = 10.0) -> None:
    """Return as soon as the condition holds."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - conditions of any kind
            await asyncio.sleep(0.002)


def thing(name: str, version: int, *, uid: str = "", namespace: str = "demo", **more: Any) -> dict[str, Any]:
    """A namespaced object with a version; ``deleting`` marks it, other members are added to it."""
    metadata: dict[str, Any] = {"name": name, "namespace": namespace, "uid": uid or f"uid-{name}"}
    metadata["resourceVersion"] = str(version)
    if more.pop("deleting", False):
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    if labels := more.pop("labels", None):
        metadata["labels"] = labels
    return {"metadata": metadata, **more}


def page(items: list[dict[str, Any]], version: int, *, token: str = "") -> Answer:
    """One page of a list."""
    metadata = {"resourceVersion": str(version), **({"continue": token} if token else {})}
    return Answer(json.dumps({"kind": "List", "metadata": metadata, "items": items}).encode())


def event(kind: str, obj: dict[str, Any]) -> bytes:
    """One line of a watch."""
    return json.dumps({"type": kind, "object": obj}).encode() + b"\n"


def bookmark(version: int) -> bytes:
    """A line that moves the version on."""
    return event("BOOKMARK", {"metadata": {"resourceVersion": str(version)}})


def status(code: int, reason: str, message: str = "because", **details: Any) -> dict[str, Any]:
    """A Status object."""
    return {"kind": "Status", "code": code, "reason": reason, "message": message, "details": details}


def refusal(code: int, reason: str, *, retry_after: str = "", **details: Any) -> Answer:
    """An answer that carries a Status object."""
    headers = {"Retry-After": retry_after} if retry_after else {}
    return Answer(json.dumps(status(code, reason, **details)).encode(), code, headers)
