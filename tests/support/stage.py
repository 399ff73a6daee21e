"""Stages of stories: a namespace with an operator that looks after nothing else, or one that is still empty."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.bed import Bed, fresh_bed, gateway
from tests.support.cluster import ControlPlane
from tests.support.operator import operating, restricted_to


@pytest.fixture(scope="session")
def gateway_url(control_plane: ControlPlane) -> Iterator[str]:
    """Where stories reach the control plane as administrator."""
    with gateway(control_plane) as url:
        yield url


@pytest.fixture
def empty_stage(control_plane: ControlPlane, gateway_url: str) -> Iterator[Bed]:
    """A namespace of its own."""
    with fresh_bed(control_plane, gateway_url) as bed:
        yield bed


@pytest.fixture(scope="module")
def stage(control_plane: ControlPlane, gateway_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    """A namespace with an operator, for all stories of a file; each has graphs of its own."""
    with fresh_bed(control_plane, gateway_url) as bed:
        flags = restricted_to(bed.namespace)
        with operating(control_plane.operator_kubeconfig, tmp_path_factory.mktemp("operator"), *flags) as operator:
            bed.explain = operator.last_words
            yield bed
