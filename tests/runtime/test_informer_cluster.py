"""The client, informers and capabilities against a real API server."""

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any

import pytest

from dynamo_operator.runtime import errors
from dynamo_operator.runtime.capabilities import DEFINITIONS, Capabilities
from dynamo_operator.runtime.client import Client
from dynamo_operator.runtime.informer import Change, Informer
from dynamo_operator.runtime.kubeconfig import load_config
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.views import Body, Metadata
from tests.support.cluster import ControlPlane
from tests.support.peer import eventually

pytestmark = pytest.mark.cluster

CONFIG_MAPS = Resource("", "v1", "ConfigMap", "configmaps")
MANAGER = "runtime-test"


@pytest.fixture
async def client(control_plane: ControlPlane) -> AsyncIterator[Client]:
    config = load_config(str(control_plane.kubeconfig), os.environ)
    async with Client(config, user_agent="runtime-test") as made:
        yield made


@pytest.fixture
async def informer(client: Client, namespace: str) -> AsyncIterator[Informer[Body]]:
    made = Informer(client, CONFIG_MAPS, Body, namespace=namespace, field_selector="metadata.name!=kube-root-ca.crt")
    task = asyncio.create_task(made.run())
    await made.wait_synced(20)
    yield made
    task.cancel()
    await asyncio.wait([task])


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


async def test_a_life_seen_through_an_informer(client: Client, informer: Informer[Body], namespace: str) -> None:
    key = Key(namespace, "a")
    seen: list[Change[Body]] = []
    informer.subscribe(seen.append)
    await client.create(CONFIG_MAPS, namespace, config_map("a", x="1"), field_manager=MANAGER)
    await eventually(lambda: informer.get(key))
    await client.apply(CONFIG_MAPS, key, config_map("a", x="2"), field_manager=MANAGER)
    await client.merge_patch(CONFIG_MAPS, key, {"data": {"y": "3"}}, field_manager=MANAGER)
    patch = [{"op": "add", "path": "/data/z", "value": "4"}]
    informer.observe(await client.json_patch(CONFIG_MAPS, key, patch, field_manager=MANAGER))
    body = informer.get(key)
    assert body is not None
    assert body.tree("data") == {"x": "2", "y": "3", "z": "4"}
    await client.delete(CONFIG_MAPS, key, uid=body.metadata.uid)
    informer.forget(key, body.metadata.uid)
    await client.apply(CONFIG_MAPS, key, config_map("a", x="5"), field_manager=MANAGER)
    await eventually(lambda: (found := informer.get(key)) and found.tree("data") == {"x": "5"})
    assert [(change.old is None, change.new is None) for change in seen if None in (change.old, change.new)] == [
        (True, False), (False, True), (True, False),
    ]  # fmt: skip


async def test_refusals_have_types(client: Client, namespace: str) -> None:
    key = Key(namespace, "a")
    with pytest.raises(errors.NotFound):
        await client.get(CONFIG_MAPS, key)
    await client.delete(CONFIG_MAPS, key)
    await client.create(CONFIG_MAPS, namespace, config_map("a"), field_manager=MANAGER)
    with pytest.raises(errors.AlreadyExists):
        await client.create(CONFIG_MAPS, namespace, config_map("a"), field_manager=MANAGER)
    with pytest.raises(errors.Conflict):
        await client.delete(CONFIG_MAPS, key, uid="another")
    with pytest.raises(errors.Invalid) as caught:
        await client.apply(CONFIG_MAPS, key, config_map("a", **{"no key": "x"}), field_manager=MANAGER)
    assert caught.value.causes[0].field == "data[no key]"
    with pytest.raises(errors.BadRequest):
        await client.apply(CONFIG_MAPS, key, b"[", field_manager=MANAGER)


async def test_pages_and_metadata_of_one_snapshot(client: Client, namespace: str) -> None:
    for number in range(5):
        await client.create(CONFIG_MAPS, namespace, config_map(f"m{number}", x="1"), field_manager=MANAGER)
    options: dict[str, Any] = {"namespace": namespace, "metadata_only": True}
    pages = [page async for page in client.list_pages(CONFIG_MAPS, limit=2, **options)]
    assert len(pages) >= 3
    assert all(b'"PartialObjectMetadata' in page and b'"data"' not in page for page in pages)


async def test_a_watch_that_the_server_ends_is_resumed(client: Client, namespace: str) -> None:
    events = client.watch(
        CONFIG_MAPS, namespace=namespace, resource_version="0", timeout_seconds=1, inactivity_seconds=10
    )
    assert all(b'"type"' in line for line in [line async for line in events])


async def test_definitions_are_followed(client: Client, control_plane: ControlPlane) -> None:
    group = f"g{os.getpid()}.example.com"
    key = Key("", f"things.{group}")
    capabilities = Capabilities(client, {"thing": (group, "things"), "deployments": ("apps", "deployments")})
    task = asyncio.create_task(capabilities.run())
    await capabilities.wait_synced(20)
    assert capabilities.version("deployments") == "v1"
    assert not capabilities.offers("thing")
    await client.apply(DEFINITIONS, key, definition(key.name, group), field_manager=MANAGER)
    await eventually(lambda: capabilities.version("thing") == "v1", seconds=30)
    await client.delete(DEFINITIONS, key)
    await eventually(lambda: not capabilities.offers("thing"), seconds=30)
    task.cancel()
    await asyncio.wait([task])


def definition(name: str, group: str) -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"type": "object"}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }


async def test_metadata_of_everything_in_all_namespaces(client: Client) -> None:
    informer = Informer(client, DEFINITIONS, Metadata, metadata_only=True)
    task = asyncio.create_task(informer.run())
    await informer.wait_synced(20)
    assert all(item.metadata.namespace == "" for item in informer.values())
    task.cancel()
    await asyncio.wait([task])
