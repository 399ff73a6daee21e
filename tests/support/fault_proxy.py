"""A reverse proxy on loopback between a client and the API server that fails as its rules say."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any, Self

import aiohttp
import pytest
from aiohttp import web
from cluster.certificates import make_authority
from cluster.kubeconfig import render_kubeconfig, write_kubeconfig

from tests.support.cluster import ControlPlane
from tests.support.faults import (
    Answer,
    CutWatch,
    Delay,
    Drop,
    Duplicate,
    ExpireWatch,
    Fault,
    Kill,
    Match,
    Rule,
    Seen,
    StallWatch,
)
from tests.support.upstream import Upstream, end_to_end

_LOOPBACK = "127.0.0.1"
_USER = "through-proxy"
# Reasons that Kubernetes clients expect beside a status.
_REASONS = {
    409: "Conflict",
    410: "Expired",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}
_WATCH_FAULTS = (CutWatch, StallWatch, ExpireWatch)


class FaultProxy:
    """The proxy, an async context manager. ``kubeconfig`` leads clients through it; ``seen`` is all it was asked."""

    def __init__(self, upstream_kubeconfig: Path, folder: Path, *rules: Rule, tls: bool = True) -> None:
        self._upstream = Upstream(upstream_kubeconfig, folder)
        self._folder, self._tls = folder, tls
        self._rules = [(rule, [0]) for rule in rules]
        self._changed = asyncio.Condition()
        self._closing = asyncio.Event()
        self._stack = AsyncExitStack()
        self.kubeconfig = folder / "proxy.kubeconfig"
        self.seen: list[Seen] = []

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._upstream)
        # Handlers end with their client, so that a killed operator leaves no watches behind.
        runner = web.ServerRunner(web.Server(self._serve, handler_cancellation=True), shutdown_timeout=1.0)
        await runner.setup()
        self._stack.push_async_callback(runner.cleanup)
        self._stack.callback(self._closing.set)
        authority = make_authority("fault-proxy")
        site = web.TCPSite(runner, _LOOPBACK, 0, ssl_context=self._context(authority) if self._tls else None)
        await site.start()
        port = runner.addresses[0][1]
        server = f"{'https' if self._tls else 'http'}://{_LOOPBACK}:{port}"
        trusted = authority.pair().certificate if self._tls else b""
        config = render_kubeconfig(server=server, authority=trusted, user=_USER, pair=None)
        # The same credentials: a token passes through, and kubectl asks for a password where it finds none.
        config["users"] = [{"name": _USER, "user": self._upstream.user}]
        write_kubeconfig(self.kubeconfig, config)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    def add(self, *rules: Rule) -> None:
        """Add rules; their counts start now. Of several that fire for a request the first one acts."""
        self._rules += [(rule, [0]) for rule in rules]

    def clear(self) -> None:
        """Forget all rules: from now on everything passes."""
        self._rules.clear()

    def matching(self, match: Match) -> list[Seen]:
        """What was seen of a kind, whatever its ``nth`` says."""
        return [each for each in self.seen if match.covers(each.method, each.path, watch=each.watch)]

    async def wait_for(self, condition: Callable[[], bool], seconds: float = 10.0) -> None:
        """Return when a condition holds; it is asked again whenever a request came or was answered. TimeoutError."""
        async with asyncio.timeout(seconds), self._changed:
            await self._changed.wait_for(condition)

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        watch = request.query.get("watch") in ("1", "true")
        fault = self._fault_of(request.method, request.raw_path, watch=watch)
        seen = Seen(request.method, request.raw_path, watch, fault)
        self.seen.append(seen)
        await self._notify()
        try:
            response = await self._act(request, seen, fault)
        except (aiohttp.ClientError, ConnectionError):
            # The API server went away, or the client did: either way there is nobody to answer.
            return _broken(request)
        await self._notify()
        return response

    def _fault_of(self, method: str, path: str, *, watch: bool) -> Fault | None:
        firing: list[Fault] = []
        for rule, count in self._rules:
            if rule.match.covers(method, path, watch=watch):
                count[0] += 1
                if rule.match.fires(count[0]):
                    firing.append(rule.fault)
        return firing[0] if firing else None

    async def _act(self, request: web.BaseRequest, seen: Seen, fault: Fault | None) -> web.StreamResponse:
        """Carry out a fault, or forward the request where there is none."""
        match fault:
            case Drop() | Kill() | Answer():
                return await self._refuse(request, seen, fault)
            case Delay(seconds=seconds):
                await asyncio.sleep(seconds)
            case Duplicate():
                (await self._forward(request, seen)).release()
        return await self._pass_on(request, seen)

    async def _refuse(self, request: web.BaseRequest, seen: Seen, fault: Drop | Kill | Answer) -> web.StreamResponse:
        if fault.forwarded:
            answer = await self._forward(request, seen)
            # Whole, so that the request has taken effect by now.
            await answer.read()
        match fault:
            case Answer():
                seen.status = fault.status
                return _status_answer(fault)
            case Kill():
                with suppress(ProcessLookupError):
                    os.kill(fault.victim(), signal.SIGKILL)
        return _broken(request)

    async def _forward(self, request: web.BaseRequest, seen: Seen) -> aiohttp.ClientResponse:
        body = await request.read()
        seen.forwards += 1
        return await self._upstream.send(request.method, request.raw_path, request.headers, body)

    async def _pass_on(self, request: web.BaseRequest, seen: Seen) -> web.StreamResponse:
        answer = await self._forward(request, seen)
        async with answer:
            seen.status = answer.status
            headers = end_to_end(answer.headers)
            if not seen.watch or answer.status != 200:
                return web.Response(status=answer.status, headers=headers, body=await answer.read())
            response = web.StreamResponse(status=answer.status, headers=headers)
            await response.prepare(request)
            await self._notify()
            await self._stream(request, answer, response, seen.fault)
            return response

    async def _stream(
        self,
        request: web.BaseRequest,
        answer: aiohttp.ClientResponse,
        response: web.StreamResponse,
        fault: Fault | None,
    ) -> None:
        """Pass events on, as many as the fault lets through, then do what it says."""
        left = fault.after if isinstance(fault, _WATCH_FAULTS) else None
        events = event_lines(answer)
        while left is None or left > 0:
            line = await anext(events, None)
            if line is None:
                return
            await response.write(line)
            left = None if left is None else left - 1
        match fault:
            case CutWatch():
                _broken(request)
            case ExpireWatch():
                await response.write(_expired_event())
            case _:
                await self._closing.wait()

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    def _context(self, authority: Any) -> ssl.SSLContext:
        authority.issue_server("localhost", hosts=("localhost",), addresses=(_LOOPBACK,)).write(self._folder, "proxy")
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self._folder / "proxy.crt", self._folder / "proxy.key")
        return context


async def event_lines(answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """The lines of a watch, each with its line end; a line may be far longer than a stream reader's limit."""
    rest = b""
    async for chunk in answer.content.iter_any():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line + b"\n"


def _broken(request: web.BaseRequest) -> web.StreamResponse:
    """Break the connection; what is returned goes nowhere."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


def _status_answer(fault: Answer) -> web.Response:
    headers = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
    return web.json_response(_status(fault.status), status=fault.status, headers=headers)


def _expired_event() -> bytes:
    return json.dumps({"type": "ERROR", "object": _status(410)}).encode() + b"\n"


def _status(code: int) -> dict[str, Any]:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "the fault proxy answers this",
        "reason": _REASONS.get(code, "Unknown"),
        "code": code,
    }


@pytest.fixture
async def operator_proxy(control_plane: ControlPlane, tmp_path: Path) -> AsyncIterator[FaultProxy]:
    """A proxy without rules in front of the control plane, which knows its clients as the user `operator`."""
    async with FaultProxy(control_plane.operator_kubeconfig, tmp_path) as proxy:
        yield proxy
