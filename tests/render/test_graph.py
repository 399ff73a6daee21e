"""What a graph turns into."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamo_operator.domain.graph import Graph
from dynamo_operator.domain.manifest import Child, Upkeep
from dynamo_operator.domain.outcome import Unrenderable
from dynamo_operator.domain.pathway import Circumstances
from dynamo_operator.domain.site import Offers, Site
from dynamo_operator.render.graph import render_foundation, render_graph, render_services
from tests.support.graphs import SITE, graph_of

WORKER = {"w": {"componentType": "worker"}}
PICKER = {"P": {"componentType": "epp", "eppConfig": {"configMapRef": {"name": "cm", "key": "k"}}}}
CREATED = {"name": "c", "create": True, "storageClass": "s", "size": "2Gi", "volumeAccessMode": "ReadWriteMany"}


def names(children: list[Child]) -> list[str]:
    return [f"{c.manifest['kind']} {c.manifest['metadata']['name']}" for c in children]


def only(children: list[Child], kind: str) -> Child:
    (found,) = (child for child in children if child.manifest["kind"] == kind)
    return found


PLANNER = ["ServiceAccount planner-serviceaccount", "RoleBinding planner-serviceaccount-binding"]
EPP = ["ServiceAccount epp-serviceaccount", "RoleBinding epp-serviceaccount-binding"]
DISCOVERY = [
    "ServiceAccount g-k8s-service-discovery",
    "Role g-k8s-service-discovery-role",
    "RoleBinding g-k8s-service-discovery-binding",
]
ETCD = {"nvidia.com/dynamo-discovery-backend": "etcd"}
STRANGE = {"nvidia.com/dynamo-discovery-backend": "Etcd"}
CASES: list[tuple[str, Graph, Site, list[str]]] = [
    ("cluster-wide: the planner's account too", graph_of(WORKER), SITE, [*PLANNER, *DISCOVERY]),
    ("restricted: no account", graph_of(WORKER), Site(restricted_namespace="ns"), DISCOVERY),
    ("etcd by annotation: no discovery access", graph_of(WORKER, annotations=ETCD), SITE, PLANNER),
    (
        "an unknown backend: no discovery access, as its pods use none",
        graph_of(WORKER, annotations=STRANGE),
        SITE,
        PLANNER,
    ),
    (
        "a picker with a ConfigMap: account and pool",
        graph_of(PICKER, annotations=ETCD),
        SITE,
        [*PLANNER, *EPP, "InferencePool g-pool"],
    ),
    (
        "claims: each made once, existing ones not at all",
        graph_of(WORKER, annotations=ETCD, pvcs=[CREATED, CREATED, {"name": "d"}]),
        SITE,
        [*PLANNER, "PersistentVolumeClaim c"],
    ),
    (
        "an adapter that is on: made",
        graph_of({"W": {"scalingAdapter": {"enabled": True}}, "x": {"scalingAdapter": {}}}, annotations=ETCD),
        SITE,
        [*PLANNER, "DynamoGraphDeploymentScalingAdapter g-w"],
    ),
]


@pytest.mark.parametrize(("graph", "site", "wanted"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_foundation(graph: Graph, site: Site, wanted: list[str]) -> None:
    assert names(render_foundation(graph, site)) == wanted


def test_how_children_are_kept() -> None:
    graph = graph_of({"W": {"scalingAdapter": {"enabled": True}}}, pvcs=[CREATED])
    children = render_graph(graph, SITE, Circumstances())
    ways = [(c.upkeep is Upkeep.CREATE, c.owned, c.recreate) for c in children]
    kept = dict(zip(names(children), ways, strict=True))
    assert len(kept) == len(children)
    assert kept["ServiceAccount planner-serviceaccount"] == (True, False, False)
    assert kept["RoleBinding planner-serviceaccount-binding"] == (False, False, True)
    assert kept["PersistentVolumeClaim c"] == (True, True, False)
    assert kept["DynamoGraphDeploymentScalingAdapter g-w"] == (False, True, False)
    assert [names([child]) for child in children if child.initial] == [["DynamoGraphDeploymentScalingAdapter g-w"]]
    assert kept["RoleBinding g-k8s-service-discovery-binding"] == (False, True, True)
    assert kept["DynamoComponentDeployment g-w"] == (False, True, False)


def test_claim_and_adapter_say_what_was_asked() -> None:
    children = render_foundation(graph_of({"W": {"scalingAdapter": {"enabled": True}}}, pvcs=[CREATED]), SITE)
    assert only(children, "PersistentVolumeClaim").manifest["spec"] == {
        "accessModes": ["ReadWriteMany"],
        "storageClassName": "s",
        "resources": {"requests": {"storage": "2Gi"}},
    }
    adapter = only(children, "DynamoGraphDeploymentScalingAdapter").manifest
    assert adapter["spec"] == {"replicas": 1, "dgdRef": {"name": "g", "serviceName": "W"}}
    assert adapter["metadata"]["labels"]["nvidia.com/dynamo-component"] == "W"


NODES = {"w": {"multinode": {"nodeCount": 2}}}
FAILED = "failed to reconcile Dynamo components deployments"
CONFIG = {"name": "DYN_DEPLOYMENT_CONFIG", "value": "no"}
PROBLEMS: list[tuple[str, Graph, Site, str]] = [
    (
        "no cluster role for planners: said",
        graph_of(WORKER),
        Site(),
        "planner ClusterRole name is required in cluster-wide mode",
    ),
    (
        "no cluster role for pickers: said",
        graph_of(PICKER),
        Site(planner_cluster_role="p"),
        "EPP ClusterRole name is required in cluster-wide mode when EPP service is present",
    ),
    (
        "no InferencePools: what to install is said",
        graph_of(PICKER),
        replace(SITE, offers=Offers()),
        (
            "failed to reconcile EPP resources: failed to sync EPP InferencePool: the cluster does not serve "
            "inference.networking.k8s.io, install the Gateway API Inference Extension"
        ),
    ),
    (
        "two keys that differ in case only: neither undoes the other's work",
        graph_of({"Worker": {}, "worker": {}}),
        SITE,
        "services Worker and worker differ in case only and would both be called g-worker: rename one",
    ),
    (
        "several nodes and nothing for them: said",
        graph_of(NODES),
        SITE,
        f"{FAILED}: no multinode orchestrator available",
    ),
    (
        "a broken deployment config: where it failed is said",
        graph_of(WORKER, envs=[CONFIG]),
        SITE,
        f"{FAILED}: failed to generate the DynamoComponentsDeployments: failed to parse DYN_DEPLOYMENT_CONFIG: ",
    ),
]


@pytest.mark.parametrize(("graph", "site", "text"), [p[1:] for p in PROBLEMS], ids=[p[0] for p in PROBLEMS])
def test_problems(graph: Graph, site: Site, text: str) -> None:
    with pytest.raises(Unrenderable) as problem:
        render_graph(graph, site, Circumstances())
    assert str(problem.value).startswith(text)


def test_several_nodes_and_something_for_them_a_component_is_made() -> None:
    site = replace(SITE, offers=Offers(leader_worker_sets=True, volcano=True))
    (child,) = render_services(graph_of(NODES), site, Circumstances()).workloads
    assert names([child]) == ["DynamoComponentDeployment g-w"]


JSON = st.recursive(st.none() | st.booleans() | st.text(max_size=3), lambda i: st.lists(i, max_size=3), max_leaves=4)


@given(pod=st.dictionaries(st.text(max_size=4), JSON, max_size=4), kind=st.sampled_from(["frontend", "planner", "x"]))
def test_rendering_is_repeatable_and_leaves_its_input_alone(pod: dict[str, Any], kind: str) -> None:
    pod.pop("serviceAccountName", None)
    spec = {"A": {"componentType": kind, "extraPodSpec": pod, "annotations": {"a": "b"}}, **WORKER}
    graph = graph_of(spec, envs=[{"name": "DYN_DEPLOYMENT_CONFIG", "value": "{}"}], annotations=STRANGE)
    before = deepcopy(graph)
    once, again = ([c.manifest for c in render_graph(graph, SITE, Circumstances())] for _ in range(2))
    assert graph == before
    assert json.dumps(once) == json.dumps(again)
    assert "serviceAccountName" not in pod
