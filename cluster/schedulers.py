"""Stands for the schedulers of Volcano and KAI: the stock one places pods one by one under their names too."""

from __future__ import annotations

from typing import Any

from cluster.programs import SCHEDULER, SCHEDULER_NAMES, Site


def render_scheduler_config(site: Site) -> dict[str, Any]:
    """Configuration of the stock scheduler under several names; with it, the flags of its client have no effect."""
    names = [name for addon, name in SCHEDULER_NAMES.items() if addon in site.addons]
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(site.kubeconfig_of(SCHEDULER)), "qps": 500, "burst": 1000},
        "leaderElection": {"leaderElect": False},
        "profiles": [{"schedulerName": name} for name in ("default-scheduler", *names)],
    }
