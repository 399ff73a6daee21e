"""What a cluster can carry beside Kubernetes and our own kinds: custom resource definitions of neighbours.

To add one: an entry in ADDONS; for a program of its own also in build.py and programs.py. Those in ALWAYS are part of
every cluster, the rest is asked for by name (`--with`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from cluster.errors import ClusterError
from cluster.grove.install import GROVE_KINDS, grove_file
from cluster.layout import PACKAGE
from cluster.lws import lws_file
from cluster.modules import ModuleFile, load_module_file
from cluster.programs import GROVE, KAI, LWS, VOLCANO
from cluster.toolchain import Say


@dataclass(frozen=True, slots=True)
class Addon:
    """Definitions from files of Go modules or of this folder; ``kinds`` are the names of those that are wanted.

    ``bare``: without descriptions, where they are most of it and take the API server seconds.
    """

    name: str
    files: tuple[ModuleFile | Path, ...]
    kinds: tuple[str, ...]
    bare: bool = False


ADDONS = {
    addon.name: addon
    for addon in (
        Addon(
            name="inference-pool",
            files=(
                ModuleFile(
                    module="sigs.k8s.io/gateway-api-inference-extension",
                    version="v1.2.0",
                    content_hash="h1:7H+ijrUImnW2ubcTakNgV723xDIdQx1Umv4vDVB+tTk=",
                    path="config/crd/bases/inference.networking.k8s.io_inferencepools.yaml",
                ),
            ),
            kinds=("inferencepools.inference.networking.k8s.io",),
        ),
        Addon(
            name="istio",
            files=(
                ModuleFile(
                    module="istio.io/api",
                    version="v1.28.1",
                    content_hash="h1:A1DzBrL6PUmDDT8uvs43wxmlg6FvdKNiZvZC1PdA50M=",
                    path="kubernetes/customresourcedefinitions.gen.yaml",
                ),
            ),
            kinds=("virtualservices.networking.istio.io",),
        ),
        Addon(
            name=LWS,
            files=(
                lws_file("config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml"),
                # Its controller does not start without this one.
                lws_file("config/crd/bases/disaggregatedset.x-k8s.io_disaggregatedsets.yaml"),
            ),
            kinds=("leaderworkersets.leaderworkerset.x-k8s.io", "disaggregatedsets.disaggregatedset.x-k8s.io"),
        ),
        Addon(
            name=VOLCANO,
            files=(PACKAGE / "definitions" / "volcano.yaml",),
            kinds=("podgroups.scheduling.volcano.sh", "queues.scheduling.volcano.sh"),
        ),
        Addon(
            name=GROVE,
            files=tuple(grove_file(f"core/v1alpha1/crds/grove.io_{plural}.yaml") for plural in GROVE_KINDS),
            kinds=tuple(f"{plural}.grove.io" for plural in GROVE_KINDS),
            bare=True,
        ),
        Addon(
            name=KAI,
            files=(PACKAGE / "definitions" / "kai.yaml",),
            kinds=("queues.scheduling.run.ai",),
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
    wanted = [
        each
        for file in addon.files
        for each in yaml.load_all(_load_text(file, say), yaml.CSafeLoader)
        if each and each["metadata"]["name"] in addon.kinds
    ]
    missing = set(addon.kinds) - {each["metadata"]["name"] for each in wanted}
    if missing:
        raise ClusterError(f"the files of add-on {addon.name} lack {', '.join(sorted(missing))}")
    return _undescribed(wanted) if addon.bare else wanted


def _undescribed(tree: Any) -> Any:
    """The tree without texts called description; a property of that name is none."""
    if isinstance(tree, dict):
        kept = {key: value for key, value in tree.items() if key != "description" or not isinstance(value, str)}
        return {key: _undescribed(value) for key, value in kept.items()}
    return [_undescribed(each) for each in tree] if isinstance(tree, list) else tree


def _load_text(file: ModuleFile | Path, say: Say) -> str:
    return (file if isinstance(file, Path) else load_module_file(file, say)).read_text()
