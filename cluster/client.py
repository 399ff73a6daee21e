"""The few requests that setting up a cluster takes, over one connection: faster than starting kubectl for each."""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from cluster.errors import ClusterError
from cluster.ports import LOOPBACK
from cluster.programs import API_SERVER, Site

_COLLECTIONS = {
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "MutatingWebhookConfiguration": "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    "ValidatingWebhookConfiguration": "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    "CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "Namespace": "/api/v1/namespaces",
    "Node": "/api/v1/nodes",
}
_FIELD_MANAGER = "local-cluster"
_SECONDS = 30.0


class AdminClient:
    """A connection to a cluster's API server as a member of system:masters; a context manager."""

    def __init__(self, site: Site) -> None:
        folder = site.layout.certificates
        context = ssl.create_default_context(cafile=folder / "authority.crt")
        context.load_cert_chain(folder / "admin.crt", folder / "admin.key")
        port = site.ports[API_SERVER]
        self._connection = http.client.HTTPSConnection(LOOPBACK, port, context=context, timeout=_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._connection.close()

    def apply(self, manifest: Mapping[str, Any]) -> None:
        """Server-side apply of a cluster-scoped object. Raises ClusterError with the server's answer."""
        kind, name = manifest["kind"], manifest["metadata"]["name"]
        path = f"{_COLLECTIONS[kind]}/{name}?fieldManager={_FIELD_MANAGER}&force=true"
        status, body = self._request("PATCH", path, json.dumps(manifest).encode())
        if status not in (200, 201):
            raise ClusterError(f"{kind} {name} could not be applied: {status} {body[:1000].decode(errors='replace')}")

    def read(self, path: str) -> dict[str, Any] | None:
        """The JSON behind a path, or None where the server has nothing there (yet)."""
        status, body = self._request("GET", path, None)
        return json.loads(body) if status == 200 else None

    def _request(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        headers = {"Content-Type": "application/apply-patch+yaml"} if body else {}
        try:
            self._connection.request(method, path, body, headers)
            response = self._connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            raise ClusterError(f"the API server did not answer {method} {path}: {error!r}") from error
