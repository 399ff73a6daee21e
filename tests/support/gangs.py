"""PodCliqueSets, and an API server and a kubelet in miniature to try the stand-in for Grove on."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec
from cluster.grove import facts
from cluster.grove.admission import defaulted
from cluster.grove.facts import Gang, Seen
from cluster.grove.steps import Change, Create, Report, Step, next_steps

from dynamo_operator.runtime.resource import Key, Resource

Tree = dict[str, Any]

BORN = datetime(2026, 1, 1, tzinfo=UTC)


def clique(name: str, *, labels: Tree | None = None, annotations: Tree | None = None, **spec: Any) -> Tree:
    """A clique template."""
    pod = {"containers": [{"name": "main", "image": "a"}]}
    whole = {"roleName": name, "replicas": 1, "minAvailable": 1, "podSpec": pod, **spec}
    return {"name": name, "labels": labels or {}, "annotations": annotations or {}, "spec": whole}


def gang_of(*cliques: Tree, name: str = "g", **template: Any) -> Tree:
    """A PodCliqueSet, complete."""
    spec = {"replicas": 1, "template": {"cliques": list(cliques), **template}}
    return defaulted({"metadata": {"name": name, "namespace": "n"}, "spec": spec})


def group(name: str = "w", **members: Any) -> Tree:
    """A scaling group of leader and worker."""
    return {"name": name, "cliqueNames": [f"{name}-ldr", f"{name}-wkr"], "replicas": 1, "minAvailable": 1, **members}


PAIR = (clique("w-ldr"), clique("w-wkr"))


@dataclass
class World:
    """An API server and a kubelet in miniature: takes steps, and makes pods work when told."""

    parent: Tree
    now: datetime = BORN
    objects: dict[tuple[Resource, str], Tree] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    made: int = 0

    def __post_init__(self) -> None:
        self._store(facts.SETS, self.parent)

    def _store(self, resource: Resource, manifest: Tree) -> None:
        self.made += 1
        metadata = manifest["metadata"]
        name = metadata.get("name") or f"{metadata['generateName']}{self.made:03d}"
        stamps = {"name": name, "uid": f"u{self.made}", "generation": 1, "creationTimestamp": self.now.isoformat()}
        self.objects[(resource, name)] = copy.deepcopy({**manifest, "metadata": {**metadata, **stamps}})

    def seen(self, resource: Resource) -> list[Seen]:
        return [msgspec.convert(tree, Seen) for (kind, _), tree in self.objects.items() if kind is resource]

    def gang(self) -> Gang:
        parent = next(iter(self.seen(facts.SETS)), None)
        children = (self.seen(kind) for kind in (facts.CLIQUES, facts.GROUPS, facts.PODS, facts.SERVICES))
        return Gang(Key("n", "g"), parent, *children, self.refused)

    def settle(self) -> None:
        """Do all that can be done now."""
        for _ in range(50):
            steps = next_steps(self.gang(), self.now)
            if not steps:
                return
            for step in steps:
                self._take(step)
        raise AssertionError(f"never at rest: {steps}")

    def _take(self, step: Step) -> None:
        if isinstance(step, Create):
            self._store(step.resource, step.manifest)
            return
        place = (step.resource, step.target.name)
        tree = self.objects[place]
        if isinstance(step, Report):
            tree["status"] = step.status
        elif isinstance(step, Change):
            for operation in step.operations:
                _, *path, last = operation["path"].split("/")
                inner = tree
                for member in path:
                    inner = inner[member]
                inner.pop(last, None) if operation["op"] == "remove" else inner.update({last: operation["value"]})
        elif tree["metadata"].get("finalizers"):
            tree["metadata"]["deletionTimestamp"] = self.now.isoformat()
        else:
            del self.objects[place]
        if tree["metadata"].get("deletionTimestamp") and not tree["metadata"].get("finalizers"):
            self.objects.pop(place, None)

    def work(self, *names: str) -> None:
        """Let pods become ready, all by default."""
        for (kind, _), tree in self.objects.items():
            if (
                kind is facts.PODS
                and "schedulingGates" not in tree["spec"]
                and (not names or tree["spec"]["hostname"] in names)
            ):
                true = [{"type": each, "status": "True"} for each in ("PodScheduled", "Ready")]
                tree["status"] = {"phase": "Running", "conditions": true}

    def edit(self, resource: Resource, name: str, change: Callable[[Tree], object]) -> None:
        tree = self.objects[(resource, name)]
        change(tree["spec"])
        tree["metadata"]["generation"] += 1

    def names(self, resource: Resource) -> set[str]:
        return {name for kind, name in self.objects if kind is resource}

    def hosts(self) -> set[str]:
        return {tree["spec"]["hostname"] for (kind, _), tree in self.objects.items() if kind is facts.PODS}

    def images(self) -> list[str]:
        pods = [tree for (kind, _), tree in self.objects.items() if kind is facts.PODS]
        return sorted(pod["spec"]["containers"][0]["image"] for pod in pods)

    def status(self, resource: Resource, name: str) -> Tree:
        return self.objects[(resource, name)]["status"]


def ready_world(*cliques: Tree, **template: Any) -> World:
    world = World(gang_of(*cliques, **template))
    world.settle()
    world.work()
    world.settle()
    return world


def use_image(place: int, image: str) -> Callable[[Tree], object]:
    def change(spec: Tree) -> None:
        spec["template"]["cliques"][place]["spec"]["podSpec"]["containers"][0]["image"] = image

    return change
