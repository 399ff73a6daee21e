"""What the stand-in for Grove fills in and refuses; the words are Grove's."""

from __future__ import annotations

import pytest
from cluster.grove.admission import defaulted, refusal_text, refusals

from tests.support.gangs import PAIR, Tree, clique, gang_of, group


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
            gang_of(clique("a")),
            gang_of(clique("a"), clique("b")),
            f"[{CLIQUES}: Forbidden: not allowed to change clique composition, {CLIQUES}.name: Forbidden: "
            "not allowed to change clique composition, new clique name 'b' is not allowed]",
            id="one clique less",
        ),
        pytest.param(
            gang_of(clique("a"), clique("b")),
            gang_of(clique("a")),
            f"{CLIQUES}: Forbidden: not allowed to change clique composition",
            id="one more clique",
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
            f"{CLIQUES}.spec.minAvailable: Invalid value: 1: field is immutable",
            id="another minimum",
        ),
        pytest.param(
            gang_of(clique("a"), **EXPLICIT),
            gang_of(clique("a")),
            "cliqueStartupType: Invalid value: null: field is immutable",
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
            f"{GROUPS}.minAvailable: Invalid value: 1: field is immutable",
            id="another minimum of a group",
        ),
        pytest.param(
            gang_of(*PAIR, podCliqueScalingGroups=[{**group(), "name": "v"}]),
            gang_of(*PAIR, podCliqueScalingGroups=[group()]),
            "new scaling group name 'w' is not allowed",
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
