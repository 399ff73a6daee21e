"""The status of a scaling adapter, which autoscalers compute from (specification: requests-scaling-models.md 2.3)."""

from __future__ import annotations

from typing import Any

from dynamo_operator.domain.labels import COMPONENT, GRAPH_NAME
from dynamo_operator.domain.manifest import Tree
from dynamo_operator.domain.trees import tree_at


def status_of_adapter(spec: Tree, *, graph_status: Tree, previous: Tree, scaled_at: str | None) -> Tree:
    """The status of an adapter whose graph and service exist.

    ``replicas`` is how many copies the graph reports, and the wanted number until it reports any. ``scaled_at`` is an
    RFC 3339 time, None when nothing was scaled in this pass.
    """
    reference = tree_at(spec, "dgdRef")
    service = str(reference.get("serviceName", ""))
    running = tree_at(graph_status, "services", service).get("replicas")
    last_scaled = scaled_at or previous.get("lastScaleTime")
    status: dict[str, Any] = {
        "replicas": running if isinstance(running, int) else spec.get("replicas", 0),
        "selector": f"{GRAPH_NAME}={reference.get('name', '')},{COMPONENT}={service}",
    }
    return {**status, "lastScaleTime": last_scaled} if last_scaled else status
