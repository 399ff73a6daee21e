"""Objects that should exist: how they are stamped, and whether a live object is one of them already."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, cast

import msgspec

from dynamo_operator.runtime.comparison import covers
from dynamo_operator.runtime.errors import AlreadyExists
from dynamo_operator.runtime.owner import is_of
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.views import Body, OwnerReference

Action = Literal["created", "updated", "unchanged"]

_CANONICAL: Final = msgspec.json.Encoder(order="sorted")
_COMPARED: Final = {
    "spec": "spec",
    "data": "data",
    "rules": "rules",
    "subjects": "subjects",
    "roleRef": "role_ref",
}
"""Members of a manifest that a Body holds, with the attribute that holds them."""

_OURS: Final = "ssa-"
"""How the hashes of this library begin; another operator's hashes under the same annotation do not."""

_COUNTS_ANNOTATIONS: Final = frozenset({("apps", "Deployment")})
"""Group and kind of objects whose generation moves with their annotations."""

_UNCOMPARED: Final = frozenset({"apiVersion", "kind", "metadata", "status"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """One object to have, and how it is kept.

    ``create_only``: made when missing, never touched afterwards. ``initial``: path of a member that is written when
    the object is made and belongs to others afterwards. ``owned``: the parent becomes its controller.
    ``shared``: the parent becomes one of several plain owners, all of which want the same manifest.
    ``recreate``: when the API server refuses to change an immutable field, it is deleted and made anew.
    ``renewed``: the parent's spec changed since it was last carried out.
    """

    resource: Resource
    manifest: dict[str, Any]
    create_only: bool = False
    initial: tuple[str, ...] = ()
    owned: bool = True
    shared: bool = False
    recreate: bool = False
    renewed: bool = False

    @property
    def key(self) -> Key:
        """Where the object is."""
        metadata = self.manifest["metadata"]
        return Key(metadata.get("namespace", "") if self.resource.namespaced else "", metadata["name"])


@dataclass(frozen=True, slots=True)
class Applied:
    """A wanted object as it is in the cluster now, and what had to be done for that."""

    wanted: Wanted
    body: Body
    action: Action


class Foreign(AlreadyExists):
    """An object of a wanted name belongs to somebody else; ``controller`` is who controls it, None if nobody does."""

    def __init__(self, resource: Resource, key: Key, controller: OwnerReference | None) -> None:
        self.resource = resource
        self.key = key
        self.controller = controller
        belongs = f"is controlled by {controller.kind} {controller.name}" if controller else "was not made by us"
        super().__init__(message=f"{resource.kind} {key} {belongs}: delete or rename it, or choose another name")


@dataclass(frozen=True, slots=True)
class Stamped:
    """A wanted object as it is sent: with its owner reference and the hash of its manifest.

    ``first`` is how it is made, ``manifest`` how it is kept.
    """

    wanted: Wanted
    key: Key
    owner: OwnerReference | None
    first: dict[str, Any]
    manifest: dict[str, Any]
    hash: str


def stamp(wanted: Wanted, owner: OwnerReference | None, *, hash_annotation: str) -> Stamped:
    """Put owner and hash on a copy that shares all but the metadata with the manifest."""
    kept = _without(wanted.manifest, wanted.initial)
    digest = _OURS + hashlib.sha256(_CANONICAL.encode(kept)).hexdigest()
    metadata = dict(wanted.manifest["metadata"])
    if not wanted.create_only:
        # An object that is never touched again is nobody's to compare.
        metadata["annotations"] = {**(metadata.get("annotations") or {}), hash_annotation: digest}
    reference = owner if wanted.owned or wanted.shared else None
    if reference is not None:
        metadata["ownerReferences"] = [_reference(reference, shared=wanted.shared)]
    first = {**wanted.manifest, "metadata": metadata}
    manifest = {**kept, "metadata": metadata} if wanted.initial else first
    return Stamped(wanted, wanted.key, reference, first, manifest, digest)


def _without(tree: dict[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """The tree without the member at a path, which is there."""
    if not path:
        return tree
    name, *below = path
    rest = {key: value for key, value in tree.items() if key != name}
    return {**rest, name: _without(tree[name], below)} if below else rest


def without_annotations(stamped: Stamped) -> Stamped:
    """The same object without a word on annotations."""
    metadata = {name: value for name, value in stamped.manifest["metadata"].items() if name != "annotations"}
    return replace(stamped, manifest={**stamped.manifest, "metadata": metadata})


def counts_annotations(resource: Resource) -> bool:
    """Whether to change an annotation of such an object is to change its generation."""
    return (resource.group, resource.kind) in _COUNTS_ANNOTATIONS


def of_another_operator(body: Body, hash_annotation: str) -> bool:
    """Whether the object was written last by another operator that uses the annotation."""
    annotated = body.metadata.annotations.get(hash_annotation)
    return annotated is not None and not annotated.startswith(_OURS)


def _reference(owner: OwnerReference, *, shared: bool) -> dict[str, Any]:
    # Said even when false: a former operator may have made one of the owners the controller.
    flag = not shared
    return {
        "apiVersion": owner.api_version,
        "kind": owner.kind,
        "name": owner.name,
        "uid": owner.uid,
        "controller": flag,
        "blockOwnerDeletion": flag,
    }


def fingerprint(body: Body) -> bytes:
    """A digest of what others could change of an object: all but its status and versions."""
    digest = hashlib.sha256()
    for attribute in _COMPARED.values():
        digest.update(getattr(body, attribute))
        digest.update(b"\0")
    meta = body.metadata
    digest.update(_CANONICAL.encode((meta.uid, meta.labels, meta.annotations, meta.owner_references, body.type)))
    return digest.digest()


def check_not_foreign(body: Body, stamped: Stamped, *, hash_annotation: str) -> None:
    """Raise Foreign unless the object is ours to change.

    Ours is what our owner controls, what nobody controls but carries the hash annotation (orphans, and what has no
    owner by design), or belongs to others in part and says what we would, and a shared object that another parent of
    the same kind owns.
    """
    meta, owner, wanted = body.metadata, stamped.owner, stamped.wanted
    controller = meta.controller
    if controller is not None:
        ours = owner is not None and (
            controller.uid == owner.uid or (wanted.shared and _of_same_kind(controller, owner))
        )
    else:
        owners = {reference.uid for reference in meta.owner_references}
        annotated = hash_annotation in meta.annotations
        agreed = bool(wanted.initial) and _satisfies_content(body, stamped)
        ours = owner is None or owner.uid in owners or annotated or agreed
    if not ours:
        raise Foreign(wanted.resource, stamped.key, controller)


def _of_same_kind(reference: OwnerReference, other: OwnerReference) -> bool:
    return is_of(reference, other.kind, other.api_version.rpartition("/")[0])


def satisfies(body: Body, stamped: Stamped) -> bool:
    """Whether the live object says all that the stamped manifest says.

    A manifest with members that a Body does not hold cannot be verified and never satisfies.
    """
    return _satisfies_content(body, stamped) and _satisfies_metadata(body, stamped.manifest["metadata"])


def _satisfies_content(body: Body, stamped: Stamped) -> bool:
    for member, value in stamped.manifest.items():
        if member in _UNCOMPARED:
            continue
        if member in _COMPARED:
            if not covers(body.tree(_COMPARED[member]) or None, value):
                return False
        elif member != "type" or value != body.type:
            return False
    return True


def _satisfies_metadata(body: Body, metadata: Mapping[str, Any]) -> bool:
    meta = body.metadata
    owners = {each.uid: each for each in meta.owner_references}
    for wanted in cast("list[dict[str, Any]]", metadata.get("ownerReferences") or []):
        there = owners.get(wanted["uid"])
        if there is None or there.controller != wanted["controller"]:
            return False
    return (
        (metadata.get("labels") or {}).items() <= meta.labels.items()
        and (metadata.get("annotations") or {}).items() <= meta.annotations.items()
        and set(metadata.get("finalizers") or ()) <= set(meta.finalizers)
    )
