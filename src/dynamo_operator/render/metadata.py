"""Labels and annotations of a component's objects and pods (specification: workloads.md 5.3 and 6.12)."""

from __future__ import annotations

from dynamo_operator.domain import labels, names
from dynamo_operator.domain.component import Component
from dynamo_operator.domain.manifest import Manifest

# Value that people and our Services select debug pods by.
DEBUG_TARGET = "debug"


def render_metadata(
    component: Component, name: str, *, own_labels: dict[str, str], own_annotations: dict[str, str]
) -> Manifest:
    """Metadata of an object in the component's namespace; empty maps are left out."""
    metadata: Manifest = {"name": name, "namespace": component.namespace}
    if own_labels:
        metadata["labels"] = own_labels
    if own_annotations:
        metadata["annotations"] = own_annotations
    return metadata


def object_labels(component: Component) -> dict[str, str]:
    """Labels of the component's Deployments and Services."""
    model = {labels.BASE_MODEL_HASH: names.model_hash(component.model)} if component.model else {}
    return {**component.labels, **component.object_labels, **model}


def object_annotations(component: Component) -> dict[str, str]:
    """Annotations of the component's Deployments and Services; pods do not get them.

    A restart is said to pods only: it changes nothing about the other objects.
    """
    model = {labels.BASE_MODEL: component.model} if component.model else {}
    lasting = {key: value for key, value in component.annotations.items() if key != labels.RESTART_AT}
    return {**lasting, **component.pod_annotations, **model}


def pod_labels(component: Component, selector: str, *, debug: bool = False) -> dict[str, str]:
    """Labels of the pods of the workload that selects by ``selector``; the user's extra labels win."""
    known = object_labels(component)
    if debug:
        known[labels.DEPLOYMENT_TARGET] = DEBUG_TARGET
    if component.annotations.get(labels.ENABLE_METRICS) != "false":
        known[labels.METRICS_ENABLED] = "true"
    known[labels.GRAPH_NAME] = component.labels.get(labels.GRAPH_NAME, "")
    if component.component_type:
        known[labels.COMPONENT_TYPE] = component.component_type
    if component.sub_component_type:
        known[labels.SUB_COMPONENT_TYPE] = component.sub_component_type
    known[labels.SELECTOR] = selector
    return {**known, **component.pod_labels}


def pod_annotations(component: Component) -> dict[str, str]:
    """Annotations of pods: the user's for pods, and the restart that is under way."""
    annotations = dict(component.pod_annotations)
    if labels.RESTART_AT in component.annotations:
        annotations[labels.RESTART_AT] = component.annotations[labels.RESTART_AT]
    return annotations
