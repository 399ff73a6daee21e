"""The plain HTTP servers of the process: health probes and metrics (specification: platform.md 4 and 10.5)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

from aiohttp import web
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from dynamo_operator.runtime.health import Answer, Health


class Address(NamedTuple):
    """Where to listen; an empty host means all interfaces."""

    host: str
    port: int


def parse_address(text: str) -> Address | None:
    """``:8081``, ``127.0.0.1:8080`` or ``[::1]:8080``; None for ``0``, which switches a server off.

    Raises ValueError for anything else.
    """
    if text in ("", "0"):
        return None
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise ValueError(f"address {text!r} is not host:port, :port or 0")
    if host.startswith("[") != host.endswith("]") or (":" in host and not host.startswith("[")):
        raise ValueError(f"address {text!r}: write an IPv6 host in brackets, as in [::1]:8080")
    return Address(host.strip("[]"), int(port))


def health_app(*, live: Health, ready: Health) -> web.Application:
    """``/healthz`` and ``/readyz``, each with a path below it for every single check."""
    app = web.Application()
    for path, health in (("/healthz", live), ("/readyz", ready)):
        app.router.add_get(path, _report(health))
        app.router.add_get(path + "/", _report(health))
        app.router.add_get(path + "/{check}", _report_one(health))
    return app


def metrics_app(registry: CollectorRegistry) -> web.Application:
    """``/metrics`` in the format that the client accepts."""

    async def metrics(request: web.Request) -> web.Response:
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        # The header goes as it is: aiohttp would refuse a charset in its own argument.
        return web.Response(body=encode(registry), headers={"Content-Type": content_type})

    app = web.Application()
    app.router.add_get("/metrics", metrics)
    return app


@asynccontextmanager
async def serving(app: web.Application, address: Address) -> AsyncGenerator[Address]:
    """Serve the application while the block runs; yields the address in use, which matters for port 0.

    Raises OSError when the address cannot be bound.
    """
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=5)
    await runner.setup()
    try:
        site = web.TCPSite(runner, address.host or None, address.port)
        await _start(site, address)
        yield Address(address.host, runner.addresses[0][1])
    finally:
        await runner.cleanup()


async def _start(site: web.TCPSite, address: Address) -> None:
    """Listen; asyncio's own words for a failure bury the address among others."""
    try:
        await site.start()
    except OSError as error:
        reason = str(error.strerror or error).rpartition(": ")[2]
        raise OSError(f"cannot listen on {address.host}:{address.port}: {reason}") from error


def _report(health: Health) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def report(request: web.Request) -> web.Response:
        exclude = request.query.getall("exclude", [])
        return _response(health.report(verbose="verbose" in request.query, exclude=exclude))

    return report


def _report_one(health: Health) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def report_one(request: web.Request) -> web.Response:
        return _response(health.report_one(request.match_info["check"]))

    return report_one


def _response(answer: Answer) -> web.Response:
    return web.Response(
        status=answer.status, text=answer.text, headers={"X-Content-Type-Options": "nosniff"}, charset="utf-8"
    )
