"""Environment variables that the operator reads as settings, and those that it knows and leaves alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

# Set in Secret dynamo-deployment-env by the chart of release 0.9, and by whoever runs the operator outside a cluster.
VARIABLES: Final[Mapping[str, str]] = {
    "INTERNAL_IMAGES_DEBUGGER": "debugger_image",
    "KUBECONFIG": "kubeconfig",
}
"""Variable -> the attribute of Settings that it sets."""

OTHERS: Final[Mapping[str, str]] = {
    "KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT": "read by the API client inside a cluster",
    "HTTPS_PROXY, HTTP_PROXY, NO_PROXY": "read by the API client",
    "ENABLE_RESTRICTED_SECURITY_CONTEXT": "ignored, as in release 0.9",
    "DYNAMO_INGRESS_SUFFIX": "ignored, as in release 0.9; use --ingress-host-suffix",
    "KUBERNETES_CLUSTER_DOMAIN": "ignored, as in release 0.9",
}
"""Variables that are no settings, and what becomes of them; only documentation."""


def parse_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """Attributes set by the environment; an empty variable counts as absent."""
    return {attribute: environ[name] for name, attribute in VARIABLES.items() if environ.get(name)}
