"""Debug modes of a component, switched on by annotations (specification: workloads.md 5.3 and 6.11)."""

from __future__ import annotations

from dynamo_operator.domain import labels
from dynamo_operator.domain.component import Component
from dynamo_operator.domain.manifest import Manifest
from dynamo_operator.domain.site import Site

# Named by people in `kubectl exec --container`.
CONTAINER_NAME = "debugger"


def has_debugger(component: Component) -> bool:
    """True when each pod gets a debugger container."""
    return component.annotations.get(labels.DEBUG_MODE) == "true"


def steals_traffic(component: Component) -> bool:
    """True when a debug workload and its Services stand beside the production ones."""
    return component.annotations.get(labels.STEALING_TRAFFIC) == "true"


def render_debugger(site: Site) -> Manifest:
    """A container that waits for people, and may look into the processes of the others."""
    return {
        "name": CONTAINER_NAME,
        "image": site.debugger_image,
        "command": ["sleep", "infinity"],
        "securityContext": {"capabilities": {"add": ["SYS_PTRACE"]}},
        "resources": {
            "requests": {"cpu": "100m", "memory": "100Mi"},
            "limits": {"cpu": "1000m", "memory": "1000Mi"},
        },
        "stdin": True,
        "tty": True,
    }
