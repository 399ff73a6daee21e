"""Stands for Volcano: a scheduler of that name places pods one by one, and its kinds are there to be written."""

from __future__ import annotations

from typing import Any

from cluster.programs import SCHEDULER, VOLCANO, Site


def render_scheduler_config(site: Site) -> dict[str, Any]:
    """Configuration of the stock scheduler under two names; with it, the flags of its client have no effect."""
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(site.kubeconfig_of(SCHEDULER)), "qps": 500, "burst": 1000},
        "leaderElection": {"leaderElect": False},
        "profiles": [{"schedulerName": name} for name in ("default-scheduler", VOLCANO)],
    }
