"""Measures the operator under Grove against a floor: the same objects written straight, without an operator.

In both the stand-in for Grove makes the pods, so ratios are of what the operator adds. Needs a local cluster (started
when it does not run) and stops it at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import QUIET, ROOT, Bench
from dynamo_operator.controllers.resources import (
    GRAPHS,
    POD_CLIQUE_SETS,
    POD_CLIQUES,
    ROLE_BINDINGS,
    ROLES,
    SERVICE_ACCOUNTS,
    SERVICES,
)
from dynamo_operator.runtime.client import Client
from dynamo_operator.runtime.informer import Informer
from dynamo_operator.runtime.kubeconfig import load_config
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.views import Body

WRITTEN = (SERVICE_ACCOUNTS, ROLES, ROLE_BINDINGS, POD_CLIQUE_SETS, SERVICES)
"""What the operator makes, in the order in which the floor writes it."""
READY = {"state": "successful"}


class GroveBench(Bench):
    """One run over so many graphs."""

    def __init__(self, client: Client, home: Path, graphs: int) -> None:
        super().__init__(client, home, graphs)
        self.seen = {kind: Informer(client, kind, Body) for kind in (GRAPHS, POD_CLIQUES, *WRITTEN)}
        for informer in self.seen.values():
            informer.subscribe(lambda _: setattr(self, "last_change", time.monotonic()))

    def ours(self, resource: Resource) -> list[Body]:
        """Objects of the measurement that Grove did not make."""
        grove = "app.kubernetes.io/managed-by"
        return [body for body in super().ours(resource) if body.metadata.labels.get(grove) != "grove-operator"]

    def all_there(self) -> bool:
        """Every graph has its PodCliqueSet and its Services."""
        return len(self.ours(POD_CLIQUE_SETS)) == self.graphs and len(self.ours(SERVICES)) == 2 * self.graphs

    def all_ready(self) -> bool:
        """Every graph says that it is ready, and is."""
        states = [body.tree("status").get("state") for body in self.ours(GRAPHS)]
        return states == ["successful"] * self.graphs and len(self.working()) == self.graphs

    def working(self) -> set[Key]:
        """The graphs whose cliques all have their pods."""
        found: dict[Key, int] = {}
        for body in self.seen[POD_CLIQUES].values():
            graph = body.metadata.labels.get("app.kubernetes.io/part-of", "")
            key = Key(body.metadata.namespace, graph)
            found[key] = found.get(key, 0) + (body.tree("status").get("readyReplicas") == 1)
        return {key for key, ready in found.items() if ready == 2}

    async def straight(self, captured: dict[Resource, list[dict[str, Any]]]) -> dict[str, float]:
        """The floor: the same objects, and one status of each graph when its pods work."""
        began, told = time.monotonic(), set[Key]()
        await self.post("1")
        for resource in WRITTEN:
            await self.each([self._create(resource, manifest) for manifest in captured[resource]])
        there = await self.until(self.all_there)
        while len(told) < self.graphs:
            due = self.working() - told
            await self.each([self._tell(key) for key in due])
            told |= due
            await asyncio.sleep(0.02)
        return {"children s": there - began, "ready s": time.monotonic() - began}

    async def capture(self) -> dict[Resource, list[dict[str, Any]]]:
        """All that the operator made, as manifests that can be created again, without owners."""
        return {kind: [await self._manifest(kind, body) for body in self.ours(kind)] for kind in WRITTEN}

    def _create(self, resource: Resource, manifest: dict[str, Any]) -> Callable[[], Any]:
        namespace = manifest["metadata"]["namespace"]
        return lambda: self.client.create(resource, namespace, manifest, field_manager="bench")

    def _tell(self, key: Key) -> Callable[[], Any]:
        patch = {"status": READY}
        return lambda: self.client.merge_patch(GRAPHS, key, patch, field_manager="bench", subresource="status")


async def measure(home: Path, graphs: int) -> dict[str, dict[str, float]]:
    """All scenarios, one after the other."""
    config = load_config(str(home / "kubeconfig"), os.environ)
    async with Client(config, user_agent="dynamo-operator-bench") as client:
        bench = GroveBench(client, home, graphs)
        running = [asyncio.create_task(informer.run()) for informer in bench.seen.values()]
        try:
            await asyncio.gather(*(informer.wait_synced(60) for informer in bench.seen.values()))
            return await _scenarios(bench)
        finally:
            bench.operator.stop()
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)


async def _scenarios(bench: GroveBench) -> dict[str, dict[str, float]]:
    await bench.clear()
    bench.operator.start()
    await bench.until(lambda: bench.requests.counted()["read"] >= 10)
    await bench.quiet()
    figures = {"create": await bench.create()}
    captured = await bench.capture()
    figures["restart"] = await bench.restart()
    figures["steady"] = await bench.steady(QUIET)
    bench.operator.stop()
    await bench.clear()
    figures["floor"] = await bench.straight(captured)
    await bench.clear()
    return figures


def main() -> int:
    """Measure on a local cluster of its own; 1 when the operator wrote for nothing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=30)
    parser.add_argument("--name", default="bench-grove", help="name of the local cluster")
    arguments = parser.parse_args()
    cluster = [sys.executable, "-m", "cluster"]
    subprocess.run([*cluster, "start", "--name", arguments.name, "--with", "grove"], cwd=ROOT, check=True)
    try:
        figures = asyncio.run(measure(ROOT / ".cluster" / arguments.name, arguments.graphs))
    finally:
        subprocess.run([*cluster, "stop", "--name", arguments.name], cwd=ROOT, check=True)
    for scenario, values in figures.items():
        told = "  ".join(f"{name} {value:.2f}" for name, value in values.items())
        print(f"{scenario:<8} n={arguments.graphs}  {told}")
    ratios = {name: figures["create"][name] / figures["floor"][name] for name in ("children s", "ready s")}
    print("ratio to the floor: " + ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items()))
    return 1 if figures["restart"]["writes"] + figures["restart"]["events"] + figures["steady"]["requests"] else 0


if __name__ == "__main__":
    sys.exit(main())
