"""Watches break in every way, and the operator hears of everything all the same, without a restart."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from dynamo_operator.runtime.client import Client
from dynamo_operator.runtime.informer import INACTIVITY_SECONDS, Informer
from dynamo_operator.runtime.kubeconfig import load_config
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.views import Metadata
from tests.support.bed import GRAPH, Bed, graph, image, service, services_patch
from tests.support.fault_proxy import FaultProxy
from tests.support.faults import Answer, CutWatch, ExpireWatch, Fault, Match, Rule, StallWatch
from tests.support.operator import operating, restricted_to
from tests.support.peer import eventually
from tests.support.proxy_thread import proxy_running

pytestmark = pytest.mark.cluster

CONFIG = Resource("", "v1", "ConfigMap", "configmaps")


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(CutWatch(after=1), id="connections break after an event: resumed"),
        pytest.param(ExpireWatch(after=1), id="410 after an event: listed again"),
        pytest.param(Answer(410), id="410 at once: listed again"),
        pytest.param(Answer(500), id="an error at once: tried again"),
    ],
)
def test_watches_break_the_graph_converges(empty_stage: Bed, tmp_path: Path, fault: Fault) -> None:
    bed, flags = empty_stage, restricted_to(empty_stage.namespace)
    with proxy_running(bed.plane.operator_kubeconfig, tmp_path) as proxy:
        proxy.add(Rule(Match(watch=True, nth=range(1, 25)), fault))
        with operating(proxy.kubeconfig, tmp_path, *flags) as operator:
            bed.explain, pid = operator.last_words, operator.pid
            bed.create(graph("llm", Worker=service()))
            bed.becomes_ready("llm")
            bed.patch(GRAPH, "llm", services_patch(Worker=image("registry.example/runtime:2")))
            bed.comes_to_rest("llm")
            assert fault in {each.fault for each in proxy.seen}
            assert (operator.ended, operator.pid) == (False, pid)


@pytest.mark.slow
def test_watch_falls_silent_the_operator_notices_and_repairs_what_it_missed(empty_stage: Bed, tmp_path: Path) -> None:
    bed, flags = empty_stage, restricted_to(empty_stage.namespace)
    with proxy_running(bed.plane.operator_kubeconfig, tmp_path) as proxy:
        with operating(proxy.kubeconfig, tmp_path, *flags) as operator:
            bed.explain = operator.last_words
            bed.create(graph("llm", Worker=service()))
            bed.comes_to_rest("llm")
        proxy.add(Rule(Match(watch=True, path="/deployments", nth=1), StallWatch()))
        with operating(proxy.kubeconfig, tmp_path, *flags) as operator:
            bed.explain = operator.last_words
            bed.eventually("the stalled watch", lambda: [each for each in proxy.seen if each.fault == StallWatch()])
            bed.delete("Deployment", "llm-worker")
            # Nothing is heard of it until the watch has been silent for longer than bookmarks leave it.
            patience = INACTIVITY_SECONDS + 60
            bed.eventually("the Deployment again", lambda: bed.read("Deployment", "llm-worker"), patience)
            bed.comes_to_rest("llm")


async def test_watch_is_silent_for_too_long_it_is_resumed(operator_proxy: FaultProxy, empty_stage: Bed) -> None:
    operator_proxy.add(Rule(Match(watch=True, nth=1), StallWatch(after=1)))
    config = load_config(str(operator_proxy.kubeconfig), os.environ)
    async with Client(config, user_agent="test") as client:
        informer = Informer(client, CONFIG, Metadata, namespace=empty_stage.namespace, inactivity_seconds=0.5)
        running = asyncio.create_task(informer.run())
        await informer.wait_synced(20)
        for name in ("first", "second", "third"):
            manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
            await asyncio.to_thread(empty_stage.create, manifest)
        await eventually(lambda: informer.get(Key(empty_stage.namespace, "third")), seconds=20)
        running.cancel()
    assert len(operator_proxy.matching(Match(watch=True))) >= 2
