import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from dynamo_operator.runtime.credentials import ConfigError, ExecCommand, ExecPlugin, Fixed, Identity, TokenFile
from tests.support.clock import START, ManualClock

V1 = "client.authentication.k8s.io/v1"


async def test_fixed_identities_have_no_other() -> None:
    fixed = Fixed(token="t")
    assert fixed.current() is await fixed.renew()
    assert not fixed.reject()


async def test_a_token_file_is_read_again_after_a_minute_and_after_a_refusal(tmp_path: Path) -> None:
    clock, path = ManualClock(), tmp_path / "token"
    path.write_text("one\n")
    tokens = TokenFile(path, clock=clock)
    assert tokens.current() is None
    assert await tokens.renew() == Identity("Bearer one")
    path.write_text("two")
    assert tokens.current() == Identity("Bearer one")
    await clock.advance(61)
    assert tokens.current() is None
    assert await tokens.renew() == Identity("Bearer two")
    assert tokens.reject()
    assert tokens.current() is None


async def test_a_token_that_cannot_be_read_for_a_moment_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("one")
    tokens = TokenFile(path)
    await tokens.renew()
    path.write_text("")
    assert await tokens.renew() == Identity("Bearer one")
    path.unlink()
    assert await tokens.renew() == Identity("Bearer one")


async def test_a_token_that_never_was_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read the token file"):
        await TokenFile(tmp_path / "none").renew()
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(ConfigError, match="is empty"):
        await TokenFile(tmp_path / "empty").renew()


def plugin(script: str, *, clock: ManualClock | None = None, **more: Any) -> ExecPlugin:
    command = ExecCommand(sys.executable, ("-c", script), api_version=V1, **more)
    return ExecPlugin(command, environ={"PATH": "/usr/bin"}, clock=clock)


def answering(**status: Any) -> str:
    return f"print({json.dumps({'apiVersion': V1, 'kind': 'ExecCredential', 'status': status})!r})"


async def test_a_plugin_runs_once_until_its_answer_expires(tmp_path: Path) -> None:
    clock = ManualClock()
    note = f"open({str(tmp_path / 'runs')!r}, 'a').write('x');"
    issued = plugin(note + answering(token="t", expirationTimestamp=START.isoformat()[:-6] + "Z"), clock=clock)
    issued._clock = late = ManualClock()
    late._elapsed = -60
    assert issued.current() is None
    first, second = await asyncio.gather(issued.renew(), issued.renew())
    assert first is second
    assert first.authorization == "Bearer t"
    assert (tmp_path / "runs").read_text() == "x"
    await late.advance(60)
    assert issued.current() is None


async def test_a_plugin_is_told_of_the_cluster_and_may_issue_a_certificate() -> None:
    script = (
        "import json, os; info = json.loads(os.environ['KUBERNETES_EXEC_INFO']);"
        "info['status'] = {'clientCertificateData': info['spec']['cluster']['server']};"
        "info['status']['clientKeyData'] = os.environ['A'];"
        "print(json.dumps(info))"
    )
    issued = plugin(script, env={"A": "b"}, cluster_info={"server": "s"})
    assert await issued.renew() == Identity("", "s", "b")
    assert issued.current() is not None
    assert issued.reject()
    assert issued.current() is None


FAULTS = [
    pytest.param("raise SystemExit('no login')", "ended with 1: no login", id="fails: says what it said"),
    pytest.param("print('x')", "wrote no ExecCredential", id="no JSON"),
    pytest.param("print('{}')", "answered in no version", id="no version"),
    pytest.param(answering(), "gave neither token nor certificate", id="nothing in it"),
    pytest.param(answering(token="t", expirationTimestamp="2026-01-01T00:00:00"), "no ExecCredential", id="no zone"),
]


@pytest.mark.parametrize(("script", "message"), FAULTS)
async def test_a_plugin_that_fails(script: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        await plugin(script).renew()


async def test_a_plugin_that_is_missing_gives_its_hint() -> None:
    command = ExecCommand("/nowhere/at/all", api_version=V1, install_hint="install it")
    with pytest.raises(ConfigError, match=r"cannot run the credential plugin /nowhere/at/all: .*; install it"):
        await ExecPlugin(command, environ={}).renew()


async def test_a_plugin_does_not_outlive_its_caller(tmp_path: Path) -> None:
    mark = tmp_path / "started"
    running = asyncio.create_task(plugin(f"import time; open({str(mark)!r}, 'w'); time.sleep(60)").renew())
    async with asyncio.timeout(10):
        while not mark.exists():  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.wait([running])
    assert running.cancelled()
