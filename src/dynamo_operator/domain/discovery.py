"""Where Dynamo components find each other: Kubernetes or etcd (specification: workloads.md 2)."""

from __future__ import annotations

from typing import Final

from dynamo_operator.domain.labels import DISCOVERY_BACKEND
from dynamo_operator.domain.manifest import Tree
from dynamo_operator.domain.site import Site

KUBERNETES: Final = "kubernetes"
ETCD: Final = "etcd"


def discovery_backend(annotations: Tree, site: Site) -> str:
    """What the annotation says, as it is written, else the installation's.

    Values that are neither of the two known ones (also none at all) count as the Go operator counts them, because they
    shape pods: not as Kubernetes where accounts and labels are made, not as etcd where pods are told of their backend.
    """
    return annotations.get(DISCOVERY_BACKEND, site.discovery_backend)
