"""Everything that one component deployment consists of (specification: workloads.md 5.2, steps 5 to 8)."""

from __future__ import annotations

from dynamo_operator.domain.component import Component, Surroundings
from dynamo_operator.domain.manifest import Child
from dynamo_operator.domain.outcome import Unrenderable
from dynamo_operator.domain.site import Site
from dynamo_operator.render.ingress import render_ingress
from dynamo_operator.render.model_service import render_model_service
from dynamo_operator.render.service import render_services
from dynamo_operator.render.virtual_service import render_virtual_service
from dynamo_operator.render.workloads.registry import workload_of


def render_component(component: Component, site: Site, surroundings: Surroundings) -> list[Child]:
    """Workload, Services, model Service, Ingress, VirtualService, in this order.

    Raises Unrenderable with the text that users see; its ``made`` are the children before the one that failed.
    """
    try:
        workload = workload_of(component, site).render(component, site, surroundings)
    except Unrenderable as refused:
        raise refused.within("failed to reconcile the resources") from refused
    try:
        services = render_services(component, site)
    except Unrenderable as refused:
        raise refused.after(workload) from refused
    return [
        *workload,
        *services,
        *render_model_service(component),
        *render_ingress(component),
        *render_virtual_service(component, site),
    ]
