"""What an annotation of an API type can say beyond its Python type; schema.py and reference.py read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import msgspec


class Absent(Enum):
    """Stands for "no default": None cannot, because it is a value."""

    DEFAULT = "no default"


@dataclass(frozen=True, slots=True)
class Doc:
    """What a field means, and what its schema says of it.

    ``required`` and ``default`` are the schema's; decoding never asks for a field. Limits go into the schema as they
    are. msgspec looks at none of this, so that a stored object decodes even if it breaks a limit.
    """

    text: str
    required: bool = False
    default: object = Absent.DEFAULT
    minimum: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    max_items: int | None = None
    max_properties: int | None = None
    pattern: str | None = None


# Annotated hashes its markers, and a schema has no hash: hence eq=False here and below.
@dataclass(frozen=True, slots=True, eq=False)
class Fragment:
    """The schema of a type that Python cannot express, and the word for it in the reference."""

    schema: Mapping[str, Any]
    word: str


@dataclass(frozen=True, slots=True, eq=False)
class CoreType:
    """The schema of an embedded Kubernetes type, by its name in Kubernetes' OpenAPI document.

    ``not_required`` are members that this API leaves optional although Kubernetes asks for them; ``extra`` are members
    that this API adds.
    """

    name: str
    not_required: tuple[str, ...] = ()
    extra: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Shaped:
    """The schema of a Struct on a value that is decoded as a plain object, so that no member is lost.

    ``open``: members that the Struct does not name are kept by the API server.
    """

    struct: type[msgspec.Struct]
    open: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """A CEL rule of a Struct, with the message that the API server shows."""

    rule: str
    message: str
