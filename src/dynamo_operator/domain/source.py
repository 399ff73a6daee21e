"""What checks start from: a custom resource as it is stored, nothing of it trusted yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dynamo_operator.domain.manifest import Tree


@dataclass(frozen=True, slots=True)
class Source:
    """A stored object. ``spec`` is decoded JSON of any shape; absent is an empty object.

    ``graph`` is the name in the owner reference of kind DynamoGraphDeployment, empty without one.
    """

    namespace: str
    name: str
    uid: str = ""
    generation: int = 0
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    annotations: Mapping[str, str] = field(default_factory=dict[str, str])
    graph: str = ""
    spec: Tree = field(default_factory=dict[str, object])
