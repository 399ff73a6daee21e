"""The real controller of LeaderWorkerSets: its configuration, and webhooks that the API server reaches by URL."""

from __future__ import annotations

import base64
from typing import Any

import yaml

from cluster.modules import ModuleFile, load_module_file
from cluster.ports import LOOPBACK
from cluster.programs import LWS, LWS_WEBHOOK, Site, certificate_folder
from cluster.toolchain import Say

VERSION = "v0.9.0"
_KINDS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
# Pods of other owners must not wait for this controller.
_ITS_PODS = {"matchExpressions": [{"key": "leaderworkerset.sigs.k8s.io/name", "operator": "Exists"}]}


def lws_file(path: str) -> ModuleFile:
    """A file of the controller's module."""
    return ModuleFile("sigs.k8s.io/lws", VERSION, "h1:DcJCgxjjoGOx//QHZkeKpyiblxYq70aCRZNYSfykWyI=", path)


def render_lws_config(site: Site) -> dict[str, Any]:
    """Configuration of the controller: one of its kind, with a certificate that is given."""
    return {
        "apiVersion": "config.lws.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "webhook": {
            "host": LOOPBACK,
            "port": site.ports[LWS_WEBHOOK],
            "certDir": str(certificate_folder(site, LWS)),
        },
        "metrics": {"bindAddress": "0"},
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "clientConnection": {"qps": 500, "burst": 1000},
    }


def load_lws_webhooks(site: Site, say: Say) -> list[dict[str, Any]]:
    """The controller's webhooks for LeaderWorkerSets and their pods."""
    text = load_module_file(lws_file("config/webhook/manifests.yaml"), say).read_text()
    authority = base64.b64encode((site.layout.certificates / "authority.crt").read_bytes()).decode()
    documents = [each for each in yaml.load_all(text, yaml.CSafeLoader) if each and each["kind"] in _KINDS]
    return [_local(each, f"https://{LOOPBACK}:{site.ports[LWS_WEBHOOK]}", authority) for each in documents]


def _local(configuration: dict[str, Any], server: str, authority: str) -> dict[str, Any]:
    webhooks = [
        {
            **webhook,
            "clientConfig": {"url": server + webhook["clientConfig"]["service"]["path"], "caBundle": authority},
            **({"objectSelector": _ITS_PODS} if "pod" in webhook["name"] else {}),
        }
        for webhook in configuration["webhooks"]
        if "disaggregated" not in webhook["name"]
    ]
    name = f"lws-{configuration['metadata']['name']}"
    return {**configuration, "metadata": {"name": name}, "webhooks": webhooks}
