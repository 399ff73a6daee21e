"""Laws of rendering are tried on busy machines too: slow is not wrong."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("rendering", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("rendering")
