"""A service of a graph as the component that its cliques run (specification: grove.md 4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from dynamo_operator.domain import labels
from dynamo_operator.domain.component import Component
from dynamo_operator.domain.graph import Graph, RestartState, Service
from dynamo_operator.domain.site import Site
from dynamo_operator.render.discovery_backend import asked_backend
from dynamo_operator.render.exposure import default_exposure
from dynamo_operator.render.metadata import pod_labels

FRONTEND: Final = "frontend"

# Only the graph's own word counts here; a service that says them is not heard.
_OF_THE_GRAPH: Final = (labels.ENABLE_METRICS, labels.DISCOVERY_BACKEND)


def clique_component(graph: Graph, service: Service, site: Site) -> Component:
    """The component of a service with what the graph says for all of them; only frontends are exposed."""
    given = service.component
    own = {key: value for key, value in given.annotations.items() if key not in _OF_THE_GRAPH}
    inherited = {key: graph.annotations[key] for key in _OF_THE_GRAPH if key in graph.annotations}
    exposure = (given.exposure or default_exposure(graph, site)) if given.component_type == FRONTEND else None
    return replace(
        given,
        annotations={**own, **inherited},
        labels={
            labels.COMPONENT: service.key,
            labels.DYNAMO_NAMESPACE: service.dynamo_namespace,
            labels.GRAPH_NAME: graph.name,
        },
        pod_labels={**given.labels, **given.pod_labels},
        envs=(*graph.envs, *given.envs),
        exposure=exposure,
    )


def clique_labels(component: Component) -> dict[str, str]:
    """Labels of a clique, which Grove gives to its pods; the user's win."""
    return pod_labels(component, component.name)


def clique_annotations(component: Component, service: Service, site: Site, restart: RestartState) -> dict[str, str]:
    """Annotations of a clique, which Grove gives to its pods."""
    backend = asked_backend(component, site)
    discovery = {labels.DISCOVERY_BACKEND: backend} if backend else {}
    restarted = _restarted_at(service.key, restart)
    return {**service.component.annotations, **discovery, **component.pod_annotations, **restarted}


def _restarted_at(service: str, restart: RestartState) -> Mapping[str, str]:
    restart_id = restart.id if service in restart.services else restart.existing.get(service, "")
    return {labels.RESTART_AT: restart_id} if restart_id else {}
