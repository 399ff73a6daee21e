"""Puts definitions, nodes and first objects into a running cluster, and waits until they serve."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from typing import Any

import yaml

from cluster.addons import load_addon_manifests
from cluster.client import AdminClient
from cluster.errors import ClusterError
from cluster.layout import CHECKOUT, CRD_FOLDER
from cluster.nodes import render_objects
from cluster.ports import is_free
from cluster.programs import Site
from cluster.readiness import wait_until
from cluster.toolchain import Say

_WAIT_SECONDS = 60.0

Manifests = list[dict[str, Any]]


def load_own_crds() -> Manifests:
    """Definitions of our own kinds. Raises ClusterError where none were generated."""
    files = sorted(CRD_FOLDER.glob("*.yaml"))
    if not files:
        where = CRD_FOLDER.relative_to(CHECKOUT)
        raise ClusterError(f"{where} has no definitions; run `make generate`, or start with --without-crds")
    return [each for file in files for each in yaml.load_all(file.read_text(), yaml.CSafeLoader) if each]


def load_definitions(addons: Sequence[str], own: Manifests, say: Say) -> Manifests:
    """All definitions that a cluster with the given add-ons carries."""
    return [*load_addon_manifests(addons, say), *own]


def content_key(manifests: Manifests) -> str:
    """Hash of manifests, to see whether they are applied already."""
    return hashlib.sha256(json.dumps(manifests, sort_keys=True).encode()).hexdigest()[:24]


def apply_definitions(site: Site, definitions: Manifests) -> None:
    """Apply definitions and wait until the API server serves every version of them."""
    paths = [path for each in definitions for path in served_paths(each)]
    with AdminClient(site) as client:
        for each in definitions:
            client.apply(each)
        for path in paths:
            _wait(client, path, f"{path} is not served")


def apply_webhooks(site: Site, webhooks: Manifests, *, port: int) -> None:
    """Apply webhook configurations once their server listens."""
    deadline = time.monotonic() + _WAIT_SECONDS
    wait_until(lambda: not is_free(port), deadline)
    if time.monotonic() >= deadline:
        raise ClusterError(f"nothing listens on port {port} for webhooks after {_WAIT_SECONDS:.0f} s; see the logs")
    with AdminClient(site) as client:
        for each in webhooks:
            client.apply(each)


def apply_objects(site: Site) -> None:
    """Apply nodes, namespace and rights, and wait until all nodes are ready."""
    with AdminClient(site) as client:
        for each in render_objects():
            client.apply(each)
        deadline = time.monotonic() + _WAIT_SECONDS
        wait_until(lambda: _nodes_ready(client), deadline)
        if time.monotonic() >= deadline:
            raise ClusterError(f"not all nodes are ready after {_WAIT_SECONDS:.0f} s; see the log of kwok")


def served_paths(definition: dict[str, Any]) -> list[str]:
    """Paths under which the API server lists a kind once it serves it."""
    spec = definition["spec"]
    versions = [version["name"] for version in spec["versions"] if version["served"]]
    return [f"/apis/{spec['group']}/{version}/{spec['names']['plural']}?limit=1" for version in versions]


def _wait(client: AdminClient, path: str, complaint: str) -> None:
    deadline = time.monotonic() + _WAIT_SECONDS
    wait_until(lambda: client.read(path) is not None, deadline)
    if time.monotonic() >= deadline:
        raise ClusterError(f"{complaint} after {_WAIT_SECONDS:.0f} s; see the log of the API server")


def _nodes_ready(client: AdminClient) -> bool:
    nodes = (client.read("/api/v1/nodes") or {"items": []})["items"]
    # Only then does the scheduler use a node: its condition is True and the taint of its first moments is gone.
    return bool(nodes) and all(_condition(node) == "True" and not node["spec"].get("taints") for node in nodes)


def _condition(node: dict[str, Any]) -> str:
    conditions = node.get("status", {}).get("conditions", ())
    return next((each["status"] for each in conditions if each["type"] == "Ready"), "")
