"""Fixtures that every test may ask for."""

from __future__ import annotations

from tests.support.cluster import control_plane, namespace
from tests.support.fault_proxy import operator_proxy

__all__ = ["control_plane", "namespace", "operator_proxy"]
