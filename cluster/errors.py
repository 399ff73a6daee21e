"""The one error that the cluster tool shows to people."""

from __future__ import annotations


class ClusterError(Exception):
    """Something the caller can act on; the text says what is wrong and what to do."""
