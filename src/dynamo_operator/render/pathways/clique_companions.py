"""What makes the pods of cliques reachable: Services, Ingress, VirtualService (specification: grove.md 7)."""

from __future__ import annotations

from dynamo_operator.domain import labels
from dynamo_operator.domain.component import Component
from dynamo_operator.domain.discovery import KUBERNETES
from dynamo_operator.domain.graph import Graph
from dynamo_operator.domain.manifest import Child
from dynamo_operator.domain.site import Site
from dynamo_operator.render.components.registry import component_type_named
from dynamo_operator.render.discovery_backend import discovers_by_kubernetes
from dynamo_operator.render.ingress import render_ingress
from dynamo_operator.render.metadata import render_metadata
from dynamo_operator.render.model_service import render_model_service
from dynamo_operator.render.pathways.clique_component import FRONTEND, clique_component, clique_labels
from dynamo_operator.render.virtual_service import render_virtual_service


def render_companions(graph: Graph, site: Site) -> list[Child]:
    """The Services of base models, then what each service has."""
    components = [clique_component(graph, service, site) for service in graph.services]
    by_model = {component.model: component for component in components}
    children = [child for model in sorted(by_model) for child in render_model_service(by_model[model])]
    for service, component in zip(graph.services, components, strict=True):
        if component.component_type == FRONTEND or discovers_by_kubernetes(component, site):
            children.append(_render_service(component, site, user_labels=dict(service.component.labels)))
        children += [*render_ingress(component), *render_virtual_service(component, site)]
    return children


def _render_service(component: Component, site: Site, *, user_labels: dict[str, str]) -> Child:
    found = {labels.DISCOVERY_BACKEND: KUBERNETES, labels.DISCOVERY_ENABLED: "true"}
    discovery = found if discovers_by_kubernetes(component, site) else {}
    metadata = render_metadata(component, component.name, own_labels={**user_labels, **discovery}, own_annotations={})
    port = component_type_named(component.component_type).service_port()
    spec = {"selector": _selector(component), "ports": [dict(port)]}
    return Child({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec})


def _selector(component: Component) -> dict[str, str]:
    """Labels that tell the pods of this service from those of the graph's others."""
    selected = {
        labels.COMPONENT: clique_labels(component)[labels.COMPONENT],
        labels.COMPONENT_TYPE: component.component_type,
        labels.DYNAMO_NAMESPACE: component.dynamo_namespace,
    }
    return {key: value for key, value in selected.items() if value}
