"""Ingress and VirtualService."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dynamo_operator.domain.component import Exposure
from dynamo_operator.domain.site import Offers
from dynamo_operator.render.ingress import external_host
from tests.support.components import SITE, component, rendered

ISTIO = replace(SITE, virtual_service_gateway="istio/public", offers=Offers(virtual_services=True))
OPEN = Exposure(enabled=True, host="chat", controller_class="nginx")
MESH = Exposure(enabled=True, host="chat", use_virtual_service=True, virtual_service_gateway="istio/public")

HOSTS = [
    ("only a host: local", Exposure(host="chat"), "chat.local"),
    ("prefix and suffix: put together", Exposure(host="chat", host_prefix="eu-", host_suffix="a.b"), "eu-chat.a.b"),
    ("an empty suffix: the host alone", Exposure(host="chat.a.b", host_suffix=""), "chat.a.b"),
]


@pytest.mark.parametrize(("title", "exposure", "host"), HOSTS, ids=[row[0] for row in HOSTS])
def test_host(title: str, exposure: Exposure, host: str) -> None:
    assert external_host(exposure) == host


INGRESSES: list[tuple[str, Exposure | None, bool]] = [
    ("not exposed: none", None, False),
    ("not enabled: none", replace(OPEN, enabled=False), False),
    ("no class: none", replace(OPEN, controller_class=None), False),
    ("enabled with a class: one", OPEN, True),
]


@pytest.mark.parametrize(("title", "exposure", "made"), INGRESSES, ids=[row[0] for row in INGRESSES])
def test_whether_there_is_an_ingress(title: str, exposure: Exposure | None, made: bool) -> None:
    assert ("Ingress/llm-decode" in rendered(component(exposure=exposure))) is made


def test_an_ingress_leads_to_the_frontend_port_of_the_service() -> None:
    backend = {"service": {"name": "llm-decode", "port": {"number": 8000}}}
    manifest = rendered(component(exposure=OPEN))["Ingress/llm-decode"].manifest
    assert manifest["metadata"] == {"name": "llm-decode", "namespace": "demo"}
    assert manifest["spec"] == {
        "ingressClassName": "nginx",
        "rules": [{"host": "chat.local", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}],
    }


def test_an_ingress_has_a_secret_labels_and_annotations_and_all_of_it_is_used() -> None:
    exposure = replace(OPEN, tls_secret="wildcard", labels={"a": "1"}, annotations={"b": "2"})
    manifest = rendered(component(exposure=exposure))["Ingress/llm-decode"].manifest
    assert manifest["spec"]["tls"] == [{"hosts": ["chat.local"], "secretName": "wildcard"}]
    assert (manifest["metadata"]["labels"], manifest["metadata"]["annotations"]) == ({"a": "1"}, {"b": "2"})


VIRTUAL_SERVICES: list[tuple[str, Exposure | None, Any, bool]] = [
    ("all is there: one", MESH, ISTIO, True),
    ("not exposed: none", None, ISTIO, False),
    ("not enabled: none", replace(MESH, enabled=False), ISTIO, False),
    ("not asked for: none", replace(MESH, use_virtual_service=False), ISTIO, False),
    ("no gateway named: none", replace(MESH, virtual_service_gateway=None), ISTIO, False),
    ("the operator has no gateway: none", MESH, replace(ISTIO, virtual_service_gateway=""), False),
    ("the cluster has no Istio: none", MESH, replace(ISTIO, offers=Offers()), False),
]


@pytest.mark.parametrize(("title", "exposure", "site", "made"), VIRTUAL_SERVICES, ids=[r[0] for r in VIRTUAL_SERVICES])
def test_whether_there_is_a_virtual_service(title: str, exposure: Exposure | None, site: Any, made: bool) -> None:
    assert ("VirtualService/llm-decode" in rendered(component(exposure=exposure), site)) is made


def test_a_virtual_service_leads_to_the_frontend_port_of_the_service() -> None:
    manifest = rendered(component(exposure=MESH), ISTIO)["VirtualService/llm-decode"].manifest
    destination = {"host": "llm-decode", "port": {"number": 8000}}
    assert manifest["spec"] == {
        "hosts": ["chat.local"],
        "gateways": ["istio/public"],
        "http": [{"match": [{"uri": {"prefix": "/"}}], "route": [{"destination": destination}]}],
    }
