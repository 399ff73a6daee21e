"""All that an operator makes of a graph, without what differs from run to run: fit for comparing bytes."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.support.bed import GRAPH, PLURALS, Bed

# Others make these, or they tell of the way and not of the end.
_LEFT_OUT = {"Event", "Pod"}
_OUR_MANAGER = "dynamo-operator"
_VOLATILE = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "selfLink")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_HASH = re.compile(r"ssa-[0-9a-f]{64}")


def dump(bed: Bed, name: str) -> dict[str, str]:
    """A graph and all that is named after it, as JSON text by kind and name; the graph's name reads $NAME.

    Of managed fields only those of our operator are there, of statuses only those of our own kinds.
    """
    found = [item for kind in PLURALS if kind not in _LEFT_OUT for item in bed.items(kind)]
    ours = [item for item in found if item["metadata"]["name"].startswith(name)]
    texts = {f"{item['kind']}/{item['metadata']['name']}": normalised(item, bed.namespace) for item in ours}
    return {key.replace(name, "$NAME"): text.replace(name, "$NAME") for key, text in texts.items()}


def versions(bed: Bed) -> dict[str, str]:
    """The resourceVersion of every object, events among them, by kind and name."""
    return {
        f"{kind}/{item['metadata']['name']}": item["metadata"]["resourceVersion"]
        for kind in PLURALS
        for item in bed.items(kind)
    }


def normalised(item: dict[str, Any], namespace: str) -> str:
    """An object without ids and versions; its namespace, times and hashes by name."""
    metadata = {key: value for key, value in item["metadata"].items() if key not in _VOLATILE}
    owned = {
        f"{each['manager']} {each['operation']} {each.get('subresource', '')}": each["fieldsV1"]
        for each in item["metadata"].get("managedFields", [])
        if each["manager"].startswith(_OUR_MANAGER)
    }
    tree = {**item, "metadata": metadata, "owned": owned}
    if not item["apiVersion"].startswith("nvidia.com/"):
        tree.pop("status", None)
    if item["kind"] == "Service" and tree["spec"].get("clusterIP") != "None":
        tree["spec"] = {key: value for key, value in tree["spec"].items() if key not in ("clusterIP", "clusterIPs")}
    text = json.dumps(tree, sort_keys=True, indent=1).replace(namespace, "$NS")
    for pattern, name in ((_TIME, "$TIME"), (_UID, "$UID"), (_HASH, "$HASH")):
        text = pattern.sub(name, text)
    return text


def owned_by(bed: Bed, name: str) -> set[str]:
    """Kind and name of everything below a graph, its children's children too."""
    items = [item for kind in PLURALS if kind not in _LEFT_OUT for item in bed.items(kind)]
    known = {item["metadata"]["uid"] for item in items if (item["kind"], item["metadata"]["name"]) == (GRAPH, name)}
    found: set[str] = set()
    for _ in range(2):
        below = [i for i in items if known & {owner["uid"] for owner in i["metadata"].get("ownerReferences", [])}]
        known |= {item["metadata"]["uid"] for item in below}
        found |= {f"{item['kind']}/{item['metadata']['name']}" for item in below}
    return found
