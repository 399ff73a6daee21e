"""The pod template of a component (specification: workloads.md 6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dynamo_operator.domain import labels
from dynamo_operator.domain.component import Component, Surroundings
from dynamo_operator.domain.manifest import Manifest, Tree
from dynamo_operator.domain.registry import registry_host
from dynamo_operator.domain.site import Site
from dynamo_operator.render.backends.contract import SINGLE, Launch, Placement
from dynamo_operator.render.backends.detection import backend_of
from dynamo_operator.render.components.contract import Defaults
from dynamo_operator.render.components.registry import component_type_named
from dynamo_operator.render.container import launch_of, launched, render_container
from dynamo_operator.render.debugger import has_debugger, render_debugger
from dynamo_operator.render.merge import merge
from dynamo_operator.render.metadata import pod_annotations, pod_labels
from dynamo_operator.render.service_account import discovery_account, fallback_account
from dynamo_operator.render.volume import render_volumes

# Group of mounted volumes where the user says nothing of the pod's security.
FS_GROUP = 1000


@dataclass(frozen=True, slots=True)
class Variant:
    """Which of a component's pods: the value that its workload selects by, where it stands, and whether to debug."""

    selector: str
    placement: Placement = SINGLE
    debug: bool = False


def render_pod_template(component: Component, site: Site, surroundings: Surroundings, *, variant: Variant) -> Manifest:
    """A PodTemplateSpec. Raises Unrenderable when the spec allows none."""
    metadata: Manifest = {"labels": pod_labels(component, variant.selector, debug=variant.debug)}
    if annotations := pod_annotations(component):
        metadata["annotations"] = annotations
    spec = render_pod(component, site, surroundings, placement=variant.placement)
    spec.setdefault("serviceAccountName", fallback_account(surroundings))
    if variant.debug or has_debugger(component):
        spec["containers"] = [*spec["containers"], render_debugger(site)]
        spec["shareProcessNamespace"] = True
    return {"metadata": metadata, "spec": spec}


def render_pod(component: Component, site: Site, surroundings: Surroundings, *, placement: Placement) -> Manifest:
    """A PodSpec without an account where none is named. Raises Unrenderable when the spec allows none."""
    backend = backend_of(component)
    defaults = component_type_named(component.component_type).defaults(component)
    container = render_container(component, site, defaults, backend)
    launch = launch_of(container, component, site, backend=backend, placement=placement)
    main = launched(container, launch)
    pod = merge({"terminationGracePeriodSeconds": 60, "restartPolicy": "Always", **defaults.pod}, component.pod_spec)
    pod.setdefault("securityContext", {"fsGroup": FS_GROUP})
    pod["serviceAccountName"] = pod.get("serviceAccountName") or discovery_account(component, site)
    if not pod["serviceAccountName"]:
        del pod["serviceAccountName"]
    pod["containers"] = [*pod.get("containers", ()), main]
    pod["volumes"] = _volumes(pod, component, defaults, launch)
    pod["imagePullSecrets"] = _pull_secrets(pod.get("imagePullSecrets", ()), component, surroundings)
    return {key: value for key, value in pod.items() if value != []}


def _volumes(pod: Tree, component: Component, defaults: Defaults, launch: Launch) -> list[Tree]:
    given: list[Tree] = list(pod.get("volumes", ()))
    return [*given, *_missing_volumes(pod, given, defaults), *render_volumes(component), *launch.volumes]


def _missing_volumes(pod: Tree, given: Iterable[Tree], defaults: Defaults) -> list[Tree]:
    """The type's own volumes that a user's list has pushed out although a container mounts them.

    Without them the API server refuses the pod.
    """
    named = {volume["name"] for volume in given}
    containers = [*pod["containers"], *pod.get("initContainers", ())]
    mounted = {mount["name"] for container in containers for mount in container.get("volumeMounts", ())}
    return [volume for volume in defaults.pod.get("volumes", ()) if volume["name"] in mounted - named]


def _pull_secrets(given: Iterable[Tree], component: Component, surroundings: Surroundings) -> list[Tree]:
    """The user's pull secrets, then those that know the registry of the main container's image."""
    secrets = list(given)
    if component.annotations.get(labels.DISABLE_PULL_SECRET_DISCOVERY) == "true":
        return secrets
    host = registry_host(component.main_container.get("image", ""))
    named = {secret.get("name") for secret in secrets}
    return secrets + [{"name": name} for name in surroundings.pull_secrets.get(host, ()) if name not in named]
