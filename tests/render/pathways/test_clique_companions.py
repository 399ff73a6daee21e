"""What makes the pods of cliques reachable."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dynamo_operator.domain.manifest import Child
from dynamo_operator.domain.pathway import Circumstances
from dynamo_operator.domain.site import Offers, Site
from dynamo_operator.render.graph import render_services
from tests.support.graphs import SITE, graph_of

GROVE = replace(SITE, offers=Offers(grove=True, virtual_services=True))
ETCD = {"nvidia.com/dynamo-discovery-backend": "etcd"}


def companions(services: dict[str, Any], *, site: Site = GROVE, **graph: Any) -> dict[str, Child]:
    made = render_services(graph_of(services, **graph), site, Circumstances()).companions
    return {f"{child.manifest['kind']} {child.manifest['metadata']['name']}": child for child in made}


def test_every_service_has_a_service_that_selects_its_pods_alone() -> None:
    made = companions({"Front": {"componentType": "frontend", "labels": {"team": "a"}}, "w": {}})
    assert list(made) == ["Service g-front", "Service g-w"]
    assert made["Service g-front"].manifest == {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "g-front",
            "namespace": "ns",
            "labels": {
                "team": "a",
                "nvidia.com/dynamo-discovery-backend": "kubernetes",
                "nvidia.com/dynamo-discovery-enabled": "true",
            },
        },
        "spec": {
            "selector": {
                "nvidia.com/dynamo-component": "Front",
                "nvidia.com/dynamo-component-type": "frontend",
                "nvidia.com/dynamo-namespace": "ns-g",
            },
            "ports": [{"name": "http", "port": 8000, "targetPort": "http", "protocol": "TCP"}],
        },
    }
    assert made["Service g-w"].manifest["spec"]["selector"] == {
        "nvidia.com/dynamo-component": "w",
        "nvidia.com/dynamo-namespace": "ns-g",
    }


def test_discovery_by_etcd_only_frontends_have_one() -> None:
    made = companions({"Front": {"componentType": "frontend"}, "w": {}}, annotations=ETCD)
    assert list(made) == ["Service g-front"]
    assert "labels" not in made["Service g-front"].manifest["metadata"]


def test_a_model_that_two_services_serve_has_one_shared_service() -> None:
    made = companions({"a": {"modelRef": {"name": "m"}}, "b": {"modelRef": {"name": "m"}}}, annotations=ETCD)
    (service,) = made.values()
    assert (service.shared, service.owned) == (True, False)
    assert service.manifest["spec"]["clusterIP"] == "None"


def test_an_ingress_class_is_configured_frontends_are_exposed_by_default() -> None:
    site = replace(GROVE, ingress_class="nginx", ingress_tls_secret="tls", ingress_host_suffix="example.com")
    made = companions({"Front": {"componentType": "frontend"}, "w": {}}, site=site, annotations=ETCD)
    assert list(made) == ["Service g-front", "Ingress g-front"]
    (rule,) = made["Ingress g-front"].manifest["spec"]["rules"]
    assert rule["host"] == "g.example.com"


def test_exposure_is_for_frontends_only_and_the_users_replaces_the_default() -> None:
    exposed = {"ingress": {"enabled": True, "host": "chat", "useVirtualService": True, "virtualServiceGateway": "gw"}}
    site = replace(GROVE, ingress_class="nginx", virtual_service_gateway="gate")
    made = companions({"Front": {"componentType": "frontend", **exposed}, "w": exposed}, site=site, annotations=ETCD)
    assert list(made) == ["Service g-front", "VirtualService g-front"]
    assert made["VirtualService g-front"].manifest["spec"]["hosts"] == ["chat.local"]
