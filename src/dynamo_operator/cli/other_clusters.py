"""What `render` says of a graph that another cluster than the given one could run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final

from dynamo_operator.domain.site import Site
from dynamo_operator.offline.documents import Document
from dynamo_operator.offline.findings import refusals_of

_LISTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "lws,volcano": {"leader_worker_sets": True, "volcano": True},
    "grove": {"grove": True},
}
"""What --cluster takes -> the offers that this adds."""


def other_clusters(document: Document, site: Site, refused: Collection[str], *, namespace: str) -> str:
    """Which --cluster to ask, because something at the refused paths is fine there; empty where none helps."""
    ways: list[str] = []
    for words, more in _LISTS.items():
        there = replace(site, offers=replace(site.offers, **more))
        remaining = {one.path for one in refusals_of(document, there, namespace=namespace)}
        if not remaining.issuperset(refused):
            ways.append(f"--cluster {words}")
    return f"{' or '.join(ways)} shows what it becomes there" if ways else ""
