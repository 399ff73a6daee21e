"""What wakes the controller of DynamoComponentDeployment (workloads.md 5.1)."""

from __future__ import annotations

from collections.abc import Iterable

from dynamo_operator.controllers.cluster import Cluster
from dynamo_operator.controllers.component_deployment.reconciler import PRUNED, WORKLOADS
from dynamo_operator.controllers.resources import COMPONENTS, SERVICES
from dynamo_operator.controllers.surroundings import watch_surroundings
from dynamo_operator.controllers.wakeups import child_moved, intent_moved
from dynamo_operator.domain.labels import FINALIZER
from dynamo_operator.runtime.controller import Controller
from dynamo_operator.runtime.informer import Change
from dynamo_operator.runtime.owner import controller_owner, plain_owner
from dynamo_operator.runtime.resource import Key
from dynamo_operator.runtime.views import Body


def watch_components(controller: Controller, cluster: Cluster) -> None:
    """Subscribe the controller to the components, to what it makes of them, and to what shapes their pods."""

    def moved(change: Change[Body]) -> Iterable[Key]:
        return (change.key,) if intent_moved(change, (), FINALIZER) else ()

    def neighbours(namespace: str) -> Iterable[Key]:
        return tuple(body.metadata.key for body in cluster.informers[COMPONENTS].by("namespace", namespace))

    controller.watch(cluster.informers[COMPONENTS], moved)
    owner = controller_owner(COMPONENTS.kind, COMPONENTS.group)
    for resource in PRUNED:
        if resource is not SERVICES:
            controller.watch(
                cluster.informers[resource],
                child_moved(cluster, COMPONENTS, owner, status=resource in WORKLOADS),
            )
    # Model Services have no controller among their owners.
    co_owners = plain_owner(COMPONENTS.kind, COMPONENTS.group)
    controller.watch(cluster.informers[SERVICES], child_moved(cluster, COMPONENTS, co_owners, status=False))
    watch_surroundings(controller, cluster, neighbours)
