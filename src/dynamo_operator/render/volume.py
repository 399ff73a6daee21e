"""Volumes of a pod and where its main container sees them (specification: workloads.md 6.7)."""

from __future__ import annotations

from dynamo_operator.domain.component import Component, SharedMemory, VolumeMount
from dynamo_operator.domain.manifest import Manifest
from dynamo_operator.domain.outcome import Unrenderable
from dynamo_operator.render.backends.contract import Backend

SHARED_MEMORY = "shared-memory"
SHARED_MEMORY_PATH = "/dev/shm"  # noqa: S108 - where the backends expect it
SHARED_MEMORY_SIZE = "8Gi"


def render_volumes(component: Component) -> list[Manifest]:
    """Pod volumes of the component's claims, each claim once, then shared memory."""
    claims = dict.fromkeys(mount.name for mount in component.volume_mounts)
    volumes: list[Manifest] = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    shared = component.shared_memory or SharedMemory()
    if not shared.disabled:
        size = shared.size or SHARED_MEMORY_SIZE
        volumes.append({"name": SHARED_MEMORY, "emptyDir": {"medium": "Memory", "sizeLimit": size}})
    return volumes


def render_mounts(component: Component, backend: Backend) -> list[Manifest]:
    """Mounts of the component's claims in their order, then shared memory.

    Raises Unrenderable when a claim has no name or no place.
    """
    mounts: list[Manifest] = [
        {"name": _claim_name(mount), "mountPath": _mount_path(mount, backend)} for mount in component.volume_mounts
    ]
    if not (component.shared_memory or SharedMemory()).disabled:
        mounts.append({"name": SHARED_MEMORY, "mountPath": SHARED_MEMORY_PATH})
    return mounts


def _claim_name(mount: VolumeMount) -> str:
    if not mount.name:
        raise Unrenderable("volumeMount.name is required when volumeMounts is set")
    return mount.name


def _mount_path(mount: VolumeMount, backend: Backend) -> str:
    if mount.mount_point:
        return mount.mount_point
    if not mount.compilation_cache:
        raise Unrenderable("volumeMount.mountPoint is required when useAsCompilationCache is false")
    if not backend.cache_path:
        raise Unrenderable(
            "volumeMount with useAsCompilationCache=true requires an explicit mountPoint "
            f"for backend framework {backend.name} (no default available)"
        )
    return backend.cache_path
