"""Components for tests: a worker of a graph, of which each test says only what matters to it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dynamo_operator.domain import labels
from dynamo_operator.domain.component import Component, Surroundings
from dynamo_operator.domain.manifest import Child, Manifest
from dynamo_operator.domain.site import Site
from dynamo_operator.render.component import render_component

SITE = Site(nats_address="nats://bus:4222", etcd_address="store:2379")
NOWHERE = Surroundings()

WORKER = Component(
    namespace="demo",
    name="llm-decode",
    service="Decode",
    graph="llm",
    component_type="worker",
    dynamo_namespace="demo-llm",
    declared_namespace="demo-llm",
    replicas=1,
    labels={
        labels.COMPONENT: "Decode",
        labels.DYNAMO_NAMESPACE: "demo-llm",
        labels.GRAPH_NAME: "llm",
    },
    main_container={"image": "images.example/runtime:1"},
)


def component(**changes: Any) -> Component:
    """The worker with some fields changed."""
    return replace(WORKER, **changes)


def rendered(subject: Component, site: Site = SITE, surroundings: Surroundings = NOWHERE) -> dict[str, Child]:
    """What is rendered, by kind and name."""
    children = render_component(subject, site, surroundings)
    return {f"{child.manifest['kind']}/{child.manifest['metadata']['name']}": child for child in children}


def rendered_manifest(name: str, subject: Component, site: Site = SITE) -> Manifest:
    """One manifest, asked for by kind and name."""
    return rendered(subject, site)[name].manifest


def rendered_pod(subject: Component, site: Site = SITE, surroundings: Surroundings = NOWHERE) -> Manifest:
    """The PodSpec of the component's Deployment."""
    return rendered(subject, site, surroundings)[f"Deployment/{subject.name}"].manifest["spec"]["template"]["spec"]


def rendered_main(subject: Component, site: Site = SITE) -> Manifest:
    """The main container of the component's Deployment."""
    return rendered_pod(subject, site)["containers"][-1]
