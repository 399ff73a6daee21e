"""The main container of a component's pod (specification: workloads.md 6.1 to 6.6)."""

from __future__ import annotations

from typing import Final

from dynamo_operator.domain import labels
from dynamo_operator.domain.component import Component
from dynamo_operator.domain.manifest import Manifest, Tree
from dynamo_operator.domain.site import Site
from dynamo_operator.render.backends.contract import Backend, Launch, Placement, Start
from dynamo_operator.render.components.contract import Defaults
from dynamo_operator.render.environment import (
    append_environment,
    identity_environment,
    merge_environment,
    platform_environment,
)
from dynamo_operator.render.merge import merge
from dynamo_operator.render.resources import render_resources
from dynamo_operator.render.volume import render_mounts

# The kinds of question a probe can ask (core/v1 ProbeHandler).
_HANDLERS: Final = ("exec", "grpc", "httpGet", "tcpSocket")


def render_container(component: Component, site: Site, defaults: Defaults, backend: Backend) -> Manifest:
    """The main container as it starts without the backend's say.

    What is empty is left out, but for objects that the API keeps even so (``securityContext: {}``).

    Raises Unrenderable for resources that are no quantities and mounts without a place.
    """
    container = overridden_container(defaults, component.main_container)
    container.update(_service_probes(component))
    container["resources"] = render_resources(container.get("resources", {}), component.resources)
    if component.env_from_secret:
        container["envFrom"] = [*container.get("envFrom", ()), {"secretRef": {"name": component.env_from_secret}}]
    container["env"] = _environment(component, site, defaults)
    container["volumeMounts"] = [*container.get("volumeMounts", ()), *render_mounts(component, backend)]
    return {key: value for key, value in container.items() if value != [] and (key, value) != ("resources", {})}


def launch_of(container: Tree, component: Component, site: Site, *, backend: Backend, placement: Placement) -> Launch:
    """What the backend adds to a pod with this main container."""
    start = Start(
        component,
        placement,
        ssh_secret=site.mpi_secret_name,
        command=tuple(container.get("command", ())),
        args=tuple(container.get("args", ())),
        variables=tuple(entry["name"] for entry in container["env"]),
    )
    return backend.launch(start)


def launched(container: Tree, launch: Launch) -> Manifest:
    """The main container with what the backend adds."""
    result = dict(container)
    if launch.command is not None:
        result["command"] = list(launch.command)
    if launch.args is not None:
        result["args"] = list(launch.args)
    result["env"] = append_environment(container["env"], launch.environment)
    if launch.mounts:
        result["volumeMounts"] = [*container.get("volumeMounts", ()), *launch.mounts]
    for probe, replacement in launch.probes:
        result.pop(probe, None)
        if replacement is not None:
            result[probe] = replacement
    return result


def overridden_container(defaults: Defaults, given: Tree) -> Manifest:
    """The main container of a type with what users say of it."""
    base: Manifest = {"name": labels.MAIN_CONTAINER, "command": ["/bin/sh", "-c"], **defaults.container}
    container = merge(base, given)
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if _replaces(given.get(probe), base.get(probe, {}), probe):
            container[probe] = given[probe]
    return container


def _replaces(given: Tree | None, default: Tree, probe: str) -> bool:
    """True when a user's probe stands alone: two kinds of question in one probe are refused by the API server."""
    if given is None:
        return False
    return probe == "startupProbe" or any(handler in given and handler not in default for handler in _HANDLERS)


def _service_probes(component: Component) -> Manifest:
    probes = {"livenessProbe": component.liveness_probe, "readinessProbe": component.readiness_probe}
    return {name: probe for name, probe in probes.items() if probe is not None}


def _environment(component: Component, site: Site, defaults: Defaults) -> list[Manifest]:
    return merge_environment(
        platform_environment(site),
        identity_environment(component, site),
        ({"name": name, "value": value} for name, value in defaults.environment.items()),
        component.main_container.get("env", ()),
        component.envs,
    )
