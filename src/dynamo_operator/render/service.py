"""Services of a component (specification: workloads.md 5.4)."""

from __future__ import annotations

from collections.abc import Mapping

from dynamo_operator.domain import labels
from dynamo_operator.domain.component import Component
from dynamo_operator.domain.discovery import KUBERNETES
from dynamo_operator.domain.manifest import Child
from dynamo_operator.domain.outcome import Unrenderable
from dynamo_operator.domain.site import Site
from dynamo_operator.render.components.registry import component_type_named
from dynamo_operator.render.debugger import steals_traffic
from dynamo_operator.render.discovery_backend import discovers_by_kubernetes
from dynamo_operator.render.metadata import (
    DEBUG_TARGET,
    object_annotations,
    object_labels,
    pod_labels,
    render_metadata,
)

# The one type that is not found through its Service: it is the one that looks.
_SEEKER = "frontend"


def render_services(component: Component, site: Site) -> list[Child]:
    """The generic Service; with a debug workload also one for production and one for debug pods.

    Raises Unrenderable without a Dynamo namespace to select by.
    """
    if not component.declared_namespace:
        raise Unrenderable(
            "failed to create or update the service: "
            f"expected DynamoComponentDeployment {component.name} to have a dynamoNamespace"
        )
    selector = _selector(component)
    services = [_service(component, site, component.name, selector)]
    if steals_traffic(component):
        debug = {**selector, labels.DEPLOYMENT_TARGET: DEBUG_TARGET}
        services.append(_service(component, site, f"{component.name}-p", selector))
        services.append(_service(component, site, f"{component.name}-d", debug))
    return services


def _service(component: Component, site: Site, name: str, selector: Mapping[str, str]) -> Child:
    metadata = render_metadata(
        component,
        name,
        own_labels={**object_labels(component), **_discovery_labels(component, site)},
        own_annotations=object_annotations(component),
    )
    port = component_type_named(component.component_type).service_port()
    spec = {"selector": dict(selector), "ports": [dict(port)]}
    return Child({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec})


def _selector(component: Component) -> dict[str, str]:
    """Labels that the pods of this component carry, and those of no other service of the graph.

    Pods of a component deployment of its own need not carry the component's key, and untyped ones carry no type.
    """
    told_apart = {
        labels.COMPONENT: pod_labels(component, component.name).get(labels.COMPONENT),
        labels.COMPONENT_TYPE: component.component_type,
        labels.DYNAMO_NAMESPACE: component.declared_namespace,
        # Only the leader of a replica serves.
        labels.ROLE: "leader" if component.nodes > 1 else "",
    }
    return {key: value for key, value in told_apart.items() if value}


def _discovery_labels(component: Component, site: Site) -> dict[str, str]:
    if not discovers_by_kubernetes(component, site):
        return {}
    backend = {labels.DISCOVERY_BACKEND: KUBERNETES}
    return backend if component.component_type == _SEEKER else {**backend, labels.DISCOVERY_ENABLED: "true"}
