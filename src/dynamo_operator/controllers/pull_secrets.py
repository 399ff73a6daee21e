"""Which registry hosts an image pull secret has credentials for; no credential is kept (workloads.md 11)."""

from __future__ import annotations

import base64
import binascii
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from dynamo_operator.domain.registry import registry_host
from dynamo_operator.runtime.views import ObjectMeta

PULL_SECRET_TYPE = "kubernetes.io/dockerconfigjson"  # noqa: S105 - a type name that the API server selects on


class PullSecret(msgspec.Struct, frozen=True):
    """An image pull secret reduced to the registry hosts it names, sorted."""

    metadata: ObjectMeta = ObjectMeta()
    hosts: tuple[str, ...] = ()


class _StoredSecret(msgspec.Struct):
    metadata: ObjectMeta = ObjectMeta()
    data: dict[str, str] = {}


_decoder = msgspec.json.Decoder(_StoredSecret)


def parse_pull_secret(body: bytes) -> PullSecret:
    """Reduce a stored Secret to its hosts; a malformed payload has none."""
    stored = _decoder.decode(body)
    return PullSecret(stored.metadata, _hosts(stored.data.get(".dockerconfigjson", "")))


def _hosts(encoded: str) -> tuple[str, ...]:
    try:
        payload: Any = msgspec.json.decode(base64.b64decode(encoded))
        auths: Any = payload["auths"]
        return tuple(sorted({host for name in auths if (host := registry_host(str(name)))}))
    except (binascii.Error, ValueError, KeyError, TypeError):
        return ()


def names_by_host(secrets: Iterable[PullSecret]) -> Mapping[str, tuple[str, ...]]:
    """Registry host -> sorted names of the secrets of one namespace that have credentials for it."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for secret in secrets:
        for host in secret.hosts:
            found[host].append(secret.metadata.name)
    return {host: tuple(sorted(names)) for host, names in found.items()}
