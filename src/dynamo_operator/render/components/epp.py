"""The endpoint picker: tells a gateway which worker shall answer (specification: workloads.md 6.2 and 9)."""

from __future__ import annotations

from dataclasses import dataclass

from dynamo_operator.domain import labels, names, variables
from dynamo_operator.domain.component import Component, EndpointPicker
from dynamo_operator.domain.manifest import Manifest, Tree
from dynamo_operator.render.components.contract import Defaults, container_port

# Asked for by the gateway's health check and by our probes.
HEALTH_SERVICE = "inference-extension"
CONFIG_VOLUME = "epp-config"
CONFIG_PATH = "/etc/epp"
CACHE_VOLUME = "hf-cache"
CACHE_PATH = "/home/nonroot/.cache"


@dataclass(frozen=True, slots=True)
class Epp:
    """A container whose image knows its command; the operator gives arguments and configuration."""

    def defaults(self, component: Component, /) -> Defaults:
        """Arguments, ports, probes, configuration and cache. No command: the image's entry point runs."""
        return Defaults(
            container={
                "command": [],
                "args": _arguments(component),
                "ports": [
                    container_port("grpc", labels.EPP_GRPC_PORT),
                    container_port("grpc-health", labels.EPP_HEALTH_PORT),
                    container_port("metrics", labels.EPP_METRICS_PORT),
                ],
                "volumeMounts": [
                    {"name": CONFIG_VOLUME, "mountPath": CONFIG_PATH, "readOnly": True},
                    {"name": CACHE_VOLUME, "mountPath": CACHE_PATH},
                ],
                "livenessProbe": _probe(),
                "readinessProbe": _probe(),
            },
            environment={
                variables.DYN_KV_BLOCK_SIZE: "16",
                variables.DYN_DISCOVERY_TIMEOUT_SEC: "300",
                variables.USE_STREAMING: "true",
                variables.RUST_LOG: "debug,dynamo_llm::kv_router=trace",
            },
            pod={
                "serviceAccountName": labels.EPP_ACCOUNT,
                "terminationGracePeriodSeconds": 130,
                "volumes": [_configuration(component), {"name": CACHE_VOLUME, "emptyDir": {}}],
            },
        )

    def service_port(self) -> Tree:
        """The gRPC port; gateways speak HTTP/2 without TLS to it."""
        port = labels.EPP_GRPC_PORT
        return {"name": "grpc", "port": port, "targetPort": port, "protocol": "TCP", "appProtocol": "http2"}


def _arguments(component: Component) -> list[str]:
    flags = {
        "-pool-name": names.inference_pool_name(component.graph),
        "-pool-namespace": component.namespace,
        "-pool-group": labels.INFERENCE_GROUP,
        "-v": "4",
        "--zap-encoder": "json",
        "-grpc-port": str(labels.EPP_GRPC_PORT),
        "-grpc-health-port": str(labels.EPP_HEALTH_PORT),
        "-config-file": f"{CONFIG_PATH}/{labels.EPP_CONFIG_KEY}",
    }
    return [word for flag in flags.items() for word in flag]


def _probe() -> Manifest:
    grpc = {"port": labels.EPP_HEALTH_PORT, "service": HEALTH_SERVICE}
    return {"grpc": grpc, "initialDelaySeconds": 5, "periodSeconds": 10}


def _configuration(component: Component) -> Manifest:
    given = component.endpoint_picker or EndpointPicker()
    item = {"key": given.key or labels.EPP_CONFIG_KEY, "path": labels.EPP_CONFIG_KEY}
    config_map = given.config_map or names.endpoint_picker_config_name(component.graph)
    return {"name": CONFIG_VOLUME, "configMap": {"name": config_map, "items": [item]}}
