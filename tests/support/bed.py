"""A namespace of a real control plane, as a user and as an observer: writes, reads, waits."""

from __future__ import annotations

import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import requests

from tests.support.cluster import ControlPlane

T = TypeVar("T")

GRAPH = "DynamoGraphDeployment"
COMPONENT = "DynamoComponentDeployment"

PLURALS = {
    GRAPH: ("apis/nvidia.com/v1alpha1", "dynamographdeployments"),
    COMPONENT: ("apis/nvidia.com/v1alpha1", "dynamocomponentdeployments"),
    "DynamoGraphDeploymentScalingAdapter": ("apis/nvidia.com/v1alpha1", "dynamographdeploymentscalingadapters"),
    "HorizontalPodAutoscaler": ("apis/autoscaling/v2", "horizontalpodautoscalers"),
    "InferencePool": ("apis/inference.networking.k8s.io/v1", "inferencepools"),
    "Deployment": ("apis/apps/v1", "deployments"),
    "StatefulSet": ("apis/apps/v1", "statefulsets"),
    "LeaderWorkerSet": ("apis/leaderworkerset.x-k8s.io/v1", "leaderworkersets"),
    "PodCliqueSet": ("apis/grove.io/v1alpha1", "podcliquesets"),
    "PodClique": ("apis/grove.io/v1alpha1", "podcliques"),
    "PodCliqueScalingGroup": ("apis/grove.io/v1alpha1", "podcliquescalinggroups"),
    "PodGroup": ("apis/scheduling.volcano.sh/v1beta1", "podgroups"),
    "Ingress": ("apis/networking.k8s.io/v1", "ingresses"),
    "Role": ("apis/rbac.authorization.k8s.io/v1", "roles"),
    "RoleBinding": ("apis/rbac.authorization.k8s.io/v1", "rolebindings"),
    "ConfigMap": ("api/v1", "configmaps"),
    "Event": ("api/v1", "events"),
    "PersistentVolumeClaim": ("api/v1", "persistentvolumeclaims"),
    "Pod": ("api/v1", "pods"),
    "Secret": ("api/v1", "secrets"),
    "Service": ("api/v1", "services"),
    "ServiceAccount": ("api/v1", "serviceaccounts"),
}
"""Path and plural of each kind that stories look at."""

_MERGE_PATCH = "application/merge-patch+json"
_PAUSE_SECONDS = 0.1
_REQUEST_SECONDS = 30.0


class Bed:
    """A namespace. ``explain`` is asked for more words when a wait fails."""

    def __init__(self, plane: ControlPlane, url: str, namespace: str) -> None:
        self.plane, self.namespace = plane, namespace
        self.explain: Callable[[], str] = str
        self.url = url
        self._session = requests.Session()
        self._session.trust_env = False

    def send(self, method: str, path: str, body: Any = None, *, media: str = "", **query: str) -> requests.Response:
        """A request as administrator, whatever its answer."""
        headers = {"Content-Type": media or "application/json"}
        url = f"{self.url}/{path}"
        return self._session.request(method, url, json=body, params=query, headers=headers, timeout=_REQUEST_SECONDS)

    def path(self, kind: str, name: str = "", subresource: str = "") -> str:
        """Path of a collection, an object or a subresource in the namespace."""
        group, plural = PLURALS[kind]
        return "/".join(part for part in (group, "namespaces", self.namespace, plural, name, subresource) if part)

    def create(self, manifest: Mapping[str, Any], manager: str = "user") -> dict[str, Any]:
        """Create an object."""
        return _taken(self.send("POST", self.path(manifest["kind"]), manifest, fieldManager=manager))

    def replace(self, manifest: Mapping[str, Any], subresource: str = "", manager: str = "user") -> dict[str, Any]:
        """Replace an object that was read before."""
        path = self.path(manifest["kind"], manifest["metadata"]["name"], subresource)
        return _taken(self.send("PUT", path, manifest, fieldManager=manager))

    def patch(self, kind: str, name: str, patch: Any, manager: str = "user") -> dict[str, Any]:
        """JSON merge patch."""
        return _taken(self.send("PATCH", self.path(kind, name), patch, media=_MERGE_PATCH, fieldManager=manager))

    def delete(self, kind: str, name: str) -> None:
        """Delete an object, its children in the background."""
        _taken(self.send("DELETE", self.path(kind, name), propagationPolicy="Background"))

    def read(self, kind: str, name: str) -> dict[str, Any] | None:
        """An object; None when there is none."""
        answer = self.send("GET", self.path(kind, name))
        return None if answer.status_code == 404 else _taken(answer)

    def items(self, kind: str) -> list[dict[str, Any]]:
        """All objects of a kind; none where the cluster does not serve it."""
        answer = self.send("GET", self.path(kind))
        if answer.status_code == 404:
            return []
        found = _taken(answer)
        return [{"apiVersion": found["apiVersion"], "kind": kind} | item for item in found["items"]]

    def names(self, kind: str) -> set[str]:
        """Names of all objects of a kind."""
        return {item["metadata"]["name"] for item in self.items(kind)}

    def version(self) -> str:
        """The resourceVersion of the whole store, to look back from later."""
        return _taken(self.send("GET", self.path("ConfigMap"), limit="1"))["metadata"]["resourceVersion"]

    def history(self, kind: str, since: str) -> list[dict[str, Any]]:
        """All versions that the objects of a kind have had since a resourceVersion, in order."""
        answer = self.send("GET", self.path(kind), watch="true", resourceVersion=since, timeoutSeconds="1")
        return [requests.models.complexjson.loads(line)["object"] for line in answer.iter_lines() if line]

    def eventually(self, what: str, condition: Callable[[], T], seconds: float = 30.0) -> T:
        """The first true value of a condition; what it needs and cannot find yet counts as false."""
        deadline, trouble = time.monotonic() + seconds, ""
        while time.monotonic() < deadline:
            try:
                value = condition()
            except (LookupError, TypeError, AttributeError) as error:
                trouble = f" ({error!r})"
            else:
                if value:
                    return value
                trouble = ""
            time.sleep(_PAUSE_SECONDS)
        raise AssertionError(f"not within {seconds:.0f} s: {what}{trouble}\n{self.explain()}")

    def becomes_ready(self, name: str, seconds: float = 30.0) -> dict[str, Any]:
        """The graph, as soon as it says that it is ready for its newest spec."""
        return self.eventually(f"graph {name} is ready", lambda: ready(self.read(GRAPH, name)), seconds)

    def comes_to_rest(self, name: str, seconds: float = 30.0) -> dict[str, Any]:
        """The graph, as soon as it is ready and its counters say what its Deployments say."""
        return self.eventually(f"graph {name} is at rest", lambda: self._resting(name), seconds)

    def _resting(self, name: str) -> dict[str, Any] | None:
        graph = ready(self.read(GRAPH, name))
        if graph is None:
            return None
        running = {each["componentName"]: each["updatedReplicas"] for each in graph["status"]["services"].values()}
        deployments = {each["metadata"]["name"]: each for each in self.items("Deployment")}
        told = {name: deployments[name]["status"].get("updatedReplicas", 0) for name in running}
        components = {each["metadata"]["name"]: each for each in self.items(COMPONENT)}
        counted = {name: components[name]["status"]["service"]["updatedReplicas"] for name in running}
        wanted = {name: deployments[name]["spec"]["replicas"] for name in running}
        return graph if running == told == counted == wanted else None


def ready(graph: dict[str, Any] | None) -> dict[str, Any] | None:
    """The graph itself when it is ready for its newest spec, else None."""
    said = condition_of(graph or {}, "Ready")
    current = graph is not None and said.get("observedGeneration") == graph["metadata"]["generation"]
    return graph if current and said["status"] == "True" else None


def condition_of(subject: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """A condition of an object; empty when it has none of that type."""
    conditions = subject.get("status", {}).get("conditions", [])
    return next((each for each in conditions if each["type"] == kind), {})


def service(component_type: str = "worker", **members: Any) -> dict[str, Any]:
    """A service of a graph."""
    main = {"image": members.pop("image", "registry.example/runtime:1")}
    pod = {"mainContainer": main | members.pop("main", {})}
    return {"componentType": component_type, "replicas": 1, "extraPodSpec": pod, **members}


def graph(name: str, **services: Any) -> dict[str, Any]:
    """A graph of the given services."""
    spec = {"services": services}
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": GRAPH, "metadata": {"name": name}, "spec": spec}


def image(name: str) -> dict[str, Any]:
    """A patch of a service that gives it another image."""
    return {"extraPodSpec": {"mainContainer": {"image": name}}}


def services_patch(**services: Any) -> dict[str, Any]:
    """A merge patch of a graph's services."""
    return {"spec": {"services": services}}


@contextmanager
def gateway(plane: ControlPlane) -> Iterator[str]:
    """Address of a plain HTTP server on loopback behind which the administrator's credentials are."""
    program = str(plane.bin / "kubectl") if plane.bin else "kubectl"
    command = [program, f"--kubeconfig={plane.kubeconfig}", "proxy", "--port=0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:  # noqa: S603
        assert process.stdout is not None
        said = process.stdout.readline()
        try:
            assert "127.0.0.1:" in said, f"kubectl proxy did not start: {said}"
            yield f"http://{said.split()[-1]}"
        finally:
            process.kill()


@contextmanager
def fresh_bed(plane: ControlPlane, url: str) -> Iterator[Bed]:
    """A new namespace; it is deleted afterwards, which nobody waits for."""
    bed = Bed(plane, url, f"test-{uuid.uuid4().hex[:10]}")
    _taken(bed.send("POST", "api/v1/namespaces", {"metadata": {"name": bed.namespace}}))
    try:
        yield bed
    finally:
        bed.send("DELETE", f"api/v1/namespaces/{bed.namespace}")


def _taken(answer: requests.Response) -> dict[str, Any]:
    asked = f"{answer.request.method} {answer.request.path_url}"
    assert answer.ok, f"{asked}: {answer.status_code} {answer.text[:2000]}"
    return answer.json()
