"""A graph: what the user wants, what exists of it, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from dynamo_operator.domain.component import Component, EndpointPicker
from dynamo_operator.domain.manifest import Tree


@dataclass(frozen=True, slots=True)
class Claim:
    """One entry of ``spec.pvcs``; with ``create`` all of the rest is given."""

    name: str
    create: bool = False
    storage_class: str = ""
    size: str = ""
    access_mode: str = ""


@dataclass(frozen=True, slots=True)
class Restart:
    """``spec.restart``: a new ``id`` asks for a restart; ``order`` empty means sorted service keys."""

    id: str
    parallel: bool = False
    order: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Service:
    """One service of a graph. ``spec`` is the component spec exactly as the user wrote it, ``component`` its meaning.

    Nothing that the graph says for all services is in either.
    """

    key: str
    spec: Tree
    component: Component
    component_type: str = ""
    replicas: int | None = None
    nodes: int = 1
    scaling_adapter: bool = False
    dynamo_namespace: str = ""
    endpoint_picker: EndpointPicker | None = None


@dataclass(frozen=True, slots=True)
class Graph:
    """A DynamoGraphDeployment that passed its checks. ``services`` is sorted by key (byte order)."""

    namespace: str
    name: str
    uid: str
    generation: int
    annotations: Mapping[str, str]
    backend_framework: str = ""
    envs: tuple[Tree, ...] = ()
    claims: tuple[Claim, ...] = ()
    services: tuple[Service, ...] = ()
    restart: Restart | None = None


@dataclass(frozen=True, slots=True)
class ComponentState:
    """What exists of one service, as read back from the cluster: of its component deployment, or of its cliques.

    ``observed`` is True when its controller has seen its newest spec; ``available`` when its pods work, else
    ``message`` says what is missing. ``replicas`` is its part of the graph's status, None before there is one.
    ``restart_id`` is the restart that its pods are told of.
    """

    name: str
    service: str
    observed: bool = False
    available: bool = False
    message: str = ""
    replicas: Tree | None = None
    restart_id: str = ""


# Phases of status.restart; read by people and by other programs. Pending and Failed are never written.
RESTART_PENDING: Final = "Pending"
RESTARTING: Final = "Restarting"
RESTART_COMPLETED: Final = "Completed"
RESTART_FAILED: Final = "Failed"


@dataclass(frozen=True, slots=True)
class RestartStatus:
    """``status.restart``: phases Restarting and Completed are written; Pending and Failed only read."""

    observed_id: str = ""
    phase: str = ""
    in_progress: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RestartState:
    """Which services carry which restart id right now (workloads.md 3.9, step B)."""

    id: str = ""
    services: frozenset[str] = frozenset()
    existing: Mapping[str, str] = field(default_factory=dict[str, str])
