"""What a graph's status says after each way in which a reconcile may end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from dynamo_operator.controllers.graph_deployment.reconciler import GraphReconciler
from dynamo_operator.controllers.resources import (
    ADAPTERS,
    COMPONENTS,
    GRAPHS,
    POD_CLIQUE_SETS,
    POD_CLIQUES,
    SCALING_GROUPS,
)
from dynamo_operator.controllers.status_writer import StatusWriter
from dynamo_operator.domain.labels import FINALIZER
from dynamo_operator.domain.outcome import Rejected, Unrenderable, Violation
from dynamo_operator.domain.site import Offers, Site
from dynamo_operator.runtime.errors import ApiError, Conflict, Forbidden, Unreachable
from dynamo_operator.runtime.queue import WorkQueue
from dynamo_operator.runtime.resource import Key
from dynamo_operator.runtime.views import Body
from tests.support.clock import ManualClock

KEY = Key("ns", "g")
SPEC = {"services": {"W": {"componentType": "worker"}}}


class Bed:
    """A reconciler over one stored graph, of a cluster with Grove that is not listed yet."""

    def __init__(self, *finalizers: str, refused: ApiError | None = None) -> None:
        tree = {"metadata": {"namespace": "ns", "name": "g", "uid": "u", "finalizers": finalizers}, "spec": SPEC}
        self.body = msgspec.json.decode(msgspec.json.encode(tree), type=Body)
        informers: dict[Any, Any] = {
            kind: SimpleNamespace(resource=kind, has_synced=False, last_error=refused)
            for kind in (POD_CLIQUE_SETS, POD_CLIQUES, SCALING_GROUPS)
        }
        clock, self.refusal = ManualClock(), Conflict()
        cluster: Any = SimpleNamespace(
            clock=clock,
            informers={GRAPHS: {KEY: self.body}, ADAPTERS: SimpleNamespace(by=lambda *_: []), **informers},
            now=lambda: "2026-01-01T00:00:00Z",
            patch=self._refuse,
            site=Site(offers=Offers(grove=True)),
        )
        self.statuses = StatusWriter(cluster, GRAPHS, WorkQueue(clock))
        self.reconciler = GraphReconciler(cluster, self.statuses)

    async def _refuse(self, *_: object) -> None:
        raise self.refusal

    def said(self) -> tuple[Any, ...]:
        parent: Any = SimpleNamespace(meta=self.body.metadata)
        status = self.statuses.latest(parent, {})
        return (status["state"], *(status["conditions"][0][part] for part in ("reason", "message"))) if status else ()


CONTEXT = "failed to reconcile Dynamo components deployments"


@pytest.mark.parametrize(
    ("end", "raised", "said"),
    [
        pytest.param(
            Rejected(Violation("no services")), False, ("failed", "ValidationFailed", "Validation failed: no services")
        ),
        pytest.param(Unrenderable("two ways"), False, ("failed", "failed_to_reconcile_the_resources", "two ways")),
        pytest.param(
            Forbidden(message="not yours to delete"),
            True,
            ("failed", "failed_to_reconcile_the_resources", f"{CONTEXT}: not yours to delete"),
        ),
        pytest.param(ValueError("ours to mend"), True, ()),
    ],
    ids=["spec refused: no retry", "spec leads nowhere: no retry", "API refuses: told, retried", "fault: retried"],
)
async def test_end(end: Exception, raised: bool, said: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    async def converge(_: object) -> None:
        raise end

    bed = Bed()
    monkeypatch.setattr(bed.reconciler, "_converge", converge)
    with pytest.raises(type(end)) if raised else nullcontext():
        await bed.reconciler.reconcile(KEY)
    assert bed.said() == said


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        pytest.param(Conflict(message="changed"), (), id="changed meanwhile: not worth a word"),
        pytest.param(
            Forbidden(message="no"), ("failed", "failed_to_handle_the_finalizer", "no"), id="forbidden: users read it"
        ),
    ],
)
async def test_finalizer_stays(refusal: ApiError, said: tuple[str, ...]) -> None:
    bed = Bed(FINALIZER)
    bed.refusal = refusal
    with pytest.raises(type(refusal)):
        await bed.reconciler.reconcile(KEY)
    assert bed.said() == said


@pytest.mark.parametrize(
    ("refused", "said"),
    [
        pytest.param(None, (), id="not listed yet: a matter of moments"),
        pytest.param(Unreachable(message="gone"), (), id="server away: a matter of moments"),
        pytest.param(
            Forbidden(message="may not list"),
            ("pending", "some_resources_are_not_ready", "Resources not ready: may not list"),
            id="forbidden: users read it",
        ),
    ],
)
async def test_caches_are_empty(refused: ApiError | None, said: tuple[str, ...]) -> None:
    bed = Bed(refused=refused)
    assert (await bed.reconciler.reconcile(KEY)).requeue_after == 1.0
    assert bed.said() == said


class Making(Bed):
    """A reconciler over a graph that becomes component deployments; ``refused`` is how their writing ends."""

    def __init__(self, refused: BaseException | None = None) -> None:
        super().__init__()
        cluster: Any = self.reconciler._cluster
        self.refused, self.pruned = refused, set[str]()
        nothing = SimpleNamespace(by=lambda *_: [])
        cluster.informers |= dict.fromkeys((COMPONENTS, POD_CLIQUE_SETS), nothing)
        cluster.site = Site(planner_cluster_role="planner")
        cluster.client = SimpleNamespace(get=self._refuse)
        cluster.apply_children, cluster.prune_others = self._apply, self._prune

    async def _apply(self, *_: object) -> list[Any]:
        if self.refused is not None:
            raise self.refused
        return []

    async def _prune(self, _: object, kinds: Sequence[Any], __: object) -> None:
        self.pruned |= {kind.kind for kind in kinds}


async def test_key_pair_is_missing_services_that_left_go_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    async def provide(*_: object) -> None:
        raise Forbidden(message="no key pair")

    monkeypatch.setattr("dynamo_operator.controllers.graph_deployment.reconciler.provide_ssh_key", provide)
    bed = Making()
    with pytest.raises(Forbidden):
        await bed.reconciler.reconcile(KEY)
    assert COMPONENTS.kind in bed.pruned


async def test_pass_is_given_up_nothing_is_removed_any_more() -> None:
    bed = Making(asyncio.CancelledError())
    with pytest.raises(asyncio.CancelledError):
        await bed.reconciler.reconcile(KEY)
    assert bed.pruned == set()
