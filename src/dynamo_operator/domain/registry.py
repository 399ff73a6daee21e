"""Registry hosts of image references and pull secrets (specification: workloads.md 11)."""

from __future__ import annotations

from urllib.parse import urlsplit


def registry_host(reference: str) -> str:
    """Host (with port) of an image reference or of a key of ``auths``; empty when there is none.

    Docker Hub's several names are not made equal: that would put a secret into pods that run without one today.

    >>> registry_host("https://registry.example.com/v1/"), registry_host("nvcr.io/nvidia/x:1.0"), registry_host("u:1.0")
    ('registry.example.com', 'nvcr.io', '')
    """
    try:
        parts = urlsplit(reference if "://" in reference else f"//{reference}")
        _ = parts.port  # raises on a port that is no number
    except ValueError:
        return ""
    return parts.netloc
