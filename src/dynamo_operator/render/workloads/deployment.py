"""Runs a component on one node per replica (specification: workloads.md 5.3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from dynamo_operator.domain import labels
from dynamo_operator.domain.component import Component, Surroundings
from dynamo_operator.domain.manifest import Child, Manifest
from dynamo_operator.domain.outcome import Unrenderable
from dynamo_operator.domain.site import Site
from dynamo_operator.render.debugger import steals_traffic
from dynamo_operator.render.metadata import object_annotations, object_labels, render_metadata
from dynamo_operator.render.pod import Variant, render_pod_template

_DEFAULT_SHARE: Final = "25%"
# No number of pods has more digits, and Python refuses to read some thousands of them.
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,100}")
_INT32_LIMIT: Final = 2**31


@dataclass(frozen=True, slots=True)
class Deployment:
    """A Deployment, and a second one with a debugger when debugging steals traffic."""

    kind: str = "Deployment"

    def render(self, component: Component, site: Site, surroundings: Surroundings, /) -> list[Child]:
        """The component's Deployments."""
        try:
            children = [_render_deployment(component, site, surroundings)]
            if steals_traffic(component):
                children.append(_render_debug_deployment(component, site, surroundings))
        except Unrenderable as refused:
            raise refused.within(
                "failed to create or update the deployment",
                "create or update deployment",
                "failed to generate base pod spec",
            ) from refused
        return children


def _render_deployment(component: Component, site: Site, surroundings: Surroundings) -> Child:
    template = render_pod_template(component, site, surroundings, variant=Variant(component.name))
    return _deployment(component, component.name, component.replicas, template)


def _render_debug_deployment(component: Component, site: Site, surroundings: Surroundings) -> Child:
    name = f"{component.name}-d"
    template = render_pod_template(component, site, surroundings, variant=Variant(name, debug=True))
    return _deployment(component, name, 1, template)


def _deployment(component: Component, name: str, replicas: int | None, template: Manifest) -> Child:
    spec: Manifest = {
        "selector": {"matchLabels": {labels.SELECTOR: name}},
        "strategy": _strategy(component),
        "template": template,
    }
    if replicas is not None:
        spec["replicas"] = replicas
    metadata = render_metadata(
        component, name, own_labels=object_labels(component), own_annotations=object_annotations(component)
    )
    return Child({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec})


def _strategy(component: Component) -> Manifest:
    if component.annotations.get(labels.DEPLOYMENT_STRATEGY) == "Recreate":
        return {"type": "Recreate"}
    annotations = object_annotations(component)
    rolling = {
        "maxSurge": _share(annotations, labels.MAX_SURGE),
        "maxUnavailable": _share(annotations, labels.MAX_UNAVAILABLE),
    }
    return {"type": "RollingUpdate", "rollingUpdate": rolling}


def _share(annotations: Mapping[str, str], key: str) -> int | str:
    """Number of pods, or a percentage."""
    text = annotations.get(key) or _DEFAULT_SHARE
    number = int(text) if _INTEGER.fullmatch(text) else _INT32_LIMIT
    return number if -_INT32_LIMIT <= number < _INT32_LIMIT else text
