"""Objects and a client double for tests of the applier: it stores what is applied and counts requests."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec

from dynamo_operator.runtime.apply import Applied, Applier, OnAction, Wanted
from dynamo_operator.runtime.errors import AlreadyExists, NotFound
from dynamo_operator.runtime.informer import Informer
from dynamo_operator.runtime.owner import CONTROLLER_UID, controller_uid
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.views import Body, OwnerReference

HASH = "example.com/hash"
SERVICE = Resource("", "v1", "Service", "services")
CONFIG = Resource("", "v1", "ConfigMap", "configmaps")
GRAPH = OwnerReference("nvidia.com/v1alpha1", "Graph", "g", "uid-g", controller=True, block_owner_deletion=True)
OTHER = OwnerReference("nvidia.com/v1alpha1", "Graph", "h", "uid-h")


def service(name: str = "s", **spec: Any) -> dict[str, Any]:
    """A Service of namespace n."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"namespace": "n", "name": name, "labels": {"app": name}},
        "spec": {"ports": [{"port": 80}], **spec},
    }


async def apply_all(
    applier: Applier, owner: OwnerReference | None, wanted: Sequence[Wanted], *, on_action: OnAction | None = None
) -> list[Applied]:
    """Apply, and raise the first error when all are through."""
    outcomes = await applier.apply_each(owner, wanted, on_action=on_action)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return [outcome for outcome in outcomes if isinstance(outcome, Applied)]


class Api:
    """Holds objects by key; ``failures`` are raised by the next calls of that verb, in order."""

    def __init__(self) -> None:
        self.objects: dict[Key, dict[str, Any]] = {}
        self.calls: list[tuple[Any, ...]] = []
        self.failures: dict[str, list[Exception]] = {}
        self.version = 100

    def put(self, key: Key, manifest: dict[str, Any], **meta: Any) -> bytes:
        """Store an object as the API server would."""
        before = self.objects.get(key, {}).get("metadata", {})
        kept = {"uid": before.get("uid", f"uid-{self.version}")}
        metadata = {**kept, **manifest["metadata"], **meta}
        same = {**metadata, "resourceVersion": before.get("resourceVersion")} == before
        if not (same and self.objects[key].get("spec") == manifest.get("spec")):
            self.version += 1
        metadata["resourceVersion"] = str(self.version)
        self.objects[key] = {**manifest, "metadata": metadata}
        return msgspec.json.encode(self.objects[key])

    def _called(self, verb: str, *details: Any) -> None:
        self.calls.append((verb, *details))
        if self.failures.get(verb):
            raise self.failures[verb].pop(0)

    @property
    def verbs(self) -> list[str]:
        """What was asked for since the start."""
        return [call[0] for call in self.calls]

    async def get(self, resource: Resource, key: Key) -> bytes:
        self._called("get", key)
        if key not in self.objects:
            raise NotFound(status=404)
        return msgspec.json.encode(self.objects[key])

    async def create(
        self, resource: Resource, namespace: str, manifest: dict[str, Any], *, field_manager: str
    ) -> bytes:
        self._called("create", manifest)
        if Key(namespace, manifest["metadata"]["name"]) in self.objects:
            raise AlreadyExists(status=409)
        return self.put(Key(namespace, manifest["metadata"]["name"]), manifest)

    async def apply(self, resource: Resource, key: Key, manifest: dict[str, Any], **how: Any) -> bytes:
        await asyncio.sleep(0)
        self._called("apply", key, how["field_manager"], how.get("force", True))
        return self.put(key, manifest)

    async def merge_patch(self, resource: Resource, key: Key, patch: dict[str, Any], **how: Any) -> bytes:
        self._called("merge_patch", patch, how.get("subresource", ""))
        return self.put(key, {**self.objects[key], **patch})

    async def json_patch(self, resource: Resource, key: Key, operations: Any, *, field_manager: str) -> bytes:
        self._called("json_patch", operations)
        return self.put(key, self.objects[key])

    async def delete(self, resource: Resource, key: Key, *, uid: str = "", propagation: str = "Background") -> None:
        self._called("delete", key, uid)
        self.objects.pop(key, None)


class Bed:
    """An applier over the double, with informers of Services and ConfigMaps; they see what has the labels."""

    def __init__(self, api: Api | None = None, labels: str = "") -> None:
        self.api = api or Api()
        indexes = {CONTROLLER_UID: controller_uid}
        self.informers = {
            resource: Informer(self.api, resource, Body, label_selector=labels, indexes=indexes)  # type: ignore[arg-type]
            for resource in (SERVICE, CONFIG)
        }
        for body in self.api.objects.values():
            self.see(body)
        self.applier = Applier(self.api, self.informers, field_manager="us", hash_annotation=HASH)  # type: ignore[arg-type]

    def see(self, body: dict[str, Any]) -> None:
        """Let the informer learn of an object."""
        self.informers[SERVICE].observe(msgspec.json.encode(body))

    def exists(self, manifest: dict[str, Any], **meta: Any) -> None:
        """An object that is there already."""
        metadata = manifest["metadata"]
        self.api.put(Key(metadata["namespace"], metadata["name"]), manifest, **meta)
        self.see(self.api.objects[Key(metadata["namespace"], metadata["name"])])
