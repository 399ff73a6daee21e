"""The fault proxy does what its rules say, in front of a small server and in front of a real API server."""

from __future__ import annotations

import asyncio
import json
import ssl
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
import yaml
from aiohttp import web
from cluster.kubeconfig import render_kubeconfig, write_kubeconfig

from tests.support.cluster import ControlPlane
from tests.support.fault_proxy import FaultProxy
from tests.support.faults import (
    WRITES,
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
    StallWatch,
)

EVENTS = [json.dumps({"type": "ADDED", "n": n}).encode() + b"\n" for n in range(3)]


class SmallServer:
    """Counts what reaches it; answers a watch with three events and then says nothing more."""

    def __init__(self) -> None:
        self.reached: list[str] = []
        self.url = ""

    async def serve(self, request: web.BaseRequest) -> web.StreamResponse:
        self.reached.append(f"{request.method} {request.raw_path}")
        if "watch" not in request.query:
            return web.json_response({"body": (await request.read()).decode()}, headers={"X-Kept": "yes"})
        response = web.StreamResponse()
        await response.prepare(request)
        for event in EVENTS:
            await response.write(event)
        await asyncio.Event().wait()
        return response


@pytest.fixture
async def server() -> AsyncIterator[SmallServer]:
    small = SmallServer()
    runner = web.ServerRunner(web.Server(small.serve, handler_cancellation=True), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    small.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield small
    await runner.cleanup()


@pytest.fixture
async def proxy(server: SmallServer, tmp_path: Path) -> AsyncIterator[FaultProxy]:
    upstream = tmp_path / "upstream.kubeconfig"
    write_kubeconfig(upstream, render_kubeconfig(server=server.url, authority=b"", user="nobody", pair=None))
    async with FaultProxy(upstream, tmp_path, tls=False) as proxy:
        yield proxy


@pytest.fixture
async def client(proxy: FaultProxy) -> AsyncIterator[aiohttp.ClientSession]:
    config = yaml.safe_load(proxy.kubeconfig.read_text())
    async with aiohttp.ClientSession(config["clusters"][0]["cluster"]["server"]) as session:
        yield session


async def events_of(client: aiohttp.ClientSession, count: int) -> list[bytes]:
    """So many lines of a watch; fewer where it ends or breaks before."""
    lines: list[bytes] = []
    async with client.get("/api/v1/pods?watch=true") as answer:
        try:
            while len(lines) < count and (line := await answer.content.readline()):
                lines.append(line)
        except aiohttp.ClientPayloadError:
            pass
    return lines


async def test_without_rules_all_passes(proxy: FaultProxy, client: aiohttp.ClientSession, server: SmallServer) -> None:
    async with client.patch("/a%2Fb?x=%3D", data="text") as answer:
        assert (answer.status, answer.headers["X-Kept"]) == (200, "yes")
        assert await answer.json() == {"body": "text"}
    assert server.reached == ["PATCH /a%2Fb?x=%3D"]
    assert [(each.method, each.path, each.status) for each in proxy.seen] == [("PATCH", "/a%2Fb?x=%3D", 200)]


@pytest.mark.parametrize(
    ("fault", "status", "reached"),
    [
        pytest.param(Answer(409), 409, 0, id="answered by the proxy: the server sees nothing"),
        pytest.param(Answer(503, forwarded=True), 503, 1, id="answered after forwarding: the request took effect"),
        pytest.param(Drop(), None, 0, id="dropped before forwarding: no answer, no effect"),
        pytest.param(Drop(forwarded=True), None, 1, id="dropped after forwarding: no answer, yet an effect"),
        pytest.param(Duplicate(), 200, 2, id="duplicated: the server sees it twice, the client one answer"),
        pytest.param(Delay(0.01), 200, 1, id="delayed: it arrives all the same"),
    ],
)
async def test_faults_of_a_request(
    proxy: FaultProxy,
    client: aiohttp.ClientSession,
    server: SmallServer,
    fault: Fault,
    status: int | None,
    reached: int,
) -> None:
    proxy.add(Rule(Match(methods=WRITES), fault))
    got = None
    try:
        async with client.post("/things") as answer:
            got = answer.status
    except aiohttp.ServerDisconnectedError:
        pass
    assert (got, len(server.reached)) == (status, reached)
    assert proxy.seen[0].forwards == reached


async def test_refusals_look_like_those_of_kubernetes(proxy: FaultProxy, client: aiohttp.ClientSession) -> None:
    proxy.add(Rule(Match(), Answer(429, retry_after=3)))
    async with client.get("/things") as answer:
        assert answer.headers["Retry-After"] == "3"
        assert (await answer.json())["reason"] == "TooManyRequests"


@pytest.mark.parametrize(
    ("match", "wanted"),
    [
        pytest.param(Match(nth=2), [200, 500, 200], id="a number: only that request"),
        pytest.param(Match(nth=range(1, 3)), [500, 500, 200], id="a range: those requests"),
        pytest.param(Match(), [500, 500, 500], id="no number: every request"),
        pytest.param(Match(path="/other"), [200, 200, 200], id="another path: none"),
        pytest.param(Match(watch=True), [200, 200, 200], id="watches only: no plain request"),
    ],
)
async def test_which_requests_fail(
    proxy: FaultProxy, client: aiohttp.ClientSession, match: Match, wanted: list[int]
) -> None:
    proxy.add(Rule(match, Answer(500)))
    got = []
    for _ in range(3):
        async with client.get("/things") as answer:
            got.append(answer.status)
    assert got == wanted


async def test_cleared_rules_no_longer_act(proxy: FaultProxy, client: aiohttp.ClientSession) -> None:
    proxy.add(Rule(Match(), Answer(500)))
    proxy.clear()
    async with client.get("/things") as answer:
        assert answer.status == 200


async def test_watch_streams_while_it_is_open(proxy: FaultProxy, client: aiohttp.ClientSession) -> None:
    assert await events_of(client, 3) == EVENTS
    assert len(proxy.matching(Match(watch=True))) == 1


async def test_watch_is_cut_after_its_events(proxy: FaultProxy, client: aiohttp.ClientSession) -> None:
    proxy.add(Rule(Match(watch=True), CutWatch(after=2)))
    assert await events_of(client, 3) == EVENTS[:2]


async def test_watch_expires_with_an_error_event(proxy: FaultProxy, client: aiohttp.ClientSession) -> None:
    proxy.add(Rule(Match(watch=True), ExpireWatch(after=1)))
    first, error = await events_of(client, 3)
    assert first == EVENTS[0]
    assert json.loads(error)["object"]["code"] == 410


async def test_stalled_watch_stays_open_without_a_word(proxy: FaultProxy, client: aiohttp.ClientSession) -> None:
    proxy.add(Rule(Match(watch=True), StallWatch(after=1)))
    async with client.get("/api/v1/pods?watch=1") as answer:
        assert await answer.content.readline() == EVENTS[0]
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(answer.content.readline(), 0.1)


@pytest.mark.parametrize(
    ("forwarded", "reached"),
    [
        pytest.param(False, 0, id="killed before forwarding: the write never happens"),
        pytest.param(True, 1, id="killed after forwarding: the write happened"),
    ],
)
async def test_kill_at_a_write(
    proxy: FaultProxy, client: aiohttp.ClientSession, server: SmallServer, *, forwarded: bool, reached: int
) -> None:
    victim = await asyncio.create_subprocess_exec("sleep", "60")
    proxy.add(Rule(Match(methods=WRITES, nth=1), Kill(victim.pid, forwarded=forwarded)))
    with pytest.raises(aiohttp.ServerDisconnectedError):
        await client.post("/things")
    assert await asyncio.wait_for(victim.wait(), 5) == -9
    assert len(server.reached) == reached


async def test_wait_for_returns_when_a_request_comes(proxy: FaultProxy, client: aiohttp.ClientSession) -> None:
    waiting = asyncio.create_task(proxy.wait_for(lambda: len(proxy.seen) == 1, seconds=5))
    async with client.get("/things"):
        await waiting


async def test_server_that_is_gone_breaks_the_connection(proxy: FaultProxy, client: aiohttp.ClientSession) -> None:
    proxy._upstream._cluster["server"] = "http://127.0.0.1:1"
    with pytest.raises(aiohttp.ServerDisconnectedError):
        await client.get("/things")


@pytest.mark.cluster
async def test_kubectl_through_the_proxy_is_the_operator(
    operator_proxy: FaultProxy, control_plane: ControlPlane, namespace: str
) -> None:
    operator_proxy.add(Rule(Match(path="/configmaps", methods=WRITES, nth=1), Answer(429, retry_after=0)))
    arguments = ["create", "configmap", "made-by-proxy", f"--namespace={namespace}", "-v=0"]
    await asyncio.to_thread(run_kubectl, control_plane, operator_proxy, *arguments)
    assert [each.status for each in operator_proxy.matching(Match(methods=WRITES))] == [429, 201]
    lines = [json.loads(line) for line in control_plane.audit_log.read_text().splitlines() if namespace in line]
    users = {line["user"]["username"] for line in lines if line["objectRef"].get("name") == "made-by-proxy"}
    assert users == {"operator"}


@pytest.mark.cluster
async def test_real_watch_through_the_proxy(operator_proxy: FaultProxy, namespace: str) -> None:
    config = yaml.safe_load(operator_proxy.kubeconfig.read_text())["clusters"][0]["cluster"]
    context = ssl.create_default_context(cadata=b64_text(config["certificate-authority-data"]))
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    async with (
        aiohttp.ClientSession(config["server"], connector=aiohttp.TCPConnector(ssl=context)) as session,
        session.get(f"{path}?watch=true") as answer,
    ):
        await session.post(path, json={"metadata": {"name": "seen"}})
        async with asyncio.timeout(10):
            names = [json.loads(await answer.content.readline())["object"]["metadata"]["name"] for _ in range(2)]
    assert "seen" in names


def b64_text(text: str) -> str:
    import base64

    return base64.b64decode(text).decode()


def run_kubectl(control_plane: ControlPlane, proxy: FaultProxy, *arguments: str) -> None:
    command = [str(control_plane.bin / "kubectl"), f"--kubeconfig={proxy.kubeconfig}", *arguments]
    answer = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603
    assert answer.returncode == 0, answer.stderr
