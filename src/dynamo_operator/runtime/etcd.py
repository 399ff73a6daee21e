"""Deletes key ranges from etcd through its JSON gateway; nothing else of etcd is needed."""

from __future__ import annotations

import base64

import aiohttp
import msgspec


class EtcdError(Exception):
    """Etcd could not be asked, or refused."""


class _Deleted(msgspec.Struct):
    deleted: int = 0


class Etcd:
    """One etcd, by the address that its clients use (host:port, or a URL); plaintext and without credentials."""

    def __init__(self, address: str, *, timeout: float = 5.0) -> None:
        self._base = address if "://" in address else f"http://{address}"
        self._timeout = aiohttp.ClientTimeout(total=timeout)

    async def delete_prefix(self, prefix: str) -> int:
        """Delete every key that starts with ``prefix`` and return their number; EtcdError when that fails."""
        request = {"key": _base64(prefix.encode()), "range_end": _base64(_successor(prefix.encode()))}
        url = f"{self._base.rstrip('/')}/v3/kv/deleterange"
        try:
            async with (
                aiohttp.ClientSession(timeout=self._timeout) as session,
                session.post(url, data=msgspec.json.encode(request)) as response,
            ):
                body = await response.read()
                if response.status != 200:
                    raise EtcdError(
                        f"etcd at {self._base} answered {response.status}: {body[:200].decode(errors='replace')}"
                    )
                return msgspec.json.decode(body, type=_Deleted, strict=False).deleted
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise EtcdError(f"failed to ask etcd at {self._base}: {error or type(error).__name__}") from error


def _base64(key: bytes) -> str:
    return base64.b64encode(key).decode()


def _successor(prefix: bytes) -> bytes:
    """The first key after every key with this prefix."""
    kept = prefix.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else b"\0"
