"""The API server behind the fault proxy, reached with the credentials of a kubeconfig."""

from __future__ import annotations

import base64
import ssl
from pathlib import Path
from typing import Any, Self

import aiohttp
import yaml
from multidict import CIMultiDict
from yarl import URL

# Headers of one connection, not of the request; aiohttp writes its own.
_HOP_BY_HOP = frozenset(
    {"connection", "content-length", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
)
_PATHS = ("client-certificate", "client-key", "tokenFile")
_NO_LIMIT = aiohttp.ClientTimeout(total=None)


def end_to_end(headers: Any) -> CIMultiDict[str]:
    """The headers that a proxy passes on."""
    return CIMultiDict((key, value) for key, value in headers.items() if key.lower() not in _HOP_BY_HOP)


class Upstream:
    """Forwards requests as the kubeconfig's user, or as the request's own where it carries a token."""

    def __init__(self, kubeconfig: Path, folder: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        context = _named(config["contexts"], config["current-context"])["context"]
        self._cluster = _named(config["clusters"], context["cluster"])["cluster"]
        user = _named(config["users"], context["user"])["user"]
        # Paths in a kubeconfig are relative to it; `user` is written into another one.
        self.user = {k: str(kubeconfig.parent / v) if k in _PATHS else v for k, v in user.items()}
        self._kubeconfig, self._folder = kubeconfig, folder

    async def __aenter__(self) -> Self:
        self._as_user = self._session(certificate=True)
        self._as_requester = self._session(certificate=False)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._as_user.close()
        await self._as_requester.close()

    async def send(self, method: str, path: str, headers: Any, body: bytes) -> aiohttp.ClientResponse:
        """The API server's answer, its body not yet read."""
        passed = end_to_end(headers)
        session = self._as_requester if "Authorization" in passed else self._as_user
        if "token" in self.user:
            passed.setdefault("Authorization", f"Bearer {self.user['token']}")
        url = URL(self._cluster["server"] + path, encoded=True)
        return await session.request(method, url, headers=passed, data=body or None, allow_redirects=False)

    def _session(self, *, certificate: bool) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=self._tls(certificate=certificate), limit=0),
            auto_decompress=False,
            skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
            timeout=_NO_LIMIT,
        )

    def _tls(self, *, certificate: bool) -> ssl.SSLContext:
        authority = self._file(self._cluster, "certificate-authority")
        context = ssl.create_default_context(cafile=authority)
        pair = self._file(self.user, "client-certificate"), self._file(self.user, "client-key")
        if certificate and pair[0]:
            context.load_cert_chain(*pair)
        return context

    def _file(self, entry: dict[str, Any], key: str) -> str | None:
        """The path of a PEM that the kubeconfig names or carries."""
        if data := entry.get(f"{key}-data"):
            path = self._folder / f"{key}.pem"
            path.write_bytes(base64.b64decode(data))
            return str(path)
        return str(self._kubeconfig.parent / entry[key]) if key in entry else None


def _named(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(entry for entry in entries if entry["name"] == name)
