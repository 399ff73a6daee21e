"""The ways from a graph to pods, which of them a graph takes, and what besides its spec shapes what is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from dynamo_operator.domain.component import Surroundings
from dynamo_operator.domain.graph import RestartState
from dynamo_operator.domain.labels import ENABLE_GROVE, KAI_QUEUE
from dynamo_operator.domain.site import Site

DEFAULT_QUEUE: Final = "dynamo"
"""The queue that the platform's chart makes."""


class Pathway(Enum):
    """What the services of a graph become."""

    COMPONENTS = "components"
    """A component deployment each, which has a controller of its own."""
    CLIQUES = "cliques"
    """Cliques of one PodCliqueSet, which Grove turns into pods."""


def pathway_of(annotations: Mapping[str, str], site: Site) -> Pathway:
    """The way that a graph with these annotations takes on this cluster (specification: grove.md 1.2)."""
    refused = annotations.get(ENABLE_GROVE, "").lower() == "false"
    return Pathway.CLIQUES if site.offers.grove and not refused else Pathway.COMPONENTS


def queue_of(annotations: Mapping[str, str]) -> str:
    """The KAI queue of a graph with these annotations (specification: grove.md 4.5)."""
    return annotations.get(KAI_QUEUE, "").strip() or DEFAULT_QUEUE


@dataclass(frozen=True, slots=True)
class CliquesThere:
    """What is settled by a PodCliqueSet that exists: the order of its cliques, their ``minAvailable``, its schedulers.

    Grove never changes the first two. ``schedulers`` are names as pods give them; the default one has an empty name.
    """

    order: tuple[str, ...] = ()
    minimum: Mapping[str, int] = field(default_factory=dict[str, int])
    schedulers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What besides its spec shapes what a graph becomes.

    ``surroundings`` is keyed by service. ``queues`` are the KAI queues known to exist, None when nobody looked.
    """

    restart: RestartState = field(default_factory=RestartState)
    surroundings: Mapping[str, Surroundings] = field(default_factory=dict[str, Surroundings])
    cliques: CliquesThere = field(default_factory=CliquesThere)
    queues: frozenset[str] | None = None
