"""Which registry an image or a pull secret names."""

from __future__ import annotations

import pytest

from dynamo_operator.domain.registry import registry_host


@pytest.mark.parametrize(
    ("reference", "host"),
    [
        pytest.param("docker.io", "docker.io", id="a host: itself"),
        pytest.param(
            "registry.example.com:5005/team/img", "registry.example.com:5005", id="port and path: the port stays"
        ),
        pytest.param("https://registry.example.com/v1/", "registry.example.com", id="a URL: its host"),
        pytest.param("nvcr.io/nvidia/x:1.0", "nvcr.io", id="an image with a registry: the registry"),
        pytest.param("org/image:tag", "org", id="an image of Docker Hub with an organisation: matches nothing"),
        pytest.param("image:tag", "", id="a tag is no port: no host"),
        pytest.param("", "", id="empty: no host"),
    ],
)
def test_host(reference: str, host: str) -> None:
    assert registry_host(reference) == host
