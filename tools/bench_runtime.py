"""What the runtime costs on this machine, without a cluster: queue, skip of unchanged objects, decoding of lists."""

from __future__ import annotations

import asyncio
import copy
import gc
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import msgspec

from dynamo_operator.runtime.apply import Applier, Wanted
from dynamo_operator.runtime.clock import SystemClock
from dynamo_operator.runtime.comparison import covers
from dynamo_operator.runtime.informer import Informer
from dynamo_operator.runtime.queue import WorkQueue
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.views import Body, ObjectMeta, OwnerReference
from dynamo_operator.runtime.wanted import fingerprint, satisfies, stamp

DEPLOYMENT = Resource("apps", "v1", "Deployment", "deployments")
OWNER = OwnerReference("nvidia.com/v1alpha1", "Graph", "graph", "uid", controller=True)
HASH = "nvidia.com/last-applied-hash"
PODS = 5_000
EVENTS = 500_000
OBJECTS = 2_000


def deployment(name: str) -> dict[str, Any]:
    """A Deployment of a usual size, about 3 kB."""
    container = {
        "name": "main",
        "image": "example.com/image:1",
        "command": ["python3", "-m", "dynamo.vllm"],
        "args": ["--model", "Qwen/Qwen3-0.6B", "--tensor-parallel-size", "8"],
        "env": [{"name": f"VARIABLE_{n}", "value": f"value-{n}"} for n in range(25)],
        "ports": [{"name": "system", "containerPort": 9090, "protocol": "TCP"}],
        "resources": {"limits": {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "8"}},
        "livenessProbe": {"httpGet": {"path": "/live", "port": "system"}, "periodSeconds": 5, "failureThreshold": 3},
        "volumeMounts": [{"name": "shared-memory", "mountPath": "/dev/shm"}],  # noqa: S108 - inside a pod
    }
    volumes = [{"name": "shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}}]
    labels = {f"nvidia.com/label-{n}": name for n in range(6)}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container], "volumes": volumes}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"namespace": "demo", "name": name, "labels": labels},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template},
    }


class Server:
    """Answers an apply with what was applied."""

    async def apply(self, _resource: Resource, _key: Key, manifest: dict[str, Any], **_: Any) -> bytes:
        """The object, as if it were stored."""
        metadata = {**manifest["metadata"], "uid": "u", "resourceVersion": "1"}
        return msgspec.json.encode({**manifest, "metadata": metadata})


def timed(work: Callable[[], Any]) -> float:
    """Seconds of the best of three runs."""
    best = float("inf")
    for _ in range(3):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best


async def bench_queue() -> None:
    """Events of 1,000 keys in 50 namespaces, while a worker empties the queue now and then."""
    keys = [Key(f"namespace-{n % 50}", f"name-{n}") for n in range(1_000)]
    queue, runs = WorkQueue(SystemClock()), 0
    began = time.perf_counter()
    for n in range(EVENTS):
        queue.add(keys[(n * 7919) % 1_000])
        if n % 10_000 == 9_999:
            while len(queue):
                key = await queue.take()
                assert key is not None  # noqa: S101 - the queue is open
                queue.done(key)
                runs += 1
    seconds = time.perf_counter() - began
    print(f"queue          {EVENTS / seconds:12,.0f} events/s, coalesced into {runs:,} runs ({EVENTS / runs:.0f} : 1)")


async def bench_skip() -> None:
    """A second apply of objects that are as we left them, whole and in parts."""
    informer = Informer(Server(), DEPLOYMENT, Body)  # type: ignore[arg-type]
    applier = Applier(Server(), {DEPLOYMENT: informer}, field_manager="x", hash_annotation=HASH)  # type: ignore[arg-type]
    wanted = [Wanted(DEPLOYMENT, deployment(f"name-{n}")) for n in range(OBJECTS)]
    await applier.apply_each(OWNER, wanted)
    best = float("inf")
    for _ in range(3):
        began = time.perf_counter()
        for each in wanted:
            await applier.apply_each(OWNER, [each])
        best = min(best, time.perf_counter() - began)
    stamping = timed(lambda: [stamp(each, OWNER, hash_annotation=HASH) for each in wanted])
    bodies = informer.values()
    stamps = [stamp(each, OWNER, hash_annotation=HASH) for each in wanted]
    size = len(msgspec.json.encode(wanted[0].manifest))
    print(f"object         {size:12,} bytes of JSON")
    print(f"hash and stamp {stamping / OBJECTS * 1e6:12.1f} µs per object")
    print(f"skip           {(best - stamping) / OBJECTS * 1e6:12.1f} µs per object on top")
    marks = timed(lambda: [fingerprint(body) for body in bodies])
    print(f"fingerprint    {marks / OBJECTS * 1e6:12.1f} µs per object, after a change of its status")
    checks = timed(lambda: [satisfies(body, each) for body, each in zip(bodies, stamps, strict=True)])
    print(f"verification   {checks / OBJECTS * 1e6:12.1f} µs per object, once after a restart")
    tree = wanted[0].manifest
    copies = timed(lambda: [copy.deepcopy(tree) for _ in range(OBJECTS)])
    comparing = timed(lambda: [covers(tree, tree) for _ in range(OBJECTS)])
    print(f"               {copies / comparing:12.1f} : 1 a deep copy of the object to its comparison")


class PodStatus(msgspec.Struct, frozen=True, gc=False):
    """What a controller reads of a pod."""

    phase: str = ""


class Pod(msgspec.Struct, frozen=True, gc=False):
    """A view of a pod."""

    metadata: ObjectMeta
    status: PodStatus = PodStatus()


class Pods(msgspec.Struct):
    """A list of such views."""

    items: list[Pod]


def bench_list() -> None:
    """A list of pods as views and as dicts."""
    pod = deployment("pod")
    item = {"metadata": pod["metadata"], "spec": pod["spec"]["template"]["spec"], "status": {"phase": "Running"}}
    page = msgspec.json.encode({"items": [item] * PODS})
    print(f"list           {len(page) / 1e6:12.1f} MB of JSON, {PODS:,} pods")
    figures: list[tuple[float, float]] = []
    for name, kind in (("views", Pods), ("dicts", dict[str, Any])):
        decoder = msgspec.json.Decoder(kind)
        seconds = timed(lambda decode=decoder.decode: decode(page))
        gc.collect()
        tracemalloc.start()
        kept = decoder.decode(page)
        memory = tracemalloc.get_traced_memory()[0] / 1e6
        tracemalloc.stop()
        del kept
        figures.append((seconds, memory))
        print(f"  as {name}     {seconds * 1e3:12.1f} ms, {memory:.1f} MB kept, {len(page) / 1e6 / seconds:.0f} MB/s")
    (fast, small), (slow, big) = figures
    print(f"  dicts : views{slow / fast:12.1f} : 1 in time, {big / small:.1f} : 1 in memory")


def main() -> None:
    """Print all figures."""
    asyncio.run(bench_queue())
    asyncio.run(bench_skip())
    bench_list()


if __name__ == "__main__":
    main()
