"""Measures the operator against a floor: the same objects written straight, without an operator.

Absolute times say more about the machine than about the operator; the ratios of one run are what counts. Needs a local
cluster (started when it does not run) and leaves it as it was.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from dynamo_operator.controllers.resources import (
    COMPONENTS,
    DEPLOYMENTS,
    GRAPHS,
    ROLE_BINDINGS,
    ROLES,
    SERVICE_ACCOUNTS,
    SERVICES,
)
from dynamo_operator.runtime.client import Client
from dynamo_operator.runtime.errors import NotFound
from dynamo_operator.runtime.informer import Informer
from dynamo_operator.runtime.kubeconfig import load_config
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.views import Body

ROOT = Path(__file__).resolve().parents[1]
NAMESPACES = 5
CONNECTIONS = 16
NAMESPACE = Resource("", "v1", "Namespace", "namespaces", namespaced=False)
CAPTURED = (SERVICE_ACCOUNTS, ROLES, ROLE_BINDINGS, COMPONENTS, DEPLOYMENTS, SERVICES)
FLAGS = ("--metrics-bind-address=0", "--planner-cluster-role-name=planner", "--epp-cluster-role-name=epp",
         "--dgdr-profiling-cluster-role-name=profiling", "--zap-log-level=error")  # fmt: skip
QUIET = 3.0
PATIENCE = 600.0


def graph(number: int, image: str) -> dict[str, Any]:
    """A frontend and a GPU worker."""
    main = {"image": f"registry.example.com/runtime:{image}"}
    worker = {**main, "command": ["python3", "-m", "dynamo.vllm"], "args": ["--model", "Qwen/Qwen3-0.6B"]}
    services = {
        "Frontend": {"componentType": "frontend", "replicas": 1, "extraPodSpec": {"mainContainer": main}},
        "Worker": {
            "componentType": "worker",
            "replicas": 1,
            "resources": {"limits": {"gpu": "1"}},
            "extraPodSpec": {"mainContainer": worker},
        },
    }
    key = key_of(number)
    return {
        "apiVersion": GRAPHS.api_version,
        "kind": GRAPHS.kind,
        "metadata": {"namespace": key.namespace, "name": key.name},
        "spec": {"backendFramework": "vllm", "services": services},
    }


def key_of(number: int) -> Key:
    """Where a graph of the measurement lives."""
    return Key(f"measure-{number % NAMESPACES}", f"g{number:04d}")


def image_of(deployment: Body) -> str:
    """Tag of the image that a Deployment runs."""
    return deployment.tree("spec")["template"]["spec"]["containers"][-1]["image"].rpartition(":")[2]


def rolled_out(deployment: Body) -> bool:
    """All pods are there, ready and of the newest spec."""
    status = deployment.tree("status")
    counts = {status.get(name, 0) for name in ("replicas", "updatedReplicas", "availableReplicas")}
    return status.get("observedGeneration") == deployment.metadata.generation and counts == {1}


class Requests:
    """What the operator asked of the API server, from the audit log."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._from = log.stat().st_size

    def restart(self) -> None:
        """Count from here on."""
        self._from = self._log.stat().st_size

    def counted(self) -> Counter[str]:
        """Requests by kind: object writes, event writes, reads, conflicts."""
        counts: Counter[str] = Counter()
        with self._log.open("rb") as log:
            log.seek(self._from)
            for line in log:
                if b'"username":"operator"' in line:
                    counts.update(_kinds(json.loads(line)))
        return counts


def _kinds(entry: dict[str, Any]) -> list[str]:
    resource = entry.get("objectRef", {}).get("resource", "")
    if entry["verb"] == "watch" or resource == "leases":
        return []
    kinds = ["read" if entry["verb"] in ("get", "list") else "event" if resource == "events" else "write", "all"]
    return [*kinds, "conflict"] if entry.get("responseStatus", {}).get("code") == 409 else kinds


class Operator:
    """The operator as a process; its requests are told apart by its user."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; it is ready when its caches are."""
        environment = {**os.environ, "KUBECONFIG": str(self._home / "operator.kubeconfig")}
        command = [sys.executable, "-m", "dynamo_operator", "run", "--health-probe-bind-address=0", *FLAGS]
        with (self._home / "bench-operator.log").open("ab") as log:
            self._process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)

    def stop(self) -> None:
        """End it and wait."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(timeout=40)
            self._process = None

    def _proc(self, name: str) -> Path:
        return Path(f"/proc/{self._process.pid if self._process else 'self'}/{name}")

    def cpu(self) -> float:
        """Seconds of CPU so far."""
        fields = self._proc("stat").read_text("utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """Largest resident size so far, in MB."""
        text = self._proc("status").read_text("utf-8")
        return int(re.findall(r"VmHWM:\s+(\d+)", text)[0]) / 1024


class Bench:
    """One run over so many graphs."""

    def __init__(self, client: Client, home: Path, graphs: int) -> None:
        self.client = client
        self.graphs = graphs
        self.operator = Operator(home)
        self.requests = Requests(home / "audit.log")
        self.seen = {resource: Informer(client, resource, Body) for resource in (GRAPHS, *CAPTURED)}
        self.last_change = 0.0
        for informer in self.seen.values():
            informer.subscribe(lambda _: setattr(self, "last_change", time.monotonic()))

    def ours(self, resource: Resource) -> list[Body]:
        """Objects of the measurement."""
        return [
            body
            for body in self.seen[resource].values()
            # Kubernetes puts an account into each namespace by itself.
            if body.metadata.namespace.startswith("measure-") and body.metadata.name != "default"
        ]

    async def each(self, work: Sequence[Callable[[], Awaitable[Any]]]) -> None:
        """Do all the work over a fixed number of connections."""
        slots = asyncio.Semaphore(CONNECTIONS)

        async def one(piece: Callable[[], Awaitable[Any]]) -> None:
            async with slots:
                await piece()

        await asyncio.gather(*(one(piece) for piece in work))

    async def until(self, done: Callable[[], bool]) -> float:
        """Time at which ``done`` came true."""
        end = time.monotonic() + PATIENCE
        while not done():
            if time.monotonic() > end:
                raise TimeoutError(f"not done after {PATIENCE:.0f} s")
            await asyncio.sleep(0.02)
        return time.monotonic()

    async def quiet(self) -> None:
        """Wait until nothing has changed for a while."""
        self.last_change = time.monotonic()
        await self.until(lambda: time.monotonic() - self.last_change > QUIET)

    async def clear(self) -> None:
        """Fresh namespaces."""
        names = [f"measure-{number}" for number in range(NAMESPACES)]
        for name in names:
            with suppress(NotFound):
                await self.client.delete(NAMESPACE, Key("", name))
        for name in names:
            await self._vanished(name)
            await self.client.create(NAMESPACE, "", {"metadata": {"name": name}}, field_manager="bench")
        await self.quiet()

    async def _vanished(self, name: str) -> None:
        with suppress(NotFound):
            while True:
                await self.client.get(NAMESPACE, Key("", name))
                await asyncio.sleep(0.2)

    async def post(self, image: str) -> None:
        """Create all graphs at once."""
        manifests = [graph(number, image) for number in range(self.graphs)]
        await self.each(
            [
                lambda m=m: self.client.create(GRAPHS, m["metadata"]["namespace"], m, field_manager="bench")
                for m in manifests
            ]
        )

    def all_there(self) -> bool:
        """Every graph has its Deployments and Services."""
        return len(self.ours(DEPLOYMENTS)) == len(self.ours(SERVICES)) == 2 * self.graphs

    def all_ready(self) -> bool:
        """Every graph says that it is ready, and is."""
        states = [body.tree("status").get("state") for body in self.ours(GRAPHS)]
        return states == ["successful"] * self.graphs and all(map(rolled_out, self.ours(DEPLOYMENTS)))

    async def create(self) -> dict[str, float]:
        """All graphs at once: seconds until their children are there, and until they are ready."""
        self.requests.restart()
        cpu, began = self.operator.cpu(), time.monotonic()
        await self.post("1")
        there = await self.until(self.all_there)
        ready = await self.until(self.all_ready)
        await self.quiet()
        counted = self.requests.counted()
        return {
            "children s": there - began,
            "ready s": ready - began,
            "operator CPU s": self.operator.cpu() - cpu,
            "requests per graph": counted["all"] / self.graphs,
            "conflicts": counted["conflict"],
        }

    async def update(self) -> dict[str, float]:
        """A new frontend image in all graphs: seconds until every Deployment carries it."""
        self.requests.restart()
        early: set[Key] = set()
        began = time.monotonic()
        await self.each([lambda n=n: self._change_image(n, "2") for n in range(self.graphs)])

        def carried() -> bool:
            fronts = [body for body in self.ours(DEPLOYMENTS) if body.metadata.name.endswith("-frontend")]
            early.update(self._claimed_early(fronts))
            return all(image_of(body) == "2" for body in fronts)

        spec = await self.until(carried)
        await self.until(self.all_ready)
        await self.quiet()
        return {
            "spec s": spec - began,
            "claimed ready too early": len(early),
            "requests per graph": self.requests.counted()["all"] / self.graphs,
        }

    def _claimed_early(self, fronts: list[Body]) -> set[Key]:
        rolling = {body.metadata.key for body in fronts if image_of(body) != "2" or not rolled_out(body)}
        # A graph whose change has not reached us yet still says what was true before.
        said = [body for body in self.ours(GRAPHS) if body.metadata.generation > 1 and _says_ready(body)]
        return {b.metadata.key for b in said if Key(b.metadata.namespace, f"{b.metadata.name}-frontend") in rolling}

    async def _change_image(self, number: int, image: str) -> None:
        main = {"extraPodSpec": {"mainContainer": {"image": f"registry.example.com/runtime:{image}"}}}
        patch = {"spec": {"services": {"Frontend": main}}}
        await self.client.merge_patch(GRAPHS, key_of(number), patch, field_manager="bench")

    async def restart(self) -> dict[str, float]:
        """A new process over unchanged graphs: it must write nothing."""
        self.operator.stop()
        self.requests.restart()
        self.operator.start()
        await self.until(lambda: self.requests.counted()["read"] >= 10)
        await asyncio.sleep(QUIET)
        counted = self.requests.counted()
        return {"writes": counted["write"], "events": counted["event"], "operator peak MB": self.operator.memory()}

    async def steady(self, seconds: float) -> dict[str, float]:
        """Nothing happens: nothing may be asked."""
        self.requests.restart()
        await asyncio.sleep(seconds)
        return {"requests": self.requests.counted()["all"]}

    async def floor(self, captured: dict[Resource, list[dict[str, Any]]]) -> dict[str, float]:
        """The same objects written straight, owners first, then the same change of image."""
        began = time.monotonic()
        await self.post("1")
        for resource in CAPTURED:
            await self.each(
                [
                    lambda o=o, r=resource: self.client.create(r, o["metadata"]["namespace"], o, field_manager="bench")
                    for o in captured[resource]
                ]
            )
        there = await self.until(self.all_there)
        await self.quiet()
        changed = time.monotonic()
        await self.each([lambda n=n: self._change_everywhere(n) for n in range(self.graphs)])
        return {"children s": there - began, "update s": time.monotonic() - changed}

    async def _change_everywhere(self, number: int) -> None:
        await self._change_image(number, "2")
        key = key_of(number)
        front = Key(key.namespace, f"{key.name}-frontend")
        image = "registry.example.com/runtime:2"
        component = {"spec": {"extraPodSpec": {"mainContainer": {"image": image}}}}
        await self.client.merge_patch(COMPONENTS, front, component, field_manager="bench")
        operation = {"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": image}
        await self.client.json_patch(DEPLOYMENTS, front, [operation], field_manager="bench")

    async def capture(self) -> dict[Resource, list[dict[str, Any]]]:
        """All children as manifests that can be created again, without owners."""
        return {
            resource: [await self._manifest(resource, body) for body in self.ours(resource)] for resource in CAPTURED
        }

    async def _manifest(self, resource: Resource, body: Body) -> dict[str, Any]:
        stored: dict[str, Any] = json.loads(await self.client.get(resource, body.metadata.key))
        stored.pop("status", None)
        meta = stored["metadata"]
        stored["metadata"] = {k: meta[k] for k in ("name", "namespace", "labels") if k in meta}
        for member in ("clusterIP", "clusterIPs"):
            stored.get("spec", {}).pop(member, None)
        return stored


def _says_ready(body: Body) -> bool:
    return any(
        said["type"] == "Ready" and said["status"] == "True" and said["observedGeneration"] == body.metadata.generation
        for said in body.tree("status").get("conditions", [])
    )


async def measure(home: Path, graphs: int) -> dict[str, dict[str, float]]:
    """All scenarios, one after the other."""
    config = load_config(str(home / "kubeconfig"), os.environ)
    async with Client(config, user_agent="dynamo-operator-bench") as client:
        bench = Bench(client, home, graphs)
        running = [asyncio.create_task(informer.run()) for informer in bench.seen.values()]
        try:
            await asyncio.gather(*(informer.wait_synced(60) for informer in bench.seen.values()))
            await bench.clear()
            bench.operator.start()
            await bench.until(lambda: bench.requests.counted()["read"] >= 10)
            await bench.quiet()
            figures = {"create": await bench.create()}
            captured = await bench.capture()
            figures["update"] = await bench.update()
            figures["restart"] = await bench.restart()
            figures["steady"] = await bench.steady(10)
            bench.operator.stop()
            await bench.clear()
            figures["floor"] = await bench.floor(captured)
            await bench.clear()
            return figures
        finally:
            bench.operator.stop()
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)


def report(graphs: int, figures: dict[str, dict[str, float]]) -> None:
    """Print every figure, then the ratios to the floor."""
    for scenario, values in figures.items():
        print(f"{scenario:<8} n={graphs}  " + "  ".join(f"{name} {value:.2f}" for name, value in values.items()))
    floor = figures["floor"]
    create = figures["create"]["children s"] / floor["children s"]
    update = figures["update"]["spec s"] / floor["update s"]
    print(f"ratio to the floor: create {create:.2f}, update {update:.2f}")


def main() -> int:
    """Measure on a local cluster of its own; 1 when the operator wrote for nothing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=30)
    parser.add_argument("--name", default="bench", help="name of the local cluster")
    arguments = parser.parse_args()
    subprocess.run([sys.executable, "-m", "cluster", "start", "--name", arguments.name], cwd=ROOT, check=True)
    figures = asyncio.run(measure(ROOT / ".cluster" / arguments.name, arguments.graphs))
    subprocess.run([sys.executable, "-m", "cluster", "stop", "--name", arguments.name], cwd=ROOT, check=True)
    report(arguments.graphs, figures)
    idle = figures["restart"]["writes"] + figures["restart"]["events"] + figures["steady"]["requests"]
    return 1 if idle else 0


if __name__ == "__main__":
    sys.exit(main())
