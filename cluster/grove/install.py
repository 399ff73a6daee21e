"""What a cluster with the stand-in gets: Grove's definitions, and the webhooks of this process."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from cluster.grove.webhook import webhook_configurations
from cluster.modules import ModuleFile
from cluster.ports import LOOPBACK
from cluster.programs import GROVE_WEBHOOK, Site

GROVE_KINDS = ("podcliquesets", "podcliques", "podcliquescalinggroups")


def grove_file(path: str) -> ModuleFile:
    """A file of the module with Grove's API; its controller is no module that can be had."""
    return ModuleFile(
        module="github.com/ai-dynamo/grove/operator/api",
        version="v0.1.0-alpha.6",
        content_hash="h1:6xspRy93dVsGzwiRebNUhrEnamXUtAGvt5tP50uxkOA=",
        path=path,
    )


def source_key() -> str:
    """Hash of the stand-in's source: a cluster with another one is started anew."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:24]


def load_grove_webhooks(site: Site) -> list[dict[str, Any]]:
    """The stand-in's webhooks."""
    authority = (site.layout.certificates / "authority.crt").read_bytes()
    return webhook_configurations(f"https://{LOOPBACK}:{site.ports[GROVE_WEBHOOK]}", authority)
