"""What a cluster can carry beside Kubernetes and our own kinds: custom resource definitions of neighbours.

To add one: an entry in ADDONS. Those in ALWAYS are part of every cluster, the rest is asked for by name (`--with`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import yaml

from cluster.errors import ClusterError
from cluster.modules import ModuleFile, load_module_file
from cluster.toolchain import Say


@dataclass(frozen=True, slots=True)
class Addon:
    """Definitions taken from one file of a Go module; ``kinds`` are the names of those that are wanted of it."""

    name: str
    file: ModuleFile
    kinds: tuple[str, ...]


ADDONS = {
    addon.name: addon
    for addon in (
        Addon(
            name="inference-pool",
            file=ModuleFile(
                module="sigs.k8s.io/gateway-api-inference-extension",
                version="v1.2.0",
                content_hash="h1:7H+ijrUImnW2ubcTakNgV723xDIdQx1Umv4vDVB+tTk=",
                path="config/crd/bases/inference.networking.k8s.io_inferencepools.yaml",
            ),
            kinds=("inferencepools.inference.networking.k8s.io",),
        ),
        Addon(
            name="istio",
            file=ModuleFile(
                module="istio.io/api",
                version="v1.28.1",
                content_hash="h1:A1DzBrL6PUmDDT8uvs43wxmlg6FvdKNiZvZC1PdA50M=",
                path="kubernetes/customresourcedefinitions.gen.yaml",
            ),
            kinds=("virtualservices.networking.istio.io",),
        ),
    )
}

ALWAYS = ("inference-pool",)


def optional_addons() -> tuple[str, ...]:
    """Names that `--with` accepts."""
    return tuple(sorted(name for name in ADDONS if name not in ALWAYS))


def parse_addons(text: str) -> tuple[str, ...]:
    """Sorted names out of `istio,lws`. Raises ClusterError with the known names where one is unknown."""
    names = sorted({part.strip() for part in text.split(",") if part.strip()})
    unknown = [name for name in names if name not in ADDONS]
    if unknown:
        raise ClusterError(f"unknown add-on {', '.join(unknown)}; known add-ons: {', '.join(optional_addons())}")
    return tuple(name for name in names if name not in ALWAYS)


def load_addon_manifests(names: Iterable[str], say: Say) -> list[dict[str, Any]]:
    """The definitions of the named add-ons, and of those that every cluster has."""
    return [manifest for name in (*ALWAYS, *names) for manifest in _load_manifests(ADDONS[name], say)]


def _load_manifests(addon: Addon, say: Say) -> list[dict[str, Any]]:
    text = load_module_file(addon.file, say).read_text()
    wanted = [
        each for each in yaml.load_all(text, yaml.CSafeLoader) if each and each["metadata"]["name"] in addon.kinds
    ]
    missing = set(addon.kinds) - {each["metadata"]["name"] for each in wanted}
    if missing:
        raise ClusterError(f"{addon.file.path} of {addon.file.module} lacks {', '.join(sorted(missing))}")
    return wanted
