"""Shows the operator at work on a local Kubernetes: two graphs become ready, and one changes its image."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.tree import Tree

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXAMPLES = [ROOT / "examples" / "vllm-aggregated.yaml", ROOT / "examples" / "vllm-disaggregated.yaml"]
NAMESPACE = "demo"
LOOK_EVERY = 0.3
PATIENCE = 90.0
FLAGS = [
    "--metrics-bind-address=0",
    "--health-probe-bind-address=127.0.0.1:0",
    "--planner-cluster-role-name=planner",
    "--dgdr-profiling-cluster-role-name=profiling",
    "--epp-cluster-role-name=epp",
    "--zap-log-level=info",
]
# In a pipe a line is a line, however long.
console = Console(highlight=False, width=None if sys.stdout.isatty() else 200)


class DemoError(Exception):
    """The demonstration cannot go on; the text says why."""


class Kubectl:
    """kubectl of the local cluster, in the namespace of the demonstration."""

    def __init__(self, home: pathlib.Path) -> None:
        self._binary = home / "bin" / "kubectl"
        self._environment = {**os.environ, "KUBECONFIG": str(home / "kubeconfig")}

    def run(self, *arguments: str) -> str:
        """Output of ``kubectl -n demo ARGUMENTS``; DemoError with what it said when it fails."""
        command = [str(self._binary), "-n", NAMESPACE, *arguments]
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise DemoError(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def items(self, kinds: str) -> list[dict[str, Any]]:
        """Objects of these kinds (comma separated)."""
        return json.loads(self.run("get", kinds, "-o", "json"))["items"]


def step(text: str) -> None:
    """Say what comes now."""
    console.print(f"\n[bold cyan]▸ {text}[/]")


def cluster(*arguments: str) -> None:
    """Run the local cluster's own command."""
    done = subprocess.run([sys.executable, "-m", "cluster", *arguments], cwd=ROOT, check=False)
    if done.returncode:
        raise DemoError("the local Kubernetes did not start; what it says stands above")


@contextmanager
def operator(home: pathlib.Path) -> Iterator[subprocess.Popen[bytes]]:
    """The operator as a process of its own, until the block ends."""
    environment = {**os.environ, "KUBECONFIG": str(home / "operator.kubeconfig")}
    with (home / "operator.log").open("wb") as log:
        command = [str(ROOT / ".venv" / "bin" / "dynamo-operator"), "run", *FLAGS]
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=40)


def ready(graph: dict[str, Any]) -> bool:
    """The graph says so itself, for what its spec says now."""
    conditions = graph.get("status", {}).get("conditions", [])
    return any(
        c["type"] == "Ready"
        and c["status"] == "True"
        and c.get("observedGeneration", 0) == graph["metadata"]["generation"]
        for c in conditions
    )


def mark(good: bool) -> str:
    """A sign for ready and not ready."""
    return "[green]●[/]" if good else "[yellow]○[/]"


def children(items: list[dict[str, Any]], owner: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """Objects of a kind that hang on ``owner``."""
    uid = owner["metadata"]["uid"]
    return [
        o for o in items if o["kind"] == kind and any(r["uid"] == uid for r in o["metadata"].get("ownerReferences", []))
    ]


def add_pods(branch: Tree, items: list[dict[str, Any]], deployment: dict[str, Any]) -> None:
    """Hang the pods of a Deployment below it, with their state and image."""
    for replica_set in children(items, deployment, "ReplicaSet"):
        for pod in children(items, replica_set, "Pod"):
            up = any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"].get("conditions", []))
            phase = "Terminating" if "deletionTimestamp" in pod["metadata"] else pod["status"].get("phase", "")
            image = pod["spec"]["containers"][-1]["image"].rpartition(":")[2]
            branch.add(f"{mark(up)} Pod {pod['metadata']['name']}  {phase}  image {image}")


def add_component(branch: Tree, items: list[dict[str, Any]], component: dict[str, Any]) -> None:
    """Hang a component, its Deployments and their pods below a graph."""
    status = component.get("status", {})
    up = any(c["type"] == "Available" and c["status"] == "True" for c in status.get("conditions", []))
    leaf = branch.add(f"{mark(up)} DynamoComponentDeployment {component['metadata']['name']}")
    for deployment in children(items, component, "Deployment"):
        counts = deployment.get("status", {})
        text = f"{counts.get('readyReplicas', 0)}/{deployment['spec'].get('replicas', 1)} ready"
        add_pods(leaf.add(f"Deployment {deployment['metadata']['name']}  {text}"), items, deployment)


def tree(kubectl: Kubectl) -> Tree:
    """Graph → components → workloads → pods, with states."""
    items = kubectl.items("dgd,dcd,deployments,replicasets,pods")
    root = Tree(f"namespace {NAMESPACE}")
    for graph in (o for o in items if o["kind"] == "DynamoGraphDeployment"):
        state = graph.get("status", {}).get("state", "new")
        branch = root.add(f"{mark(ready(graph))} [bold]DynamoGraphDeployment {graph['metadata']['name']}[/]  {state}")
        for component in children(items, graph, "DynamoComponentDeployment"):
            add_component(branch, items, component)
    return root


def follow(
    kubectl: Kubectl,
    done: Callable[[], bool],
    process: subprocess.Popen[bytes],
    *,
    picture: Callable[[Kubectl], Tree] = tree,
) -> None:
    """Show a picture, the tree unless said otherwise, until ``done``; on a pipe only at the end."""
    end = time.monotonic() + PATIENCE
    with Live(console=console, auto_refresh=False, transient=False) as live:
        while not done():
            if process.poll() is not None:
                raise DemoError("the operator ended by itself; its log says why")
            if time.monotonic() > end:
                raise DemoError(f"not done after {PATIENCE:.0f} s; the operator's log may say why")
            if console.is_terminal:
                live.update(picture(kubectl), refresh=True)
            time.sleep(LOOK_EVERY)
        live.update(picture(kubectl), refresh=True)
    if not console.is_terminal:
        console.print()  # there, rich ends the tree without a new line


def rollout(kubectl: Kubectl, process: subprocess.Popen[bytes]) -> None:
    """Change the image of one service and watch it roll."""
    patch = {
        "spec": {
            "services": {
                "Worker": {
                    "extraPodSpec": {"mainContainer": {"image": "registry.example.com/dynamo/vllm-runtime:0.9.1"}}
                }
            }
        }
    }
    kubectl.run("patch", "dgd", "vllm-agg", "--type=merge", "-p", json.dumps(patch))
    follow(kubectl, lambda: all(map(ready, kubectl.items("dgd"))), process)


def show(home: pathlib.Path) -> None:
    """The demonstration proper, on a running cluster."""
    kubectl = Kubectl(home)
    with operator(home) as process:
        step("Apply an aggregated and a disaggregated vLLM graph")
        started = time.monotonic()
        for example in EXAMPLES:
            console.print(kubectl.run("apply", "-f", str(example)).strip())
        follow(kubectl, lambda: all(map(ready, kubectl.items("dgd"))), process)
        console.print(f"both graphs ready after {time.monotonic() - started:.1f} s")
        step("Change the image of vllm-agg's workers from 0.9.0 to 0.9.1")
        rollout(kubectl, process)
        step("What kubectl shows")
        console.print(kubectl.run("get", "dgd,dcd,deploy").strip())
        if os.environ.get("KEEP"):
            wait_by_hand(home, process)


def wait_by_hand(home: pathlib.Path, process: subprocess.Popen[bytes]) -> None:
    """Leave everything running until the user has seen enough."""
    step("Go on by hand; Ctrl-C cleans up")
    console.print(
        f"  export KUBECONFIG={home / 'kubeconfig'} PATH={home / 'bin'}:$PATH\n  kubectl -n {NAMESPACE} get dgd"
    )
    console.print(f"  tail -f {home / 'operator.log'}")
    try:
        process.wait()
    except KeyboardInterrupt:
        console.print("")


def clean_up(name: str, home: pathlib.Path) -> None:
    """Delete the graphs and stop the cluster."""
    step("Clean up")
    Kubectl(home).run("delete", "dgd", "--all", "--wait=false")
    cluster("stop", "--name", name)


def main() -> int:
    """Run the demonstration; 1 when it could not be shown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", default="demo", help="name of the local cluster")
    name = parser.parse_args().name
    home = ROOT / ".cluster" / name
    started = time.monotonic()
    try:
        step("Start a local Kubernetes with simulated GPU nodes")
        cluster("start", "--name", name)
        kubectl = Kubectl(home)
        kubectl.run("delete", "namespace", NAMESPACE, "--ignore-not-found", "--wait=true")
        kubectl.run("create", "namespace", NAMESPACE)
        show(home)
        clean_up(name, home)
    except DemoError as failure:
        console.print(f"[red]{failure}[/]\nlog of the operator: {home / 'operator.log'}")
        return 1
    console.print(f"\nDone in {time.monotonic() - started:.0f} s.")
    console.print("To go on by hand next time:  make demo KEEP=1")
    return 0


if __name__ == "__main__":
    sys.exit(main())
