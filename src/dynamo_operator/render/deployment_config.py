"""What the variable DYN_DEPLOYMENT_CONFIG says about a service (specification: workloads.md 3.7, deployment config)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, cast

import msgspec

from dynamo_operator.domain.labels import FRONTEND_PORT
from dynamo_operator.domain.manifest import Tree
from dynamo_operator.domain.outcome import Unrenderable

# Read by Dynamo's own launcher inside the pods, and by the operator.
VARIABLE: Final = "DYN_DEPLOYMENT_CONFIG"

_ABSENT: Final[Tree] = {}


@dataclass(frozen=True, slots=True)
class ServiceArguments:
    """What the document asks of a service; ``amounts`` are quantities by name (cpu, memory, gpu); None: nothing."""

    workers: int | None = None
    amounts: Mapping[str, str] = field(default_factory=dict[str, str])
    custom: Mapping[str, str] | None = None


def with_frontend_port(document: str, service: str) -> str:
    """The document with the frontend's port set, as compact JSON with sorted keys.

    Raises Unrenderable for text that is no JSON object.
    """
    config = _object(document, failure=f"failed to unmarshal {VARIABLE}")
    entry = config.get(service)
    if isinstance(entry, Mapping):
        config = {**config, service: {**cast("Tree", entry), "port": FRONTEND_PORT}}
    return _compact(config)


def parse_service_arguments(document: str, service: str) -> ServiceArguments:
    """What the document asks of a service; unknown members are ignored, member names match in any case.

    Raises Unrenderable where a member of any service has another JSON type.
    """
    failure = f"failed to parse {VARIABLE}"
    config = _object(document, failure=failure)
    parsed = {key: _arguments(config, key, failure) for key in config}
    return parsed.get(service, ServiceArguments())


def _object(document: str, *, failure: str) -> Tree:
    try:
        return msgspec.json.decode(document, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise Unrenderable(f"{failure}: {error}") from error


def _arguments(config: Tree, service: str, failure: str) -> ServiceArguments:
    at = _Reader(failure)
    arguments = at.object(at.object(config, service), "ServiceArgs", service)
    resources = at.object(arguments, "resources", service)
    amounts = {name: at.text(resources, name, service) for name in ("cpu", "memory", "gpu")}
    custom = at.object(resources, "custom", service)
    return ServiceArguments(
        workers=at.count(arguments, "workers", service),
        amounts={name: amount for name, amount in amounts.items() if amount},
        custom={name: at.text(custom, name, service) for name in custom} or None,
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads members of wanted types; absent and null are the type's empty value."""

    failure: str

    def object(self, parent: Tree, name: str, service: str = "") -> Tree:
        value = _member(parent, name) if service else parent[name]
        return cast("Tree", self._checked(value, dict, name, service)) if value is not None else _ABSENT

    def text(self, parent: Tree, name: str, service: str) -> str:
        value = _member(parent, name)
        return cast("str", self._checked(value, str, name, service)) if value is not None else ""

    def count(self, parent: Tree, name: str, service: str) -> int | None:
        value = _member(parent, name)
        if isinstance(value, bool):
            raise Unrenderable(self._wrong(name, service, int))
        return cast("int", self._checked(value, int, name, service)) if value is not None else None

    def _checked(self, value: object, wanted: type, name: str, service: str) -> object:
        if not isinstance(value, wanted):
            raise Unrenderable(self._wrong(name, service, wanted))
        return value

    def _wrong(self, name: str, service: str, wanted: type) -> str:
        kind = {dict: "an object", str: "a string", int: "a whole number"}[wanted]
        return f"{self.failure}: {name} of service {service or name} must be {kind}"


def _member(parent: Tree, name: str) -> object:
    same = [value for key, value in parent.items() if key.lower() == name.lower()]
    return same[-1] if same else None


def _compact(value: object) -> str:
    """JSON as Go writes it: sorted keys, no blanks, numbers as 64-bit floats, no raw <, > and &.

    The text reaches pods, so another spelling of the same document would restart them at a handover.
    """
    if isinstance(value, Mapping):
        members = sorted(cast("Mapping[str, object]", value).items())
        return "{" + ",".join(f"{_compact(key)}:{_compact(member)}" for key, member in members) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ",".join(map(_compact, cast("Sequence[object]", value))) + "]"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(float(value))
    text = json.dumps(value, ensure_ascii=False)
    return "".join(f"\\u{ord(char):04x}" if char in "<>&\u2028\u2029" else char for char in text)


def _number(value: float) -> str:
    if value and not 1e-6 <= abs(value) < 1e21:
        return repr(value).replace("e-0", "e-")
    text = f"{Decimal(repr(value)):f}"
    return text.removesuffix(".0")
