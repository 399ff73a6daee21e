"""Names of kinds and objects in a Kubernetes API."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote


class Key(NamedTuple):
    """Where an object of a known kind is; the namespace is empty for cluster-scoped kinds."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind in one version, with the plural that its paths use; the group is empty for the core API."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True

    def __str__(self) -> str:
        return self.kind

    @property
    def api_version(self) -> str:
        """``group/version``, or the version alone in the core API."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Path of a collection, an object or a subresource, percent-encoded, without query.

        An empty namespace means all namespaces. Raises ValueError for names that no path can carry.
        """
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        scope = f"/namespaces/{_segment(namespace)}" if namespace and self.namespaced else ""
        path = f"{root}{scope}/{self.plural}"
        if name:
            path = f"{path}/{_segment(name)}"
        return f"{path}/{subresource}" if subresource else path


@lru_cache(maxsize=4096)
def _segment(text: str) -> str:
    """One segment of a path; RBAC names may hold colons."""
    if text in (".", ".."):
        raise ValueError(f"{text!r} is no name of a Kubernetes object")
    return quote(text, safe=":")
