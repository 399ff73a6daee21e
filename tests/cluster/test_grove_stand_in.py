"""How the stand-in for Grove gets from a set to pods, and what it says meanwhile."""

from __future__ import annotations

from datetime import timedelta

from cluster.grove import facts
from cluster.grove.steps import waits_for

from tests.support.gangs import BORN, PAIR, World, clique, gang_of, group, ready_world, use_image


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


def test_pods_wait_for_their_gang() -> None:
    world = World(gang_of(clique("a"), clique("b"), *PAIR, podCliqueScalingGroups=[group(replicas=2)]))
    world.refused["g-0-b"] = "no such account"
    world.settle()
    world.work()
    world.settle()
    assert world.status(facts.CLIQUES, "g-0-a")["scheduleGatedReplicas"] == 1
    assert world.status(facts.CLIQUES, "g-0-w-0-w-ldr")["readyReplicas"] == 0
    # What a group has beyond its minimum is a gang of its own.
    assert world.status(facts.CLIQUES, "g-0-w-1-w-ldr")["readyReplicas"] == 1
    world.refused.clear()
    world.settle()
    world.work()
    world.settle()
    assert {pod.status["phase"] for pod in world.seen(facts.PODS)} == {"Running"}


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
    assert (told["availableReplicas"], told["updatedReplicas"]) == (1, 0)
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
