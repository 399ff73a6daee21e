"""Copies the SSH key pair of the installation into the namespaces whose graphs need it (workloads.md 11).

Only metadata of these Secrets is held in memory. A Secret of that name which is not our copy is left alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from dynamo_operator.controllers.cluster import FIELD_MANAGER, ChildError, Cluster
from dynamo_operator.controllers.resources import GRAPHS, SECRETS
from dynamo_operator.domain.graph import Graph
from dynamo_operator.domain.labels import APP_MANAGED_BY, COPIED_VERSION, OPERATOR
from dynamo_operator.render.ssh_key import needs_ssh_key
from dynamo_operator.runtime.apply import Wanted
from dynamo_operator.runtime.errors import AlreadyExists, ApiError
from dynamo_operator.runtime.informer import Change
from dynamo_operator.runtime.resource import Key
from dynamo_operator.runtime.views import Metadata, ObjectMeta


class _KeyPair(msgspec.Struct):
    metadata: ObjectMeta = ObjectMeta()
    type: str = ""
    data: dict[str, str] = {}


_DECODER = msgspec.json.Decoder(_KeyPair)


async def provide_ssh_key(cluster: Cluster, graph: Graph) -> None:
    """See to it that the graph's namespace has the key pair if it needs one. Raises ChildError."""
    name = cluster.site.mpi_secret_name
    copy = cluster.ssh_secrets.get(Key(graph.namespace, name))
    if not name or not needs_ssh_key(graph) or (copy is not None and not _outdated(cluster, copy)):
        return
    source = await _load_source(cluster, graph.namespace)
    manifest = _manifest(source, Key(graph.namespace, name))
    try:
        if copy is None:
            await cluster.client.create(SECRETS, graph.namespace, manifest, field_manager=FIELD_MANAGER)
        else:
            await _refresh(cluster, copy, manifest)
    except AlreadyExists:
        return  # made since the cache was read
    except ApiError as error:
        raise _failed("failed to create replica", manifest, error) from error


def graphs_of_key(cluster: Cluster, change: Change[Metadata]) -> Iterable[Key]:
    """Mapper: all graphs when the installation's key pair changed, those of the namespace when a copy is gone."""
    graphs = cluster.informers[GRAPHS]
    if change.key == _source_key(cluster):
        return tuple(body.metadata.key for body in graphs.values())
    if change.new is None:
        return tuple(body.metadata.key for body in graphs.by("namespace", change.key.namespace))
    return ()


def _source_key(cluster: Cluster) -> Key:
    return Key(cluster.site.mpi_secret_namespace, cluster.site.mpi_secret_name)


def _outdated(cluster: Cluster, copy: Metadata) -> bool:
    """True for a copy of ours that differs from what was copied; a source that cannot be seen is not compared."""
    source = cluster.ssh_secrets.get(_source_key(cluster))
    if source is None or copy.metadata.labels.get(APP_MANAGED_BY) != OPERATOR:
        return False
    return copy.metadata.annotations.get(COPIED_VERSION) != source.metadata.resource_version


async def _load_source(cluster: Cluster, namespace: str) -> _KeyPair:
    key = _source_key(cluster)
    try:
        return _DECODER.decode(await cluster.client.get(SECRETS, key))
    except ApiError as error:
        manifest = _manifest(_KeyPair(), Key(namespace, key.name))
        raise _failed("error getting source secret", manifest, error) from error


def _manifest(source: _KeyPair, key: Key) -> dict[str, Any]:
    metadata = {
        "name": key.name,
        "namespace": key.namespace,
        "labels": {APP_MANAGED_BY: OPERATOR},
        "annotations": {COPIED_VERSION: source.metadata.resource_version},
    }
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": source.type, "data": source.data}


async def _refresh(cluster: Cluster, copy: Metadata, manifest: dict[str, Any]) -> None:
    annotations = {**copy.metadata.annotations, **manifest["metadata"]["annotations"]}
    operations = [
        {"op": "add", "path": "/data", "value": manifest["data"]},
        {"op": "add", "path": "/metadata/annotations", "value": annotations},
        # A replaced version is a precondition: the API server answers 409 when it is not the newest.
        {"op": "replace", "path": "/metadata/resourceVersion", "value": copy.metadata.resource_version},
    ]
    body = await cluster.client.json_patch(SECRETS, copy.metadata.key, operations, field_manager=FIELD_MANAGER)
    cluster.ssh_secrets.observe(body)


def _failed(what: str, manifest: dict[str, Any], error: ApiError) -> ChildError:
    return ChildError(Wanted(SECRETS, manifest), error, said=f"{what}: {error.message}")
