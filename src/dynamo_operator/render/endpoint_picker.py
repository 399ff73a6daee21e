"""The pool that an endpoint picker serves, and the picker's inline configuration (specification: workloads.md 9)."""

from __future__ import annotations

from math import inf
from typing import Any, Final, cast

import yaml

from dynamo_operator.domain.component import EndpointPicker
from dynamo_operator.domain.graph import Graph, Service
from dynamo_operator.domain.labels import (
    COMPONENT,
    COMPONENT_TYPE,
    DYNAMO_NAMESPACE,
    EPP_CONFIG_KEY,
    EPP_GRPC_PORT,
    FRONTEND_PORT,
    GRAPH_NAME,
    INFERENCE_GROUP,
)
from dynamo_operator.domain.manifest import Child, Manifest
from dynamo_operator.domain.names import component_name, endpoint_picker_config_name, inference_pool_name
from dynamo_operator.domain.outcome import Unrenderable
from dynamo_operator.domain.site import Site
from dynamo_operator.domain.trees import copied, tree_at, trees_at
from dynamo_operator.render.account_rbac import EPP

# Read by the endpoint picker when it loads its configuration.
CONFIG_VERSION: Final = "inference.networking.x-k8s.io/v1alpha1"
CONFIG_KIND: Final = "EndpointPickerConfig"


def render_endpoint_picker(graph: Graph, site: Site) -> list[Child]:
    """ConfigMap (for inline configuration only) and InferencePool of the graph's first endpoint picker, if it has one.

    Raises Unrenderable where the cluster has no InferencePools.
    """
    service = next((s for s in graph.services if s.component_type == EPP), None)
    if service is None:
        return []
    if not site.offers.inference_pools:
        raise Unrenderable(
            f"failed to reconcile EPP resources: failed to sync EPP InferencePool: the cluster does not serve "
            f"{INFERENCE_GROUP}, install the Gateway API Inference Extension"
        )
    picker = service.endpoint_picker or EndpointPicker()
    configs = [] if picker.config_map else [Child(_config_map(graph, service, picker))]
    return [*configs, Child(_pool(graph, service))]


def _labels(graph: Graph, service: Service) -> dict[str, str]:
    return {GRAPH_NAME: graph.name, COMPONENT: service.key, COMPONENT_TYPE: EPP}


def _config_map(graph: Graph, service: Service, picker: EndpointPicker) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": endpoint_picker_config_name(graph.name),
            "namespace": graph.namespace,
            "labels": _labels(graph, service),
        },
        "data": {EPP_CONFIG_KEY: picker_config_text(picker)},
    }


def _pool(graph: Graph, service: Service) -> Manifest:
    frontends = {COMPONENT_TYPE: "frontend", DYNAMO_NAMESPACE: service.dynamo_namespace}
    return {
        "apiVersion": f"{INFERENCE_GROUP}/v1",
        "kind": "InferencePool",
        "metadata": {
            "name": inference_pool_name(graph.name),
            "namespace": graph.namespace,
            "labels": _labels(graph, service),
        },
        "spec": {
            "targetPorts": [{"number": FRONTEND_PORT}],
            "selector": {"matchLabels": frontends},
            "endpointPickerRef": {
                "kind": "Service",
                "name": component_name(graph.name, service.key),
                "port": {"number": EPP_GRPC_PORT},
            },
        },
    }


def picker_config(picker: EndpointPicker) -> dict[str, Any]:
    """Inline configuration with the version and the kind that the operator writes, whatever the user says.

    A detector always has a staleness in the picker's own types; there ``0s`` stands for the default.
    """
    config = copied(picker.inline or {}) | {"apiVersion": CONFIG_VERSION, "kind": CONFIG_KIND}
    if "saturationDetector" in config:
        config["saturationDetector"] = {"metricsStalenessThreshold": "0s", **tree_at(config, "saturationDetector")}
    return config


def picker_config_text(picker: EndpointPicker) -> str:
    """Inline configuration as the YAML file that the picker reads, keys sorted."""
    config = picker_config(picker)
    # Members that the picker's own types always have are written out, so that the text is the one upstream writes.
    if "plugins" in config:
        config["plugins"] = [{"name": "", "parameters": None} | dict(p) for p in trees_at(config, "plugins")]
    if "schedulingProfiles" in config:
        config["schedulingProfiles"] = [_profile(dict(p)) for p in trees_at(config, "schedulingProfiles")]
    return yaml.dump(config, Dumper=_GoStyle, default_flow_style=False, allow_unicode=True, width=inf)


def _profile(profile: dict[str, Any]) -> dict[str, Any]:
    return profile | {"plugins": [{"weight": None} | dict(p) for p in trees_at(profile, "plugins")]}


class _GoStyle(yaml.SafeDumper):
    """Writes YAML as Go does: text that would be read as another type is in double quotes."""

    def choose_scalar_style(self) -> str:
        style = super().choose_scalar_style()
        return '"' if style == "'" and not cast("Any", self.event).implicit[0] else style

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - the dumper's signature
        return True
