"""What an endpoint picker gets."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_operator.domain.component import EndpointPicker
from dynamo_operator.render.endpoint_picker import picker_config, picker_config_text, render_endpoint_picker
from tests.support.graphs import SITE, graph_of

INLINE: dict[str, Any] = {
    "kind": "Mine",
    "plugins": [{"type": "kv", "parameters": "1"}, {"type": "p: q"}],
    "schedulingProfiles": [{"name": "d", "plugins": [{"pluginRef": "kv", "weight": 1}, {"pluginRef": "p"}]}],
}
TEXT = """\
apiVersion: inference.networking.x-k8s.io/v1alpha1
kind: EndpointPickerConfig
plugins:
- name: ""
  parameters: "1"
  type: kv
- name: ""
  parameters: null
  type: 'p: q'
schedulingProfiles:
- name: d
  plugins:
  - pluginRef: kv
    weight: 1
  - pluginRef: p
    weight: null
"""
LABELS = {
    "nvidia.com/dynamo-graph-deployment-name": "g",
    "nvidia.com/dynamo-component": "Pick",
    "nvidia.com/dynamo-component-type": "epp",
}


def test_inline_configuration_becomes_a_config_map_and_the_pool_names_the_service() -> None:
    graph = graph_of({"Pick": {"componentType": "epp", "eppConfig": {"config": INLINE}}})
    config, pool = (child.manifest for child in render_endpoint_picker(graph, SITE))
    assert config["metadata"] == {"name": "g-epp-config", "namespace": "ns", "labels": LABELS}
    assert config["data"] == {"epp-config-dynamo.yaml": TEXT}
    assert pool["metadata"] == {"name": "g-pool", "namespace": "ns", "labels": LABELS}
    assert pool["spec"] == {
        "targetPorts": [{"number": 8000}],
        "selector": {
            "matchLabels": {"nvidia.com/dynamo-component-type": "frontend", "nvidia.com/dynamo-namespace": "ns-g"}
        },
        "endpointPickerRef": {"kind": "Service", "name": "g-pick", "port": {"number": 9002}},
    }


def test_empty_configuration_still_says_what_it_is() -> None:
    text = picker_config_text(EndpointPicker(inline={}))
    assert text == "apiVersion: inference.networking.x-k8s.io/v1alpha1\nkind: EndpointPickerConfig\n"


STALENESS: list[tuple[str, dict[str, Any], str]] = [
    ("given: kept", {"metricsStalenessThreshold": "200ms"}, "200ms"),
    ("absent: the picker's types write it even so", {"queueDepthThreshold": 5}, "0s"),
]


@pytest.mark.parametrize(("title", "detector", "written"), STALENESS, ids=[row[0] for row in STALENESS])
def test_a_detector_always_says_a_staleness(title: str, detector: dict[str, Any], written: str) -> None:
    config = picker_config(EndpointPicker(inline={"saturationDetector": detector}))
    assert config["saturationDetector"] == {**detector, "metricsStalenessThreshold": written}, title
