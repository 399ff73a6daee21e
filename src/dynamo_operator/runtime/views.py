"""Views of API objects: only the members that a reader needs, each with a default, so that reading never fails.

No view can be part of a reference cycle (they are frozen trees of JSON), so none is tracked by the collector.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import force_setattr

from dynamo_operator.runtime.resource import Key

ABSENT = Raw()
"""What a Raw member holds when the object does not have it."""


class OwnerReference(Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """One entry of ``metadata.ownerReferences``."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False
    block_owner_deletion: bool = False


class FieldManager(Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """Who wrote an object and how, from ``metadata.managedFields``; which fields it was is not kept."""

    manager: str = ""
    operation: str = ""
    subresource: str = ""


class ObjectMeta(Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """``metadata`` of any object; timestamps are RFC 3339 text."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str = ""
    deletion_timestamp: str | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[OwnerReference, ...] = ()
    managed_fields: tuple[FieldManager, ...] = ()

    @property
    def key(self) -> Key:
        """Namespace and name."""
        return Key(self.namespace, self.name)

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that controls this object, if any does."""
        return next((owner for owner in self.owner_references if owner.controller), None)

    def applied_by(self, manager: str) -> bool:
        """Whether that manager holds fields of the object by server-side apply."""
        return any(
            each.manager == manager and each.operation == "Apply" and not each.subresource
            for each in self.managed_fields
        )

    @property
    def deleting(self) -> bool:
        """Whether deletion was asked for; finalizers may still hold the object."""
        return bool(self.deletion_timestamp)


class Viewed(Protocol):
    """What every view offers."""

    @property
    def metadata(self) -> ObjectMeta:
        """Metadata of the object."""
        ...


class Metadata(Struct, frozen=True, gc=False, rename="camel"):
    """An object of which only the metadata matters (PartialObjectMetadata)."""

    metadata: ObjectMeta = ObjectMeta()


class Body(Struct, frozen=True, gc=False, rename="camel"):
    """An object of any kind; what is below the top-level members stays JSON text until it is asked for.

    A decoded Body owns copies of its members: it keeps no page of a list and no managedFields alive.
    """

    metadata: ObjectMeta = ObjectMeta()
    spec: Raw = ABSENT
    status: Raw = ABSENT
    data: Raw = ABSENT
    rules: Raw = ABSENT
    subjects: Raw = ABSENT
    role_ref: Raw = ABSENT
    type: str = ""

    def __post_init__(self) -> None:
        for name in _RAW_MEMBERS:
            raw: Raw = getattr(self, name)
            if raw is not ABSENT:
                force_setattr(self, name, raw.copy())

    def tree(self, member: str) -> Any:
        """The decoded value of one Raw member (``spec``, ``role_ref``, …); an empty dict when absent or null."""
        raw: Raw = getattr(self, member)
        value = msgspec.json.decode(raw) if bytes(raw) else None
        return {} if value is None else value


_RAW_MEMBERS = ("spec", "status", "data", "rules", "subjects", "role_ref")
