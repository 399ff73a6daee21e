"""Shows a service on several nodes: it becomes ready, a change that cannot work is told, and it is given more nodes."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time
from typing import Any

from rich.tree import Tree

from demo import (
    NAMESPACE,
    ROOT,
    DemoError,
    Kubectl,
    children,
    clean_up,
    cluster,
    console,
    follow,
    mark,
    operator,
    ready,
    step,
    wait_by_hand,
)

EXAMPLE = ROOT / "examples" / "sglang-multinode.yaml"
GRAPH, SERVICE = "sglang-nodes", "Decode"
KINDS = "dgd,dcd,lws,deployments,replicasets,statefulsets,pods"
# What stands between a workload and its pods, and says nothing new.
PASSED_OVER = {"ReplicaSet", "StatefulSet"}
BELOW = ("DynamoComponentDeployment", "Deployment", "LeaderWorkerSet", "ReplicaSet", "StatefulSet", "Pod")


def says(subject: dict[str, Any], kind: str) -> dict[str, Any]:
    """A condition of an object; empty when it has none of that type."""
    return next((c for c in subject.get("status", {}).get("conditions", []) if c["type"] == kind), {})


def label(subject: dict[str, Any]) -> str:
    """One line about an object."""
    kind, name, status = subject["kind"], subject["metadata"]["name"], subject.get("status", {})
    if kind == "Pod":
        phase = "Terminating" if "deletionTimestamp" in subject["metadata"] else status.get("phase", "")
        up = says(subject, "Ready").get("status") == "True"
        return f"{mark(up)} Pod {name}  {phase}  on {subject['spec'].get('nodeName', 'no node yet')}"
    text = f"{kind} {name}"
    if kind == "LeaderWorkerSet":
        text += f"  {subject['spec']['leaderWorkerTemplate']['size']} nodes"
    return f"{mark(says(subject, 'Available').get('status') == 'True')} {text}"


def add_below(branch: Tree, items: list[dict[str, Any]], owner: dict[str, Any]) -> None:
    """Hang everything that an object leads to below it; workers of a copy hang below its leader."""
    for kind in BELOW:
        for child in children(items, owner, kind):
            add_below(branch if kind in PASSED_OVER else branch.add(label(child)), items, child)


def tree(kubectl: Kubectl) -> Tree:
    """Graph → components → workloads → leaders → workers, with states and nodes."""
    items = kubectl.items(KINDS)
    root = Tree(f"namespace {NAMESPACE}")
    for graph in (o for o in items if o["kind"] == "DynamoGraphDeployment"):
        state = graph.get("status", {}).get("state", "new")
        add_below(
            root.add(f"{mark(ready(graph))} [bold]DynamoGraphDeployment {graph['metadata']['name']}[/]  {state}"),
            items,
            graph,
        )
    return root


def graph_of(kubectl: Kubectl) -> dict[str, Any]:
    """The demonstration's graph as it is stored."""
    return json.loads(kubectl.run("get", "dgd", GRAPH, "-o", "json"))


def ask(kubectl: Kubectl, nodes: int, size: int) -> None:
    """Give the service another number of nodes, and its command another tensor parallel size."""
    main = graph_of(kubectl)["spec"]["services"][SERVICE]["extraPodSpec"]["mainContainer"]
    args = [*main["args"]]
    args[args.index("--tp-size") + 1] = str(size)
    change = {"multinode": {"nodeCount": nodes}, "extraPodSpec": {"mainContainer": {"args": args}}}
    kubectl.run("patch", "dgd", GRAPH, "--type=merge", "-p", json.dumps({"spec": {"services": {SERVICE: change}}}))


def await_ready(kubectl: Kubectl, process: subprocess.Popen[bytes]) -> None:
    """Show the tree until the graph is ready, and how long that took."""
    started = time.monotonic()
    follow(kubectl, lambda: ready(graph_of(kubectl)), process, picture=tree)
    console.print(f"ready after {time.monotonic() - started:.1f} s")


def tell_doubts(kubectl: Kubectl, process: subprocess.Popen[bytes]) -> None:
    """Show the condition that says what cannot work, as soon as it does."""

    def told() -> dict[str, Any]:
        graph = graph_of(kubectl)
        said = says(graph, "NeedsAttention")
        return said if said.get("observedGeneration") == graph["metadata"]["generation"] else {}

    follow(kubectl, lambda: bool(told()), process, picture=lambda _: Tree(f"NeedsAttention: {told().get('message')}"))


def show(home: pathlib.Path) -> None:
    """The demonstration proper, on a running cluster."""
    kubectl = Kubectl(home)
    with operator(home) as process:
        step(f"Apply {EXAMPLE.relative_to(ROOT)}: prefill on one node, decode on two")
        console.print(kubectl.run("apply", "-f", str(EXAMPLE)).strip())
        await_ready(kubectl, process)
        step("Ask for three nodes, and leave the command as it is")
        ask(kubectl, nodes=3, size=16)
        tell_doubts(kubectl, process)
        step("Ask for four nodes, and for 32 ranks on their 32 GPUs")
        ask(kubectl, nodes=4, size=32)
        await_ready(kubectl, process)
        step("What kubectl shows")
        console.print(kubectl.run("get", "dgd,dcd,lws,podgroups").strip())
        if os.environ.get("KEEP"):
            wait_by_hand(home, process)


def main() -> int:
    """Run the demonstration; 1 when it could not be shown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", default="demo-multinode", help="name of the local cluster")
    name = parser.parse_args().name
    home = ROOT / ".cluster" / name
    started = time.monotonic()
    try:
        step("Start a local Kubernetes with LeaderWorkerSet and a scheduler named volcano")
        cluster("start", "--name", name, "--with", "lws,volcano")
        kubectl = Kubectl(home)
        kubectl.run("delete", "namespace", NAMESPACE, "--ignore-not-found", "--wait=true")
        kubectl.run("create", "namespace", NAMESPACE)
        show(home)
        clean_up(name, home)
    except DemoError as failure:
        console.print(f"[red]{failure}[/]\nlog of the operator: {home / 'operator.log'}")
        return 1
    console.print(f"\nDone in {time.monotonic() - started:.0f} s.")
    console.print("To go on by hand next time:  make demo-multinode KEEP=1")
    return 0


if __name__ == "__main__":
    sys.exit(main())
