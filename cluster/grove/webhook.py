"""The webhooks as the API server reaches them: a review in, a review out, and where they are."""

from __future__ import annotations

import base64
import json
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from cluster.grove.admission import defaulted, refusal_text, refusals
from cluster.grove.facts import SETS, Tree

_DEFAULTING: Final = "/webhooks/default-podcliqueset"
_VALIDATING: Final = "/webhooks/validate-podcliqueset"
_RULES: Final = [
    {
        "apiGroups": [SETS.group],
        "apiVersions": [SETS.version],
        "operations": ["CREATE", "UPDATE"],
        "resources": [SETS.plural],
        "scope": "Namespaced",
    }
]


def default_review(request: Tree) -> Tree:
    """The answer of the webhook that fills in what was left out."""
    given = request["object"]
    complete = defaulted(given)
    if complete == given:
        return {"allowed": True}
    patch = json.dumps([{"op": "replace", "path": "/spec", "value": complete["spec"]}])
    return {"allowed": True, "patchType": "JSONPatch", "patch": base64.b64encode(patch.encode()).decode()}


def validate_review(request: Tree) -> Tree:
    """The answer of the webhook that refuses."""
    if request["object"]["metadata"].get("deletionTimestamp"):
        return {"allowed": True}
    reasons = refusals(request["object"], request.get("oldObject"))
    if not reasons:
        return {"allowed": True}
    return {"allowed": False, "status": {"code": 403, "message": refusal_text(reasons)}}


def webhook_configurations(server: str, authority: bytes) -> list[Tree]:
    """What tells the API server of both webhooks."""
    bundle = base64.b64encode(authority).decode()
    wanted = (("Mutating", "defaulting", _DEFAULTING), ("Validating", "validating", _VALIDATING))
    return [_configuration(kind, stem, server + path, bundle) for kind, stem, path in wanted]


@asynccontextmanager
async def serving_webhooks(host: str, port: int, certificates: Path) -> AsyncGenerator[None]:
    """Answer reviews while the block runs. The folder holds tls.crt and tls.key."""
    app = web.Application(client_max_size=8 * 1024**2)
    app.router.add_post(_DEFAULTING, _answering(default_review))
    app.router.add_post(_VALIDATING, _answering(validate_review))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificates / "tls.crt", certificates / "tls.key")
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port, ssl_context=context).start()
        yield
    finally:
        await runner.cleanup()


def _answering(decide: Callable[[Tree], Tree]) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def answer(request: web.Request) -> web.Response:
        review = await request.json()
        response = {"uid": review["request"]["uid"], **decide(review["request"])}
        return web.json_response({**{key: review[key] for key in ("apiVersion", "kind")}, "response": response})

    return answer


def _configuration(kind: str, stem: str, url: str, bundle: str) -> dict[str, Any]:
    webhook = {
        "name": f"pcs.{stem}.webhooks.grove.io",
        "clientConfig": {"url": url, "caBundle": bundle},
        "rules": _RULES,
        "failurePolicy": "Fail",
        "matchPolicy": "Exact",
        "sideEffects": "None",
        "timeoutSeconds": 10,
        "admissionReviewVersions": ["v1"],
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": f"grove-{stem}"},
        "webhooks": [webhook],
    }
