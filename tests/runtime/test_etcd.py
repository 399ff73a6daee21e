"""Deleting from etcd, over a real socket of this machine."""

from __future__ import annotations

import pytest
from aiohttp import web

from dynamo_operator.runtime.etcd import Etcd, EtcdError
from dynamo_operator.runtime.server import Address, serving


async def delete(status: int, body: bytes) -> int:
    async def answer(request: web.Request) -> web.Response:
        assert await request.json() == {"key": "L2Ev", "range_end": "L2Ew"}
        return web.Response(status=status, body=body)

    app = web.Application()
    app.router.add_post("/v3/kv/deleterange", answer)
    async with serving(app, Address("127.0.0.1", 0)) as address:
        return await Etcd(f"127.0.0.1:{address.port}").delete_prefix("/a/")


async def test_keys_under_a_prefix_are_deleted_and_counted() -> None:
    assert await delete(200, b'{"deleted": "3"}') == 3


@pytest.mark.parametrize(
    ("status", "body"),
    [
        pytest.param(503, b"no leader", id="refusal"),
        pytest.param(400, b"a" * 199 + "é".encode(), id="refusal cut within a letter"),
        pytest.param(400, b"\xff\x00", id="refusal that is no text"),
        pytest.param(200, b"<html>", id="no JSON"),
        pytest.param(200, b"[]", id="not an object"),
        pytest.param(200, b'{"deleted": "many"}', id="no number"),
    ],
)
async def test_answer_that_is_none(status: int, body: bytes) -> None:
    with pytest.raises(EtcdError):
        await delete(status, body)


@pytest.mark.parametrize("address", ["127.0.0.1:1", "no port:x", "ftp://127.0.0.1", "[::1"])
async def test_address_where_nobody_answers(address: str) -> None:
    with pytest.raises(EtcdError):
        await Etcd(address).delete_prefix("/a/")
