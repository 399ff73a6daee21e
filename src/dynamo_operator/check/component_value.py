"""A component spec as the value that is rendered; services of graphs and component deployments share it."""

from __future__ import annotations

from dataclasses import replace

from dynamo_operator.api.v1alpha1 import component as api
from dynamo_operator.check.component import node_count, picker_of
from dynamo_operator.domain.component import (
    Component,
    Exposure,
    ResourceAmounts,
    Resources,
    SharedMemory,
    VolumeMount,
)
from dynamo_operator.domain.trees import tree_at


def specified(identity: Component, spec: api.ComponentSpec) -> Component:
    """A component of which only names and labels are known, with all that its spec says."""
    metadata = spec.extra_pod_metadata or api.ExtraPodMetadata()
    pod = dict(spec.extra_pod_spec or {})
    main = tree_at(pod, "mainContainer")
    pod.pop("mainContainer", None)
    return replace(
        identity,
        component_type=spec.component_type,
        sub_component_type=spec.sub_component_type,
        replicas=spec.replicas,
        nodes=node_count(spec),
        annotations=spec.annotations,
        labels=spec.labels,
        envs=spec.envs,
        env_from_secret=spec.env_from_secret or "",
        resources=_resources(spec.resources),
        volume_mounts=tuple(_mount(mount) for mount in spec.volume_mounts),
        exposure=_exposure(spec.ingress),
        model=spec.model_ref.name if spec.model_ref else "",
        shared_memory=_shared_memory(spec.shared_memory),
        pod_labels=metadata.labels,
        pod_annotations=metadata.annotations,
        pod_spec=pod,
        main_container=main,
        liveness_probe=spec.liveness_probe,
        readiness_probe=spec.readiness_probe,
        endpoint_picker=picker_of(spec),
    )


def _resources(resources: api.Resources | None) -> Resources | None:
    if resources is None:
        return None
    return Resources(requests=_amounts(resources.requests), limits=_amounts(resources.limits), claims=resources.claims)


def _amounts(item: api.ResourceItem | None) -> ResourceAmounts:
    if item is None:
        return ResourceAmounts()
    return ResourceAmounts(cpu=item.cpu, memory=item.memory, gpu=item.gpu, gpu_type=item.gpu_type, custom=item.custom)


def _mount(mount: api.VolumeMount) -> VolumeMount:
    return VolumeMount(name=mount.name, mount_point=mount.mount_point, compilation_cache=mount.use_as_compilation_cache)


def _exposure(ingress: api.IngressSpec | None) -> Exposure | None:
    if ingress is None:
        return None
    return Exposure(
        enabled=ingress.enabled,
        host=ingress.host,
        host_prefix=ingress.host_prefix,
        host_suffix=ingress.host_suffix,
        controller_class=ingress.ingress_controller_class_name,
        tls_secret=ingress.tls.secret_name if ingress.tls else None,
        use_virtual_service=ingress.use_virtual_service,
        virtual_service_gateway=ingress.virtual_service_gateway,
        annotations=ingress.annotations,
        labels=ingress.labels,
    )


def _shared_memory(memory: api.SharedMemorySpec | None) -> SharedMemory | None:
    return None if memory is None else SharedMemory(disabled=memory.disabled, size=str(memory.size))
