"""Applying against a real API server: what its defaults, field ownership and validation do to us."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import msgspec
import pytest

from dynamo_operator.runtime.apply import Applier, Foreign, Wanted
from dynamo_operator.runtime.client import Client, RequestSample
from dynamo_operator.runtime.errors import Conflict
from dynamo_operator.runtime.informer import Informer
from dynamo_operator.runtime.kubeconfig import load_config
from dynamo_operator.runtime.owner import CONTROLLER_UID, controller_uid
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.views import Body, Metadata, OwnerReference
from tests.runtime.objects import apply_all
from tests.support.cluster import ControlPlane

pytestmark = pytest.mark.cluster

HASH = "nvidia.com/last-applied-hash"
CONFIG = Resource("", "v1", "ConfigMap", "configmaps")
SERVICE = Resource("", "v1", "Service", "services")
ACCOUNT = Resource("", "v1", "ServiceAccount", "serviceaccounts")
DEPLOYMENT = Resource("apps", "v1", "Deployment", "deployments")
INGRESS = Resource("networking.k8s.io", "v1", "Ingress", "ingresses")
ROLE = Resource("rbac.authorization.k8s.io", "v1", "Role", "roles")
BINDING = Resource("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings")
KINDS = (CONFIG, SERVICE, ACCOUNT, DEPLOYMENT, INGRESS, ROLE, BINDING)
WRITES = ("POST", "PUT", "PATCH", "DELETE")


class Operator:
    """One run of an operator: a client that counts, informers that synced, an applier."""

    def __init__(self, client: Client, namespace: str, writes: list[str], name: str) -> None:
        self.client, self.namespace, self.writes = client, namespace, writes
        indexes = {CONTROLLER_UID: controller_uid}
        self.informers = {kind: Informer(client, kind, Body, namespace=namespace, indexes=indexes) for kind in KINDS}
        self.applier = Applier(client, self.informers, field_manager=name, hash_annotation=HASH)

    async def apply(self, owner: OwnerReference | None, *wanted: Wanted) -> list[Any]:
        return await apply_all(self.applier, owner, wanted)

    async def read(self, resource: Resource, name: str) -> dict[str, Any]:
        return msgspec.json.decode(await self.client.get(resource, Key(self.namespace, name)))


class Bed:
    """Starts operators one after the other, and makes owners."""

    def __init__(self, stack: AsyncExitStack, plane: ControlPlane, namespace: str) -> None:
        self._stack, self._plane, self.namespace = stack, plane, namespace

    async def operator(self, name: str = "us") -> Operator:
        writes: list[str] = []

        def observe(sample: RequestSample) -> None:
            if sample.method in WRITES:
                writes.append(sample.method)

        config = load_config(str(self._plane.kubeconfig), os.environ)
        client = await self._stack.enter_async_context(Client(config, user_agent="test", observe=observe))
        operator = Operator(client, self.namespace, writes, name)
        for informer in operator.informers.values():
            self._stack.callback(asyncio.create_task(informer.run()).cancel)
        await asyncio.gather(*(informer.wait_synced(20) for informer in operator.informers.values()))
        return operator

    async def owner(self, operator: Operator, name: str) -> OwnerReference:
        manifest = self.manifest(CONFIG, name)
        answer = await operator.client.create(CONFIG, self.namespace, manifest, field_manager="user")
        return OwnerReference("v1", "ConfigMap", name, msgspec.json.decode(answer, type=Metadata).metadata.uid)

    def manifest(self, resource: Resource, name: str, **members: Any) -> dict[str, Any]:
        metadata = {"namespace": self.namespace, "name": name, "labels": {"app": name}}
        return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, **members}

    def deployment(self, name: str = "d", **spec: Any) -> dict[str, Any]:
        container = {
            "name": "main",
            "image": "example.com/image:1",
            "env": [{"name": "A", "value": ""}, {"name": "B", "value": "x"}],
            "ports": [{"containerPort": 8000, "name": "http"}],
            "resources": {"limits": {"cpu": "1000m", "memory": "2048Mi"}, "requests": {"cpu": 0.5}},
            "livenessProbe": {"httpGet": {"path": "/", "port": "http"}},
            "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],  # noqa: S108 - inside a pod
        }
        volumes = [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "1024Mi"}}]
        pod = {"containers": [container], "volumes": volumes, "hostNetwork": False, "nodeSelector": {}}
        template = {"metadata": {"labels": {"app": name}}, "spec": pod}
        body = {"replicas": 0, "selector": {"matchLabels": {"app": name}}, "template": template, **spec}
        return self.manifest(DEPLOYMENT, name, spec=body)

    def service(self, name: str = "s", **spec: Any) -> dict[str, Any]:
        ports = [{"name": "http", "port": 80, "targetPort": "http"}]
        return self.manifest(SERVICE, name, spec={"selector": {"app": name}, "ports": ports, **spec})

    def binding(self, role: str) -> dict[str, Any]:
        reference = {"apiGroup": ROLE.group, "kind": "Role", "name": role}
        subjects = [{"kind": "ServiceAccount", "name": "a", "namespace": self.namespace}]
        return self.manifest(BINDING, "b", roleRef=reference, subjects=subjects)

    def everything(self) -> list[Wanted]:
        path = {"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "s", "port": {"number": 80}}}}
        rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]
        return [
            Wanted(DEPLOYMENT, self.deployment()),
            Wanted(SERVICE, self.service()),
            Wanted(ACCOUNT, self.manifest(ACCOUNT, "a")),
            Wanted(ROLE, self.manifest(ROLE, "r", rules=rules)),
            Wanted(BINDING, self.binding("r")),
            Wanted(CONFIG, self.manifest(CONFIG, "c", data={"key": "value", "empty": ""})),
            Wanted(INGRESS, self.manifest(INGRESS, "i", spec={"rules": [{"host": "h.x", "http": {"paths": [path]}}]})),
        ]


@pytest.fixture
async def bed(control_plane: ControlPlane, namespace: str) -> AsyncIterator[Bed]:
    async with AsyncExitStack() as stack:
        yield Bed(stack, control_plane, namespace)


async def test_applied_twice_and_after_a_restart_nothing_is_written(bed: Bed) -> None:
    first = await bed.operator()
    owner = await bed.owner(first, "graph")
    created = await first.apply(owner, *bed.everything())
    assert {each.action for each in created} == {"created"}
    writes = len(first.writes)
    again = await first.apply(owner, *bed.everything())
    assert ({each.action for each in again}, len(first.writes)) == ({"unchanged"}, writes)
    second = await bed.operator()
    restarted = await second.apply(owner, *bed.everything())
    assert ([each.wanted.resource.kind for each in restarted if each.action != "unchanged"], second.writes) == ([], [])


@pytest.mark.parametrize(
    ("resource", "name", "patch"),
    [
        pytest.param(DEPLOYMENT, "d", {"spec": {"replicas": 1}}, id="the spec of a Deployment"),
        pytest.param(SERVICE, "s", {"spec": {"selector": {"app": "x"}}}, id="the spec of a Service"),
        pytest.param(ACCOUNT, "a", {"metadata": {"labels": {"app": "x"}}}, id="a label"),
        pytest.param(ROLE, "r", {"rules": []}, id="the rules of a Role"),
        pytest.param(CONFIG, "c", {"data": {"key": "x"}}, id="the data of a ConfigMap"),
        pytest.param(CONFIG, "c", {"metadata": {"ownerReferences": None}}, id="the owner"),
        pytest.param(BINDING, "b", {"subjects": []}, id="the subjects of a RoleBinding"),
    ],
)
async def test_drift_is_repaired(bed: Bed, resource: Resource, name: str, patch: dict[str, Any]) -> None:
    operator = await bed.operator()
    owner = await bed.owner(operator, "graph")
    await operator.apply(owner, *bed.everything())
    before = await operator.read(resource, name)
    key = Key(bed.namespace, name)
    operator.informers[resource].observe(
        await operator.client.merge_patch(resource, key, patch, field_manager="somebody")
    )
    actions = {each.wanted.resource: each.action for each in await operator.apply(owner, *bed.everything())}
    after = await operator.read(resource, name)
    assert actions[resource] == "updated"
    for tree in (before, after):
        for member in ("resourceVersion", "generation", "managedFields"):
            tree["metadata"].pop(member, None)
        tree.pop("status", None)
    assert after == before


async def test_former_operator_made_it_unwanted_fields_go_and_no_rollout_starts(bed: Bed) -> None:
    operator = await bed.operator()
    owner = await bed.owner(operator, "graph")
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "graph", "uid": owner.uid, "controller": True}
    theirs = bed.deployment()
    theirs["metadata"] |= {
        "annotations": {HASH: "theirs", "nvidia.com/last-applied-generation": "1"},
        "labels": {"app": "d", "stale": "x"},
        "ownerReferences": [reference | {"blockOwnerDeletion": True}],
    }
    answer = await operator.client.create(DEPLOYMENT, bed.namespace, theirs, field_manager="manager")
    operator.informers[DEPLOYMENT].observe(answer)
    [applied] = await operator.apply(owner, Wanted(DEPLOYMENT, bed.deployment()))
    after = await operator.read(DEPLOYMENT, "d")
    before = msgspec.json.decode(answer)
    assert (applied.action, after["spec"]) == ("updated", before["spec"])
    assert after["metadata"]["labels"] == {"app": "d"}
    # The generation of a Deployment counts changes of annotations, so those of the former operator stay.
    assert after["metadata"]["generation"] == before["metadata"]["generation"]
    assert theirs["metadata"]["annotations"].items() <= after["metadata"]["annotations"].items()
    fewer = bed.deployment()
    del fewer["spec"]["template"]["spec"]["volumes"], fewer["spec"]["template"]["spec"]["containers"][0]["volumeMounts"]
    await operator.apply(owner, Wanted(DEPLOYMENT, fewer))
    changed = await operator.read(DEPLOYMENT, "d")
    assert "volumes" not in changed["spec"]["template"]["spec"]
    # With the first change of ours nothing of the former operator is left.
    assert "nvidia.com/last-applied-generation" not in changed["metadata"]["annotations"]
    assert "manager" not in {each["manager"] for each in changed["metadata"]["managedFields"]}


@pytest.mark.parametrize("seen", [True, False])
async def test_foreign_object_is_refused_whether_it_was_seen_or_not(bed: Bed, *, seen: bool) -> None:
    operator = await bed.operator()
    owner, other = await bed.owner(operator, "graph"), await bed.owner(operator, "other")
    stranger = await bed.operator("them")
    theirs = bed.service(selector={"app": "theirs"})
    await stranger.apply(other, Wanted(SERVICE, theirs))
    if seen:
        operator.informers[SERVICE].observe(await operator.client.get(SERVICE, Key(bed.namespace, "s")))
    else:
        operator.informers[SERVICE].forget(Key(bed.namespace, "s"), "")
    with pytest.raises(Foreign):
        await operator.apply(owner, Wanted(SERVICE, bed.service()))
    assert (await operator.read(SERVICE, "s"))["spec"]["selector"] == {"app": "theirs"}


async def test_shared_object_lives_as_long_as_one_owner_uses_it(bed: Bed) -> None:
    operator = await bed.operator()
    one, two = await bed.owner(operator, "one"), await bed.owner(operator, "two")
    wanted = Wanted(SERVICE, bed.service(clusterIP="None"), shared=True)
    key = Key(bed.namespace, "s")
    for owner in (one, two, one, two):
        await operator.apply(owner, wanted)
    assert len(operator.writes) == 4
    owners = (await operator.read(SERVICE, "s"))["metadata"]["ownerReferences"]
    assert [(each["name"], each.get("controller", False)) for each in owners] == [("one", False), ("two", False)]
    await operator.applier.release_shared(SERVICE, key, one.uid)
    left = await operator.read(SERVICE, "s")
    assert [each["name"] for each in left["metadata"]["ownerReferences"]] == ["two"]
    assert left["spec"]["ports"][0]["port"] == 80
    await operator.applier.release_shared(SERVICE, key, two.uid)
    assert operator.informers[SERVICE].get(key) is None


async def test_prune_takes_what_is_unwanted_but_not_its_successor(bed: Bed) -> None:
    operator = await bed.operator()
    owner = await bed.owner(operator, "graph")
    await operator.apply(owner, *(Wanted(SERVICE, bed.service(name)) for name in ("keep", "drop", "new")))
    key = Key(bed.namespace, "new")
    former = (await operator.read(SERVICE, "new"))["metadata"]["uid"]
    await operator.client.delete(SERVICE, key)
    await operator.client.create(SERVICE, bed.namespace, bed.service("new"), field_manager="user")
    with pytest.raises(Conflict):
        await operator.client.delete(SERVICE, key, uid=former)
    gone = await operator.applier.prune(owner.uid, [SERVICE, DEPLOYMENT], {(SERVICE, Key(bed.namespace, "keep"))})
    assert gone == [(SERVICE, Key(bed.namespace, "drop"))]
    assert (await operator.read(SERVICE, "new"))["metadata"]["name"] == "new"


async def test_role_of_a_binding_changes_it_is_made_anew(bed: Bed) -> None:
    operator = await bed.operator()
    owner = await bed.owner(operator, "graph")
    for role in ("r", "other"):
        await operator.apply(owner, Wanted(BINDING, bed.binding(role), recreate=True))
    assert (await operator.read(BINDING, "b"))["roleRef"]["name"] == "other"


async def test_status_is_written_as_a_difference(bed: Bed) -> None:
    operator = await bed.operator()
    await operator.apply(None, Wanted(DEPLOYMENT, bed.deployment(), owned=False))
    key = Key(bed.namespace, "d")
    body = await operator.applier.write_status(DEPLOYMENT, key, {}, {"observedGeneration": 1, "replicas": 0})
    assert body.tree("status")["observedGeneration"] == 1
