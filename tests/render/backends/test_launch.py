"""What backends add on one node."""

from __future__ import annotations

import pytest

from dynamo_operator.domain.component import VolumeMount
from dynamo_operator.render.backends.contract import Launch, Start
from dynamo_operator.render.backends.registry import FRAMEWORKS, NOOP, backend_named
from tests.support.components import component, rendered_main

CACHE = VolumeMount("c", "/cache", compilation_cache=True)


def cache_root(path: str) -> Launch:
    return Launch(environment=({"name": "VLLM_CACHE_ROOT", "value": path},))


ROWS: list[tuple[str, str, tuple[VolumeMount, ...], Launch]] = [
    ("vLLM with a cache at a place: told where", "vllm", (CACHE,), cache_root("/cache")),
    (
        "vLLM with two caches: told the first",
        "vllm",
        (CACHE, VolumeMount("d", "/d", compilation_cache=True)),
        cache_root("/cache"),
    ),
    ("vLLM with a cache at the default place: not told", "vllm", (VolumeMount("c", compilation_cache=True),), Launch()),
    ("vLLM with another claim: not told", "vllm", (VolumeMount("c", "/data"),), Launch()),
    ("SGLang with a cache: nothing", "sglang", (CACHE,), Launch()),
    ("TensorRT-LLM with a cache: nothing", "trtllm", (CACHE,), Launch()),
    ("no backend: nothing", "noop", (CACHE,), Launch()),
]


@pytest.mark.parametrize(("title", "name", "mounts", "wanted"), ROWS, ids=[row[0] for row in ROWS])
def test_launch(title: str, name: str, mounts: tuple[VolumeMount, ...], wanted: Launch) -> None:
    assert backend_named(name).launch(Start(component(volume_mounts=mounts))) == wanted


def test_the_user_says_where_the_cache_is_too_and_the_mount_wins_as_it_always_did() -> None:
    own = {"name": "VLLM_CACHE_ROOT", "value": "/mine"}
    main = rendered_main(component(backend_framework="vllm", volume_mounts=(CACHE,), envs=(own,)))
    assert [entry for entry in main["env"] if entry["name"] == "VLLM_CACHE_ROOT"] == [main["env"][-1]]
    assert main["env"][-1]["value"] == "/cache"


def test_only_vllm_has_a_cache_of_its_own() -> None:
    assert [backend.name for backend in (*FRAMEWORKS, NOOP) if backend.cache_path] == ["vllm"]
