"""Plain manifests: JSON trees in which absent means absent, never null."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Manifest = dict[str, Any]
"""A Kubernetes object as it is applied: apiVersion, kind, metadata and the rest."""

Tree = Mapping[str, Any]
"""A JSON object that is only read."""
