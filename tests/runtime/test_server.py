"""The HTTP servers, over real sockets of this machine."""

import aiohttp
import pytest
from prometheus_client import CollectorRegistry, Counter

from dynamo_operator.runtime.health import Health
from dynamo_operator.runtime.server import Address, health_app, metrics_app, parse_address, serving


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (":8081", Address("", 8081)),
        ("127.0.0.1:8080", Address("127.0.0.1", 8080)),
        ("[::1]:80", Address("::1", 80)),
        ("0", None),
        ("", None),
    ],
)
def test_address(text: str, address: Address | None) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize("text", ["8080", "a:b", ":65536", "::1:80", "[::1:80", ":", ":²"])
def test_bad_address(text: str) -> None:
    with pytest.raises(ValueError, match="address"):
        parse_address(text)


@pytest.mark.parametrize(
    ("path", "status", "text"),
    [
        ("/healthz", 200, "ok"),
        ("/healthz/", 200, "ok"),
        ("/healthz?verbose", 200, "[+]ping ok\nhealthz check passed\n"),
        ("/readyz", 500, "[-]cache failed: reason withheld\nhealthz check failed\n"),
        ("/readyz?exclude=cache", 200, "ok"),
        ("/readyz/cache", 500, "internal server error: empty\n"),
        ("/readyz/other", 404, "404 page not found\n"),
    ],
)
async def test_probe(path: str, status: int, text: str) -> None:
    app = health_app(live=Health(), ready=Health({"cache": lambda: "empty"}))
    async with (
        serving(app, Address("127.0.0.1", 0)) as address,
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{address.port}{path}") as response,
    ):
        assert (response.status, await response.text()) == (status, text)
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Content-Type"] == "text/plain; charset=utf-8"


async def test_metrics() -> None:
    registry = CollectorRegistry()
    Counter("things", "Things.", registry=registry).inc()
    async with (
        serving(metrics_app(registry), Address("127.0.0.1", 0)) as address,
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{address.port}/metrics") as response,
    ):
        assert "things_total 1.0" in await response.text()
        assert response.headers["Content-Type"].startswith("text/plain")


async def test_port_is_taken_an_error_says_so() -> None:
    async with serving(health_app(live=Health(), ready=Health()), Address("127.0.0.1", 0)) as address:
        with pytest.raises(OSError, match=r"^cannot listen on 127\.0\.0\.1:\d+: address already in use$"):
            async with serving(health_app(live=Health(), ready=Health()), address):
                pass
