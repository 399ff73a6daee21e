"""The component types there are; a new one is a file beside this one and a line here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dynamo_operator.render.components.contract import ComponentType
from dynamo_operator.render.components.default import Default
from dynamo_operator.render.components.epp import Epp
from dynamo_operator.render.components.frontend import Frontend
from dynamo_operator.render.components.planner import Planner
from dynamo_operator.render.components.worker import Worker

_WORKER = Worker()
_DEFAULT = Default()

COMPONENT_TYPES: Final[Mapping[str, ComponentType]] = {
    "frontend": Frontend(),
    "worker": _WORKER,
    "prefill": _WORKER,
    "decode": _WORKER,
    "planner": Planner(),
    "epp": Epp(),
}


def component_type_named(name: str) -> ComponentType:
    """The type of that name; every name that is not known stands for a container of which nothing is known."""
    return COMPONENT_TYPES.get(name, _DEFAULT)
