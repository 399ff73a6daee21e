"""Who we are to the API server: headers that may change while the process runs."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Protocol

import msgspec

from dynamo_operator.runtime.clock import Clock, SystemClock


class ConfigError(Exception):
    """The cluster configuration, or what it points to, cannot be used; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What a request carries: an Authorization header or none; a client certificate (PEM) when one was issued."""

    authorization: str = ""
    certificate: str = ""
    key: str = ""


class Credentials(Protocol):
    """Where an identity comes from."""

    def current(self) -> Identity | None:
        """The identity to use now, or None when ``renew`` must be awaited first."""
        ...

    async def renew(self) -> Identity:
        """A fresh identity. Raises ConfigError when there is none to be had."""
        ...

    def reject(self) -> bool:
        """The server refused the identity: forget it. True when another one may be had."""
        ...


class Fixed:
    """An identity that never changes: none at all, a token, or basic authentication."""

    def __init__(self, *, token: str = "", username: str = "", password: str = "") -> None:
        authorization = ""
        if token:
            authorization = f"Bearer {token}"
        elif username:
            authorization = "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()
        self._identity = Identity(authorization)

    def current(self) -> Identity:
        """The identity."""
        return self._identity

    async def renew(self) -> Identity:
        """The identity."""
        return self._identity

    def reject(self) -> bool:
        """False: there is no other."""
        return False


class TokenFile:
    """A token in a file that somebody (the kubelet) replaces; read again once a minute and after a refusal."""

    REREAD_SECONDS = 60.0

    def __init__(self, path: Path, *, clock: Clock | None = None) -> None:
        self._path = path
        self._clock = clock or SystemClock()
        self._identity: Identity | None = None
        self._read_at = 0.0

    def current(self) -> Identity | None:
        """The identity as last read, when that was not long ago."""
        fresh = self._clock.monotonic() - self._read_at < self.REREAD_SECONDS
        return self._identity if fresh else None

    async def renew(self) -> Identity:
        """The identity in the file; the last one known when the file cannot be read for a moment."""
        self._read_at = self._clock.monotonic()
        try:
            token = self._path.read_text(encoding="utf-8").strip()  # a file in memory, some hundred bytes
        except (OSError, UnicodeDecodeError) as error:
            if self._identity is None:
                raise ConfigError(f"cannot read the token file {self._path}: {error}") from error
            return self._identity
        if not token and self._identity is None:
            raise ConfigError(f"the token file {self._path} is empty")
        if token:
            self._identity = Identity(f"Bearer {token}")
        return self._identity or Identity()

    def reject(self) -> bool:
        """True: the file may hold a newer token by now."""
        self._read_at = float("-inf")
        return True


@dataclass(frozen=True, slots=True)
class ExecCommand:
    """The ``exec`` section of a kubeconfig user."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] | None = None
    api_version: str = ""
    install_hint: str = ""
    cluster_info: Mapping[str, object] | None = None


class _ExecStatus(msgspec.Struct, rename="camel"):
    token: str | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None
    expiration_timestamp: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class _ExecCredential(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: _ExecStatus | None = None


class ExecPlugin:
    """An identity from a program (``client.authentication.k8s.io``), kept until it expires or is refused."""

    def __init__(self, command: ExecCommand, *, environ: Mapping[str, str], clock: Clock | None = None) -> None:
        self._command = command
        self._environ = environ
        self._clock = clock or SystemClock()
        self._identity: Identity | None = None
        self._expires: datetime | None = None
        self._running = asyncio.Lock()

    def current(self) -> Identity | None:
        """The identity while it is valid."""
        if self._expires is not None and self._clock.now() >= self._expires:
            self._identity = None
        return self._identity

    async def renew(self) -> Identity:
        """Run the program, once for all that wait for it."""
        async with self._running:
            known = self.current()
            if known is not None:
                return known
            status = self._parse(await self._run())
            self._expires = status.expiration_timestamp
            self._identity = Identity(
                f"Bearer {status.token}" if status.token else "",
                status.client_certificate_data or "",
                status.client_key_data or "",
            )
            return self._identity

    def reject(self) -> bool:
        """True: the program may issue another one."""
        self._identity = None
        return True

    async def _run(self) -> bytes:
        """Standard output of the program."""
        command = self._command
        try:
            process = await asyncio.create_subprocess_exec(
                command.command,
                *command.args,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**self._environ, **(command.env or {}), "KUBERNETES_EXEC_INFO": self._info()},
            )
        except OSError as error:
            hint = f"; {command.install_hint}" if command.install_hint else ""
            raise ConfigError(f"cannot run the credential plugin {command.command}: {error}{hint}") from error
        output, complaint = await _finish(process)
        if process.returncode != 0:
            said = complaint.decode(errors="replace").strip()[-500:]
            raise ConfigError(f"the credential plugin {command.command} ended with {process.returncode}: {said}")
        return output

    def _info(self) -> str:
        """What the program is told about the request."""
        spec: dict[str, object] = {"interactive": False}
        if self._command.cluster_info is not None:
            spec["cluster"] = self._command.cluster_info
        info = {"apiVersion": self._command.api_version, "kind": "ExecCredential", "spec": spec}
        return msgspec.json.encode(info).decode()

    def _parse(self, output: bytes) -> _ExecStatus:
        """The status in the program's answer."""
        try:
            answer = msgspec.json.decode(output, type=_ExecCredential)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"the credential plugin {self._command.command} wrote no ExecCredential: {error}"
            ) from error
        if answer.api_version != self._command.api_version:
            raise ConfigError(
                f"the credential plugin {self._command.command} answered in {answer.api_version or 'no version'}, "
                f"the kubeconfig asks for {self._command.api_version}"
            )
        if answer.status is None or not (answer.status.token or answer.status.client_certificate_data):
            raise ConfigError(f"the credential plugin {self._command.command} gave neither token nor certificate")
        return answer.status


async def _finish(process: asyncio.subprocess.Process) -> tuple[bytes, bytes]:
    """Both outputs of a process, which does not outlive a cancellation."""
    try:
        return await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise


def decode_data(text: str, what: str) -> bytes:
    """Bytes of a base64 member of a kubeconfig. Raises ConfigError naming ``what``."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ConfigError(f"{what} is not base64") from error
