"""Fixtures that every test may ask for, and how laws are tried."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from tests.support.cluster import control_plane, namespace
from tests.support.fault_proxy import operator_proxy
from tests.support.grove import grove, grove_bed, grove_operator, grove_plane, grove_url
from tests.support.sets import sets_bed, sets_operator, sets_plane, sets_url
from tests.support.stage import empty_stage, gateway_url, stage
from tests.support.whole_cluster import _stopped_at_the_end, whole_bed, whole_cluster

__all__ = [
    "_stopped_at_the_end",
    "control_plane",
    "empty_stage",
    "gateway_url",
    "grove",
    "grove_bed",
    "grove_operator",
    "grove_plane",
    "grove_url",
    "namespace",
    "operator_proxy",
    "sets_bed",
    "sets_operator",
    "sets_plane",
    "sets_url",
    "stage",
    "whole_bed",
    "whole_cluster",
]

# Laws are tried on busy machines too: slow is not wrong.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")
