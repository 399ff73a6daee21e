"""Resources of the main container (specification: workloads.md 6.6)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from dynamo_operator.domain.component import ResourceAmounts, Resources
from dynamo_operator.domain.manifest import Manifest, Tree
from dynamo_operator.domain.outcome import Unrenderable

# Read by the NVIDIA device plugin.
GPU = "nvidia.com/gpu"

_QUANTITY = re.compile(r"[+-]?[0-9]*(?:\.[0-9]*)?([eEinumkKMGTP]*[-+]?[0-9]*)")
_SUFFIX = re.compile(r"[numkMGTPE]?|[KMGTPE]i|[eE][-+]?[0-9]+")


def render_resources(given: Tree, wanted: Resources | None) -> Manifest:
    """The container's own resources with the component's over them, key by key; claims are appended.

    Quantities pass as they were written. Raises Unrenderable for text that is no quantity.
    """
    if wanted is None:
        return dict(given)
    rendered = dict(given)
    sides = {
        "limits": dict(_limits(wanted.limits)),
        "requests": dict(_amounts("requests", wanted.requests)),
    }
    for side, amounts in sides.items():
        _add(rendered, side, {**given.get(side, {}), **amounts})
    _add(rendered, "claims", [*given.get("claims", ()), *map(dict, wanted.claims)])
    return rendered


def _add(rendered: Manifest, key: str, value: Any) -> None:
    if value:
        rendered[key] = value


def _limits(amounts: ResourceAmounts) -> Iterator[tuple[str, str]]:
    yield from _amounts("limits", amounts, gpu=amounts.gpu)


def _amounts(side: str, amounts: ResourceAmounts, *, gpu: str = "") -> Iterator[tuple[str, str]]:
    """Resource name and quantity. ``requests.gpu`` is not passed: it reaches no pod of the Go operator either."""
    named = [
        ("cpu", "cpu", amounts.cpu),
        ("memory", "memory", amounts.memory),
        ("gpu", amounts.gpu_type or GPU, gpu),
        *((name, name, amounts.custom[name]) for name in sorted(amounts.custom)),
    ]
    for said, resource, quantity in named:
        if quantity:
            if fault := quantity_fault(quantity):
                raise Unrenderable(f"failed to get resources config: parse {side} {said} quantity: {fault}")
            yield resource, quantity


def quantity_fault(quantity: str) -> str:
    """What Kubernetes says of text that is no quantity; empty when it is one."""
    matched = _QUANTITY.fullmatch(quantity)
    if matched is None:
        return "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    return "" if _SUFFIX.fullmatch(matched[1]) else "unable to parse quantity's suffix"
