"""Warnings about what is accepted in a graph although it cannot work (specification: api.md 12.11)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from dynamo_operator.api.meta import QUANTITY_SCHEMA
from dynamo_operator.api.v1alpha1.component import ComponentSpec, ResourceItem
from dynamo_operator.check.component import EPP
from dynamo_operator.check.graph_deployment import ParsedGraph, parse_graph
from dynamo_operator.domain.discovery import ETCD, KUBERNETES
from dynamo_operator.domain.labels import DEPLOYMENT_STRATEGY, DISCOVERY_BACKEND
from dynamo_operator.domain.names import component_name
from dynamo_operator.domain.source import Source

_LABEL: Final = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_QUANTITY: Final = re.compile(QUANTITY_SCHEMA["pattern"])
_LONGEST_SUFFIX: Final = "-p"
"""What the longest name of a component's Service ends with."""
_STEERING: Final = {DEPLOYMENT_STRATEGY: ("RollingUpdate", "Recreate"), DISCOVERY_BACKEND: (KUBERNETES, ETCD)}
"""Annotations whose values are a fixed set; others have no effect."""


def graph_advice(source: Source) -> list[str]:
    """What a valid graph holds that cannot work, or not as it reads; sorted by service key."""
    parsed = parse_graph(source)
    advice = [*_claim_advice(parsed), *_single_advice(parsed), *_key_advice(parsed)]
    advice += _annotation_advice("metadata.annotations", source.annotations)
    for key, spec in parsed.services.items():
        path = f"spec.services[{key}]"
        advice += _name_advice(path, component_name(source.name, key))
        advice += _mount_advice(parsed, spec, path)
        advice += _resource_advice(spec, path)
        advice += _annotation_advice(f"{path}.annotations", spec.annotations)
    return advice


def _claim_advice(parsed: ParsedGraph) -> Iterator[str]:
    for name in _repeated(claim.name for claim in parsed.spec.pvcs):
        yield f"spec.pvcs names the claim '{name}' more than once; only the first entry that creates it counts"


def _single_advice(parsed: ParsedGraph) -> Iterator[str]:
    for role, what in ((EPP, "only the first gets an InferencePool"), ("frontend", "their Services share all pods")):
        keys = [key for key, spec in parsed.services.items() if spec.component_type == role]
        if len(keys) > 1:
            yield f"spec.services has {len(keys)} services of componentType {role} ({' '.join(keys)}): {what}"


def _key_advice(parsed: ParsedGraph) -> Iterator[str]:
    for name in _repeated(key.lower() for key in parsed.services):
        keys = " ".join(key for key in parsed.services if key.lower() == name)
        yield f"spec.services has keys that differ only in case ({keys}): they overwrite each other's objects"


def _name_advice(path: str, name: str) -> Iterator[str]:
    if not _LABEL.fullmatch(name):
        yield f"{path}: '{name}' is no DNS label, so no Service can be made; use letters, digits and dashes in the key"
    if len(name) + len(_LONGEST_SUFFIX) > 63:
        yield f"{path}: '{name}{_LONGEST_SUFFIX}' is longer than 63 characters; shorten the graph's name or the key"


def _mount_advice(parsed: ParsedGraph, spec: ComponentSpec, path: str) -> Iterator[str]:
    claims = {claim.name for claim in parsed.spec.pvcs}
    framework = parsed.spec.backend_framework
    for index, mount in enumerate(spec.volume_mounts):
        place = f"{path}.volumeMounts[{index}]"
        if mount.name not in claims:
            yield f"{place}.name: '{mount.name}' is not in spec.pvcs; pods wait until a claim of that name exists"
        if not mount.mount_point and framework in {"sglang", "trtllm"}:
            yield f"{place}.mountPoint: {framework} has no default compilation cache; give a path"


def _resource_advice(spec: ComponentSpec, path: str) -> Iterator[str]:
    for side in ("requests", "limits"):
        item: ResourceItem | None = getattr(spec.resources, side, None)
        amounts = _amounts(item) if item is not None else {}
        for name, amount in amounts.items():
            if amount and not _QUANTITY.fullmatch(amount):
                yield f"{path}.resources.{side}.{name}: '{amount}' is no quantity; write for example 4, 500m or 32Gi"


def _amounts(item: ResourceItem) -> dict[str, str]:
    custom = {f"custom[{name}]": amount for name, amount in item.custom.items()}
    return {"cpu": item.cpu, "memory": item.memory, "gpu": item.gpu, **custom}


def _annotation_advice(path: str, annotations: Mapping[str, str]) -> Iterator[str]:
    for key, values in _STEERING.items():
        value = annotations.get(key)
        if value and value not in values:
            yield f"{path}[{key}]: '{value}' has no effect; use {' or '.join(values)}"


def _repeated(names: Iterable[str | None]) -> list[str]:
    return [name for name, count in Counter(names).items() if name and count > 1]
