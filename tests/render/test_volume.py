"""Claims, compilation caches and shared memory."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_operator.domain.component import SharedMemory, VolumeMount
from dynamo_operator.domain.outcome import Unrenderable
from tests.support.components import component, rendered_main, rendered_pod

SHM = {"name": "shared-memory", "mountPath": "/dev/shm"}  # noqa: S108
OFF = SharedMemory(disabled=True)


def mounts(backend: str, *wanted: VolumeMount) -> Any:
    subject = component(backend_framework=backend, volume_mounts=wanted, shared_memory=OFF)
    return [(mount["name"], mount["mountPath"]) for mount in rendered_main(subject)["volumeMounts"]]


PATHS = [
    ("a place is given: that place", "", VolumeMount("c", "/data"), "/data"),
    ("a cache with a place: that place", "sglang", VolumeMount("c", "/kernels", compilation_cache=True), "/kernels"),
    ("a cache without a place, vLLM: its own", "vllm", VolumeMount("c", compilation_cache=True), "/root/.cache/vllm"),
]


@pytest.mark.parametrize(("title", "backend", "mount", "path"), PATHS, ids=[row[0] for row in PATHS])
def test_mount_path(title: str, backend: str, mount: VolumeMount, path: str) -> None:
    assert mounts(backend, mount) == [("c", path)]


NO_DEFAULT = (
    "volumeMount with useAsCompilationCache=true requires an explicit mountPoint for backend framework {} "
    "(no default available)"
)

REFUSALS = [
    (
        "a cache without a place, SGLang: refused",
        "sglang",
        VolumeMount("c", compilation_cache=True),
        NO_DEFAULT.format("sglang"),
    ),
    (
        "a cache without a place and no backend: refused",
        "",
        VolumeMount("c", compilation_cache=True),
        NO_DEFAULT.format("noop"),
    ),
    (
        "a claim without a place: refused",
        "vllm",
        VolumeMount("c"),
        "volumeMount.mountPoint is required when useAsCompilationCache is false",
    ),
    (
        "a claim without a name: refused",
        "vllm",
        VolumeMount("", "/data"),
        "volumeMount.name is required when volumeMounts is set",
    ),
]


@pytest.mark.parametrize(("title", "backend", "mount", "message"), REFUSALS, ids=[row[0] for row in REFUSALS])
def test_refused_mounts(title: str, backend: str, mount: VolumeMount, message: str) -> None:
    with pytest.raises(Unrenderable) as refused:
        mounts(backend, mount)
    assert str(refused.value).endswith(f"failed to generate base pod spec: {message}")


def test_a_claim_is_mounted_twice_and_its_volume_is_there_once() -> None:
    subject = component(volume_mounts=(VolumeMount("c", "/a"), VolumeMount("c", "/b")), shared_memory=OFF)
    assert rendered_pod(subject)["volumes"] == [{"name": "c", "persistentVolumeClaim": {"claimName": "c"}}]
    assert [mount["mountPath"] for mount in rendered_main(subject)["volumeMounts"]] == ["/a", "/b"]


SIZES = [
    ("nothing is said: 8 GiB", None, "8Gi"),
    ("a size is given: that size", SharedMemory(size="512Mi"), "512Mi"),
]


@pytest.mark.parametrize(("title", "memory", "size"), SIZES, ids=[row[0] for row in SIZES])
def test_shared_memory(title: str, memory: SharedMemory | None, size: str) -> None:
    subject = component(shared_memory=memory)
    assert rendered_pod(subject)["volumes"] == [
        {"name": "shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": size}}
    ]
    assert rendered_main(subject)["volumeMounts"] == [SHM]


def test_shared_memory_is_switched_off_and_nothing_is_left_of_it() -> None:
    subject = component(shared_memory=OFF)
    assert "volumes" not in rendered_pod(subject)
    assert "volumeMounts" not in rendered_main(subject)


def test_the_users_volumes_and_mounts_come_first() -> None:
    subject = component(
        volume_mounts=(VolumeMount("models", "/models"),),
        pod_spec={"volumes": [{"name": "scratch", "emptyDir": {}}]},
        main_container={"volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}]},
    )
    assert [volume["name"] for volume in rendered_pod(subject)["volumes"]] == ["scratch", "models", "shared-memory"]
    assert [mount["name"] for mount in rendered_main(subject)["volumeMounts"]] == ["scratch", "models", "shared-memory"]
