"""Headless Service that finds the pods of a base model (specification: workloads.md 5.8)."""

from __future__ import annotations

from dynamo_operator.domain import labels, names
from dynamo_operator.domain.component import Component
from dynamo_operator.domain.manifest import Child
from dynamo_operator.render.metadata import render_metadata


def render_model_service(component: Component) -> list[Child]:
    """The Service of the component's model, the same from every component that serves it."""
    if not component.model:
        return []
    selector = {labels.BASE_MODEL_HASH: names.model_hash(component.model)}
    port = {"name": "system", "port": labels.SYSTEM_PORT, "targetPort": labels.SYSTEM_PORT, "protocol": "TCP"}
    metadata = render_metadata(
        component,
        names.model_service_name(component.model),
        own_labels={**selector, labels.MANAGED_BY: labels.OPERATOR},
        own_annotations={labels.BASE_MODEL: component.model},
    )
    spec = {"clusterIP": "None", "selector": dict(selector), "ports": [port]}
    return [
        Child({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}, owned=False, shared=True)
    ]
