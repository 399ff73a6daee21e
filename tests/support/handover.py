"""What another operator leaves behind: objects written by plain creates and updates, with its marks on them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import yaml

from dynamo_operator.domain.labels import FINALIZER, LAST_APPLIED_HASH
from dynamo_operator.domain.site import Offers, Site
from dynamo_operator.offline.rendering import render_manifest
from tests.support.bed import COMPONENT, GRAPH, Bed
from tests.support.cluster import CHECKOUT
from tests.support.operator import CLUSTER_WIDE

RECORDED = CHECKOUT.parent / "shared" / "conformance" / "expected" / "plain"
"""Recordings of release 0.9, where they lie beside the checkout."""

FORMER = "manager"
"""The field manager of release 0.9."""

SUPERFLUOUS = "example.com/superfluous"
"""A label that only the former operator wants."""

_MARKS = {LAST_APPLIED_HASH: "0b5e8f6f4a", "nvidia.com/last-applied-generation": "1"}
_BLANKS = {"$HASH": "0b5e8f6f4a", "$GENERATION": "1", "$TIME": "2026-01-02T03:04:05Z", "$IP": "10.1.2.3"}
# What CLUSTER_WIDE means to rendering.
_SITE = Site(
    nats_address=CLUSTER_WIDE[3].partition("=")[2],
    etcd_address=CLUSTER_WIDE[4].partition("=")[2],
    planner_cluster_role="planner",
    epp_cluster_role="epp",
    offers=Offers(inference_pools=True),
)

Manifests = list[dict[str, Any]]


def recorded(case: str, namespace: str) -> Manifests:
    """The objects of a recording, of its first step where it has several."""
    text = (RECORDED / f"{case}.yaml").read_text().replace("$NS", namespace)
    for blank, value in _BLANKS.items():
        # Quoted, as neither a number nor a time is meant.
        text = text.replace(blank, f'"{value}"')
    found: Manifests = []
    for manifest in yaml.load_all(text, yaml.CSafeLoader):
        if manifest["kind"] != "Step":
            found.append(manifest)
        elif found:
            break
    return found


def rendered(graph: dict[str, Any], namespace: str) -> Manifests:
    """What the former operator would have made of a graph: what we make of it, its way."""
    parents = [{**graph, "metadata": {**graph["metadata"], "finalizers": [FINALIZER]}}]
    children = [
        _marked(one.child.manifest, parent=one.parent if one.child.owned or one.child.shared else "")
        for one in render_manifest(graph, _SITE, namespace=namespace)
    ]
    return [*parents, *children, *_debug_services(children)]


def left_behind(bed: Bed, manifests: Iterable[dict[str, Any]]) -> None:
    """Write the objects as the former operator did, owners first; one Service gets a label too many."""
    uids: dict[tuple[str, str], str] = {}
    for manifest in _owners_first(manifests):
        metadata = {**manifest["metadata"], "namespace": bed.namespace}
        owners = metadata.get("ownerReferences", [])
        metadata["ownerReferences"] = [each | {"uid": uids[(each["kind"], each["name"])]} for each in owners]
        if manifest["kind"] == "Service":
            metadata["labels"] = {**metadata.get("labels", {}), SUPERFLUOUS: "yes"}
        stored = bed.create({**manifest, "metadata": metadata}, manager=FORMER)
        uids[(manifest["kind"], metadata["name"])] = stored["metadata"]["uid"]
        if "status" in manifest:
            bed.replace({**stored, "status": _current(manifest["status"])}, "status", manager=FORMER)


def is_marked(manifest: dict[str, Any]) -> bool:
    """Whether the former operator marked an object as its own work."""
    return LAST_APPLIED_HASH in manifest["metadata"].get("annotations", {})


def still_owned(subject: dict[str, Any], manager: str) -> dict[str, Any]:
    """The fields that a manager owns of an object by plain updates, annotations aside."""
    owned: dict[str, Any] = {}
    for entry in subject["metadata"].get("managedFields", []):
        if (entry["manager"], entry["operation"], entry.get("subresource", "")) == (manager, "Update", ""):
            owned = json.loads(json.dumps(entry["fieldsV1"]))
            owned.get("f:metadata", {}).pop("f:annotations", None)
    return {path: below for path, below in owned.items() if below}


def _marked(manifest: dict[str, Any], *, parent: str) -> dict[str, Any]:
    metadata = {**manifest["metadata"]}
    if parent:
        kind, _, name = parent.partition(" ")
        metadata["annotations"] = {**metadata.get("annotations", {}), **_MARKS}
        metadata["ownerReferences"] = [
            {
                "apiVersion": "nvidia.com/v1alpha1",
                "kind": kind,
                "name": name.rpartition("/")[2],
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ]
    if manifest["kind"] == COMPONENT:
        metadata["finalizers"] = [FINALIZER]
    return {**manifest, "metadata": metadata}


def _debug_services(children: Manifests) -> Iterator[dict[str, Any]]:
    """The Services that the former operator made for everybody."""
    for child in children:
        if child["kind"] == "Service":
            for suffix in ("p", "d"):
                yield {**child, "metadata": {**child["metadata"], "name": f"{child['metadata']['name']}-{suffix}"}}


def _owners_first(manifests: Iterable[dict[str, Any]]) -> Manifests:
    depth = {GRAPH: 0, COMPONENT: 2}

    def rank(manifest: dict[str, Any]) -> int:
        owners = manifest["metadata"].get("ownerReferences", [])
        return depth.get(manifest["kind"], 3 if any(each["kind"] == COMPONENT for each in owners) else 1)

    return sorted(manifests, key=rank)


def _current(status: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(status).replace('"current"', "1").replace('"old"', "1")
    return json.loads(text)
