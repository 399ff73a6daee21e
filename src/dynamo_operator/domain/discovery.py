"""Where Dynamo components find each other: Kubernetes or etcd (specification: workloads.md 2)."""

from __future__ import annotations

from typing import Final

from dynamo_operator.domain.labels import DISCOVERY_BACKEND
from dynamo_operator.domain.manifest import Tree
from dynamo_operator.domain.site import Site

KUBERNETES: Final = "kubernetes"
ETCD: Final = "etcd"


def discovery_backend(annotations: Tree, site: Site) -> str:
    """``kubernetes`` or ``etcd``: what the annotation says, else the installation's; other values count as absent."""
    asked = annotations.get(DISCOVERY_BACKEND, "")
    return asked if asked in {KUBERNETES, ETCD} else site.discovery_backend
