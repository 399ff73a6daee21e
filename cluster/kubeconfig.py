"""Writes kubeconfig files that carry their certificates, so that they work wherever they are copied to."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import yaml

from cluster.certificates import Pair


def render_kubeconfig(*, server: str, authority: bytes, user: str, pair: Pair | None) -> dict[str, Any]:
    """A kubeconfig with one context. ``authority`` is PEM; without a pair the user has no credentials."""
    credentials = {} if pair is None else _credentials(pair)
    cluster = {"server": server}
    if authority:
        cluster["certificate-authority-data"] = _encoded(authority)
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "local",
        "clusters": [{"name": "local", "cluster": cluster}],
        "users": [{"name": user, "user": credentials}],
        "contexts": [{"name": "local", "context": {"cluster": "local", "user": user}}],
    }


def write_kubeconfig(path: Path, config: dict[str, Any]) -> None:
    """Write a kubeconfig that only its owner reads."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_text(yaml.safe_dump(config, sort_keys=False))


def _credentials(pair: Pair) -> dict[str, str]:
    return {"client-certificate-data": _encoded(pair.certificate), "client-key-data": _encoded(pair.key)}


def _encoded(pem: bytes) -> str:
    return base64.b64encode(pem).decode()
