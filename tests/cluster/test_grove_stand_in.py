"""What stands for Grove on a local cluster: what it refuses, and how it gets from a set to pods."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from cluster.grove import facts
from cluster.grove.admission import defaulted, refusal_text, refusals
from cluster.grove.facts import Gang, Seen
from cluster.grove.steps import Change, Create, Report, Step, next_steps, waits_for

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


@pytest.mark.parametrize(
    ("given", "path", "wanted"),
    [
        pytest.param(clique("a", replicas=0), ("replicas",), 1, id="no replicas: one"),
        pytest.param({"name": "a", "spec": {"replicas": 3}}, ("minAvailable",), 3, id="no minimum: all"),
        pytest.param(clique("a"), ("podSpec", "restartPolicy"), "Always", id="no restart policy: always"),
        pytest.param(clique("a"), ("podSpec", "terminationGracePeriodSeconds"), 30, id="no grace period: 30 s"),
    ],
)
def test_what_is_left_out_of_a_clique(given: Tree, path: tuple[str, ...], wanted: object) -> None:
    found = gang_of(given)["spec"]["template"]["cliques"][0]["spec"]
    for member in path:
        found = found[member]
    assert found == wanted


def test_what_is_left_out_of_a_set() -> None:
    template = gang_of(*PAIR, podCliqueScalingGroups=[{"name": "w", "cliqueNames": ["w-ldr", "w-wkr"]}])["spec"][
        "template"
    ]
    assert template["terminationDelay"] == "4h0m0s"
    assert template["headlessServiceConfig"] == {"publishNotReadyAddresses": True}
    assert template["podCliqueScalingGroups"] == [group()]
    assert defaulted({"spec": {"template": template}})["spec"]["template"] == template


CLIQUES = "spec.template.cliques"
GROUPS = "spec.template.podCliqueScalingGroups"


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        pytest.param(gang_of(), f"{CLIQUES}: Required value: at least one PodClique must be defined", id="no clique"),
        pytest.param(
            gang_of(clique("my_worker")),
            f'{CLIQUES}.name: Invalid value: "my_worker": invalid PodCliqueTemplateSpec name, '
            "must be a valid DNS subdomain",
            id="a name that is none",
        ),
        pytest.param(
            gang_of(clique("a"), clique("a", roleName="b")), f'{CLIQUES}.name: Duplicate value: "a"', id="a name twice"
        ),
        pytest.param(
            gang_of(clique("a"), clique("b", roleName="a")),
            f'{CLIQUES}.roleName: Duplicate value: "a"',
            id="a role twice",
        ),
        pytest.param(
            gang_of(clique("a", minAvailable=2)),
            f"{CLIQUES}.spec.minAvailable: Invalid value: 2: minAvailable must not be greater than replicas",
            id="more needed than there are",
        ),
        pytest.param(
            gang_of(clique("a", replicas=-1, minAvailable=-1)),
            f"[{CLIQUES}.spec.replicas: Invalid value: -1: must be greater than 0, "
            f"{CLIQUES}.spec.minAvailable: Invalid value: -1: must be greater than 0]",
            id="less than none",
        ),
        pytest.param(
            gang_of(clique("a"), clique("b", podSpec={"schedulerName": "other"})),
            f'{CLIQUES}.spec.podSpec.schedulerName: Invalid value: ", other": '
            "the schedulerName for all pods have to be the same",
            id="two schedulers",
        ),
        pytest.param(
            gang_of(clique("a", podSpec={"nodeName": "one"})),
            f'{CLIQUES}.spec.podSpec.spec.nodeName: Invalid value: "one": must not be set',
            id="a node",
        ),
        pytest.param(
            gang_of(clique("a", labels={"x": "-"})), "a valid label must be an empty string", id="a label that is none"
        ),
        pytest.param(
            gang_of(*PAIR, podCliqueScalingGroups=[group(replicas=0)]),
            f"[{GROUPS}.replicas: Invalid value: 0: must be greater than 0, "
            f"{GROUPS}.minAvailable: Invalid value: 1: minAvailable must not be greater than replicas]",
            id="a group of none",
        ),
        pytest.param(
            gang_of(clique("a"), podCliqueScalingGroups=[group()]),
            f'{GROUPS}.cliqueNames: Invalid value: "w-ldr,w-wkr": unidentified PodClique names found',
            id="a group of unknown cliques",
        ),
        pytest.param(
            gang_of(clique("a", startsAfter=["b"]), cliqueStartupType="CliqueStartupTypeExplicit"),
            f'{CLIQUES}.startsAfter: Invalid value: "b": unknown clique names found',
            id="after an unknown clique",
        ),
        pytest.param(
            gang_of(
                clique("a", startsAfter=["b"]),
                clique("b", startsAfter=["a"]),
                cliqueStartupType="CliqueStartupTypeExplicit",
            ),
            "clique must not have circular dependencies",
            id="each after the other",
        ),
        pytest.param(
            gang_of(clique("a" * 40), name="longish"),
            f'[{CLIQUES}.name: Invalid value: "{"a" * 40}": combined resource name length 47 exceeds 45-character '
            "limit required for pod naming. Consider shortening: PodCliqueSet 'longish' or PodClique '",
            id="long names",
        ),
        pytest.param(
            gang_of(*PAIR, name="g" * 40, podCliqueScalingGroups=[group()]),
            f'[{GROUPS}.cliqueNames.name: Invalid value: "w-ldr": combined resource name length 46 exceeds',
            id="long names of a group",
        ),
    ],
)
def test_a_set_that_is_refused(new: Tree, reason: str) -> None:
    assert reason in refusal_text(refusals(new, None))


EXPLICIT = {"cliqueStartupType": "CliqueStartupTypeExplicit"}


@pytest.mark.parametrize(
    ("new", "old", "reason"),
    [
        pytest.param(
            gang_of(clique("a"), clique("b")),
            gang_of(clique("a")),
            f"[{CLIQUES}: Forbidden: not allowed to change clique composition, {CLIQUES}.name: Forbidden: "
            "not allowed to change clique composition, new clique name 'b' is not allowed]",
            id="one more clique",
        ),
        pytest.param(
            gang_of(clique("a")),
            gang_of(clique("a"), clique("b")),
            f"{CLIQUES}: Forbidden: not allowed to change clique composition",
            id="one clique less",
        ),
        pytest.param(
            gang_of(clique("a"), clique("b"), **EXPLICIT),
            gang_of(clique("b"), clique("a"), **EXPLICIT),
            "clique order cannot be changed when StartupType is InOrder or Explicit.",
            id="another order",
        ),
        pytest.param(
            gang_of(clique("a", replicas=3, minAvailable=2)),
            gang_of(clique("a", replicas=3)),
            f"{CLIQUES}.spec.minAvailable: Invalid value: 2: field is immutable",
            id="another minimum",
        ),
        pytest.param(
            gang_of(clique("a"), **EXPLICIT),
            gang_of(clique("a")),
            'cliqueStartupType: Invalid value: "CliqueStartupTypeExplicit": field is immutable',
            id="another way to start",
        ),
        pytest.param(
            gang_of(*PAIR, podCliqueScalingGroups=[group()]),
            gang_of(*PAIR),
            f"{GROUPS}: Forbidden: not allowed to add or remove PodCliqueScalingGroupConfigs",
            id="one more group",
        ),
        pytest.param(
            gang_of(*PAIR, podCliqueScalingGroups=[group(replicas=2, minAvailable=2)]),
            gang_of(*PAIR, podCliqueScalingGroups=[group(replicas=2)]),
            f"{GROUPS}.minAvailable: Invalid value: 2: field is immutable",
            id="another minimum of a group",
        ),
        pytest.param(
            gang_of(*PAIR, podCliqueScalingGroups=[{**group(), "name": "v"}]),
            gang_of(*PAIR, podCliqueScalingGroups=[group()]),
            "new scaling group name 'v' is not allowed",
            id="another group",
        ),
    ],
)
def test_a_change_that_is_refused(new: Tree, old: Tree, reason: str) -> None:
    assert reason in refusal_text(refusals(new, old))


def test_other_changes_are_fine() -> None:
    old = gang_of(clique("a"), clique("b"))
    new = gang_of(clique("b", replicas=2), clique("a", podSpec={"containers": []}))
    assert refusals(old, None) == refusals(new, old) == []


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
                inner[last] = operation["value"]
        elif tree["metadata"].get("finalizers"):
            tree["metadata"]["deletionTimestamp"] = self.now.isoformat()
        else:
            del self.objects[place]
        if tree["metadata"].get("deletionTimestamp") and not tree["metadata"].get("finalizers"):
            self.objects.pop(place, None)

    def work(self, *names: str) -> None:
        """Let pods become ready, all by default."""
        for (kind, _), tree in self.objects.items():
            if kind is facts.PODS and (not names or tree["spec"]["hostname"] in names):
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


def test_a_set_becomes_cliques_pods_and_a_service() -> None:
    world = World(gang_of(clique("a", replicas=2), clique("b")))
    world.settle()
    assert world.names(facts.CLIQUES) == {"g-0-a", "g-0-b"}
    assert world.names(facts.SERVICES) == {"g-0"}
    assert world.hosts() == {"g-0-a-0", "g-0-a-1", "g-0-b-0"}
    assert world.status(facts.CLIQUES, "g-0-a")["readyReplicas"] == 0
    world.work()
    world.settle()
    told = world.status(facts.CLIQUES, "g-0-a")
    assert {told[name] for name in ("replicas", "readyReplicas", "updatedReplicas")} == {2}
    assert told["observedGeneration"] == 1
    assert world.status(facts.SETS, "g")["availableReplicas"] == 1


def test_pods_know_where_they_are() -> None:
    world = ready_world(*PAIR, podCliqueScalingGroups=[group(replicas=2)])
    pod = next(pod for pod in world.seen(facts.PODS) if pod.spec["hostname"] == "g-0-w-1-w-wkr-0")
    told = {each["name"]: each["value"] for each in pod.spec["containers"][0]["env"]}
    assert told == {
        "GROVE_PCS_NAME": "g",
        "GROVE_PCS_INDEX": "0",
        "GROVE_PCLQ_NAME": "g-0-w-1-w-wkr",
        "GROVE_PCLQ_POD_INDEX": "0",
        "GROVE_HEADLESS_SERVICE": "g-0.n.svc.cluster.local",
        "GROVE_PCSG_NAME": "g-0-w",
        "GROVE_PCSG_INDEX": "1",
        "GROVE_PCSG_TEMPLATE_NUM_PODS": "2",
    }
    assert pod.spec["subdomain"] == "g-0"


def test_cliques_by_themselves_are_rolled_pod_by_pod() -> None:
    world = ready_world(clique("a", replicas=2), clique("b"))
    world.edit(facts.SETS, "g", use_image(0, "new"))
    world.settle()
    assert world.images() == ["a", "a", "new"]
    assert world.status(facts.CLIQUES, "g-0-a")["updatedReplicas"] == 1
    # What is not rolled is of the newest generation at once.
    newest = world.status(facts.SETS, "g")["currentGenerationHash"]
    assert world.status(facts.CLIQUES, "g-0-b")["currentPodCliqueSetGenerationHash"] == newest
    assert world.status(facts.CLIQUES, "g-0-a")["currentPodCliqueSetGenerationHash"] != newest
    for _ in range(2):
        world.work()
        world.settle()
    assert world.images() == ["a", "new", "new"]
    assert world.status(facts.CLIQUES, "g-0-a")["currentPodCliqueSetGenerationHash"] == newest


def test_groups_are_rolled_replica_by_replica() -> None:
    world = ready_world(*PAIR, podCliqueScalingGroups=[group(replicas=2)])
    assert world.status(facts.GROUPS, "g-0-w")["availableReplicas"] == 2
    world.edit(facts.SETS, "g", use_image(0, "new"))
    world.settle()
    assert world.images() == ["a", "a", "a", "new"]
    told = world.status(facts.GROUPS, "g-0-w")
    assert (told["availableReplicas"], told["updatedReplicas"]) == (1, 1)
    for _ in range(2):
        world.work()
        world.settle()
    told = world.status(facts.GROUPS, "g-0-w")
    assert (told["availableReplicas"], told["updatedReplicas"]) == (2, 2)
    assert world.images() == ["a", "a", "new", "new"]


def test_live_numbers_count_and_templates_do_not() -> None:
    world = ready_world(clique("a"), *PAIR, podCliqueScalingGroups=[group()])
    world.edit(facts.SETS, "g", lambda spec: spec["template"]["cliques"][0]["spec"].update(replicas=5))
    world.edit(facts.CLIQUES, "g-0-a", lambda spec: spec.update(replicas=2))
    world.edit(facts.GROUPS, "g-0-w", lambda spec: spec.update(replicas=0))
    world.settle()
    assert world.hosts() == {"g-0-a-0", "g-0-a-1"}
    assert world.status(facts.GROUPS, "g-0-w")["updatedReplicas"] == 0


def test_of_too_many_pods_those_that_do_not_work_go() -> None:
    world = World(gang_of(clique("a", replicas=2)))
    world.settle()
    world.work("g-0-a-1")
    world.edit(facts.CLIQUES, "g-0-a", lambda spec: spec.update(replicas=1))
    world.settle()
    assert world.hosts() == {"g-0-a-1"}


def test_a_refused_pod_is_said_and_nothing_is_observed() -> None:
    world = World(gang_of(clique("a")), refused={"g-0-a": "no such account"})
    world.settle()
    told = world.status(facts.CLIQUES, "g-0-a")
    assert told["lastErrors"][0]["description"] == "no such account"
    assert "observedGeneration" not in told
    world.refused.clear()
    world.settle()
    assert "lastErrors" not in world.status(facts.CLIQUES, "g-0-a")


def test_slow_and_failing_on_request() -> None:
    slow = clique("a", labels={facts.BEHAVIOUR: facts.SLOW}, annotations={facts.DELAY: "20"})
    world = World(gang_of(slow, clique("b", labels={facts.BEHAVIOUR: facts.FAILING})))
    world.settle()
    assert world.names(facts.CLIQUES) == {"g-0-b"}
    assert world.status(facts.CLIQUES, "g-0-b")["lastErrors"]
    assert waits_for(world.gang(), world.now) == 20
    world.now += timedelta(seconds=20)
    world.settle()
    assert world.hosts() == {"g-0-a-0"}
    assert waits_for(world.gang(), world.now) is None


def test_a_deleted_set_takes_everything_along() -> None:
    world = ready_world(clique("a"), *PAIR, podCliqueScalingGroups=[group()])
    world.objects[(facts.SETS, "g")]["metadata"]["deletionTimestamp"] = BORN.isoformat()
    world.settle()
    # The Service has no finalizer: Kubernetes collects it.
    assert {kind for kind, _ in world.objects} == {facts.SERVICES}


def test_what_is_left_of_a_set_that_was_torn_away_goes_too() -> None:
    world = ready_world(clique("a"))
    del world.objects[(facts.SETS, "g")]
    world.settle()
    assert not world.hosts() | world.names(facts.CLIQUES)
