"""The rules that a component spec obeys, as a service of a graph and on its own (specification: api.md 12.5)."""

from __future__ import annotations

from typing import Final

from dynamo_operator.api.v1alpha1.component import ComponentSpec
from dynamo_operator.api.v1alpha1.endpoint_picker import EPPConfig
from dynamo_operator.check.parsing import is_zero
from dynamo_operator.domain.component import EndpointPicker
from dynamo_operator.domain.labels import INFERENCE_GROUP
from dynamo_operator.domain.outcome import Violation

# The component type that the operator itself treats differently; users write it.
EPP: Final = "epp"
# Each copy is an object of its own, and commands name each node: a slip of the pen must not fill the memory of an
# operator that serves all namespaces.
MOST_PODS: Final = 10_000


def node_count(spec: ComponentSpec) -> int:
    """Nodes of one copy."""
    return spec.multinode.node_count if spec.multinode else 1


def component_violation(spec: ComponentSpec, path: str, *, pools_missing: bool = False) -> Violation | None:
    """The first rule that a component breaks, None if it breaks none.

    ``pools_missing``: the cluster has no InferencePools, which only admission asks (rule C7a).
    """
    violation = _general_violation(spec, path)
    if violation is None and spec.component_type == EPP:
        violation = _picker_violation(spec, path, pools_missing=pools_missing)
    return violation


def _general_violation(spec: ComponentSpec, path: str) -> Violation | None:
    if spec.replicas is not None and spec.replicas < 0:
        return _broken(path, "replicas", " must be non-negative", "negative_replicas")
    if (excess := _excess_violation(spec, path)) is not None:
        return excess
    if spec.ingress and spec.ingress.enabled and not spec.ingress.host:
        return _missing(path, "ingress.host", "when ingress is enabled")
    for index, mount in enumerate(spec.volume_mounts):
        if not mount.use_as_compilation_cache and not mount.mount_point:
            return _missing(path, f"volumeMounts[{index}].mountPoint", "when useAsCompilationCache is false")
    memory = spec.shared_memory
    if memory and not memory.disabled and is_zero(memory.size):
        return _missing(path, "sharedMemory.size", "when disabled is false")
    return None


def _excess_violation(spec: ComponentSpec, path: str) -> Violation | None:
    nodes = node_count(spec)
    pods = nodes * max(1, spec.replicas or 0)
    if nodes <= 1 or pods <= MOST_PODS:
        return None
    text = f": times replicas makes {pods} pods, at most {MOST_PODS} are allowed; lower one of the two"
    return _broken(path, "multinode.nodeCount", text, "too_many_pods")


def _picker_violation(spec: ComponentSpec, path: str, *, pools_missing: bool) -> Violation | None:
    if pools_missing:
        return Violation(f"{path}: {_NO_POOLS}", path=path, reason="inference_pools_missing")
    if node_count(spec) > 1:
        text = "EPP component cannot be multinode (multinode field must be nil or nodeCount must be 1)"
        return Violation(f"{path}: {text}", path=f"{path}.multinode", reason="picker_multinode")
    if spec.replicas not in {None, 1}:
        text = f"EPP component must have exactly 1 replica (found {spec.replicas} replicas)"
        return Violation(f"{path}: {text}", path=f"{path}.replicas", reason="picker_replicas")
    return _picker_config_violation(spec.epp_config, path)


def _picker_config_violation(config: EPPConfig | None, path: str) -> Violation | None:
    if config is None:
        return _missing(path, "eppConfig", "for EPP components")
    reference = config.config_map_ref
    if reference is None and config.config is None:
        text = ": either configMapRef or config must be specified (no default configuration provided)"
        return _broken(path, "eppConfig", text, "missing_field")
    if reference is not None and config.config is not None:
        text = ": configMapRef and config are mutually exclusive, only one can be specified"
        return _broken(path, "eppConfig", text, "conflicting_fields")
    if reference is not None and not reference.get("name"):
        return _broken(path, "eppConfig.configMapRef.name", " is required", "missing_field")
    return None


def _missing(path: str, field: str, when: str) -> Violation:
    return _broken(path, field, f" is required {when}", "missing_field")


def _broken(path: str, field: str, text: str, reason: str) -> Violation:
    return Violation(f"{path}.{field}{text}", path=f"{path}.{field}", reason=reason)


_NO_POOLS: Final = (
    f"cannot deploy EPP component: InferencePool API group ({INFERENCE_GROUP}) is not available in the cluster. "
    "EPP requires the Gateway API Inference Extension to be installed. "
    "Please install the Gateway API Inference Extension before deploying EPP components"
)


def component_warnings(spec: ComponentSpec, path: str, effective: str) -> list[str]:
    """What a component says in vain; ``effective`` is the Dynamo namespace that it gets."""
    warnings: list[str] = []
    if spec.dynamo_namespace:
        warnings.append(
            f"{path}.dynamoNamespace is deprecated and ignored. Value '{spec.dynamo_namespace}' will be replaced with "
            f"'{effective}'. Remove this field from your configuration"
        )
    if spec.autoscaling is not None:
        warnings.append(
            f"{path}.autoscaling is deprecated and ignored. Use DynamoGraphDeploymentScalingAdapter with HPA, KEDA, "
            "or Planner for autoscaling instead. See docs/kubernetes/autoscaling.md"
        )
    return warnings


def picker_of(spec: ComponentSpec) -> EndpointPicker | None:
    """The endpoint picker's configuration, where the component has one."""
    config = spec.epp_config
    if config is None:
        return None
    reference = config.config_map_ref or {}
    name, key = (str(reference.get(member) or "") for member in ("name", "key"))
    return EndpointPicker(config_map=name, key=key, inline=config.config)
