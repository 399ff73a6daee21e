"""What a stored DynamoGraphDeployment must be to be carried out (specification: api.md 12.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import field

from dynamo_operator.api.meta import ApiType
from dynamo_operator.api.v1alpha1 import graph_deployment as api
from dynamo_operator.api.v1alpha1.component import ComponentSpec
from dynamo_operator.check.clique_names import clique_name_violations, clique_name_warnings
from dynamo_operator.check.component import component_violation, component_warnings, node_count, picker_of
from dynamo_operator.check.component_value import specified
from dynamo_operator.check.object_names import object_name_violations
from dynamo_operator.check.parsing import is_zero, parse_spec
from dynamo_operator.domain.component import Component
from dynamo_operator.domain.graph import Claim, Graph, Restart, Service
from dynamo_operator.domain.manifest import Tree
from dynamo_operator.domain.names import component_name, dynamo_namespace
from dynamo_operator.domain.outcome import Rejected, Violation
from dynamo_operator.domain.pathway import Pathway, pathway_of
from dynamo_operator.domain.site import Site
from dynamo_operator.domain.source import Source


@dataclass(frozen=True, slots=True)
class ParsedGraph:
    """A graph's spec in API types; ``services`` is sorted by key, ``raw`` holds each of them as it is stored."""

    spec: api.DynamoGraphDeploymentSpec
    services: Mapping[str, ComponentSpec]
    raw: Mapping[str, Tree]


def parse_graph(source: Source) -> ParsedGraph:
    """The spec of a stored graph. Raises Rejected where it has another shape than the API type."""
    shell = {key: value for key, value in source.spec.items() if key != "services"}
    spec = parse_spec(shell, api.DynamoGraphDeploymentSpec, "spec")
    # Services are parsed one by one, because a refusal has to name the service.
    raw = parse_spec({"services": source.spec.get("services")}, _Services, "spec").services
    services = {key: parse_spec(raw[key], ComponentSpec, f"spec.services[{key}]") for key in sorted(raw)}
    return ParsedGraph(spec=spec, services=services, raw=raw)


class _Services(ApiType, frozen=True):
    services: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])


def check_graph(source: Source, site: Site) -> Graph:  # noqa: ARG001 - all checks are called alike
    """The graph that a stored object describes. Raises Rejected with all problems of the first group that has any."""
    parsed = parse_graph(source)
    violations = _violations(parsed)
    if violations:
        raise Rejected(*violations)
    return _graph(source, parsed)


def graph_violations(source: Source, site: Site) -> tuple[Violation, ...]:
    """What admission has against a graph: the rules of check_graph, and those of this cluster."""
    try:
        parsed = parse_graph(source)
    except Rejected as rejected:
        return rejected.violations
    violations = _violations(parsed, pools_missing=not site.offers.inference_pools)
    if not violations and pathway_of(source.annotations, site) is Pathway.CLIQUES:
        violations = tuple(clique_name_violations(source.name, parsed.services))
    return violations or tuple(object_name_violations(source.name, parsed.services))


def graph_warnings(source: Source, site: Site) -> list[str]:
    """What a valid graph says in vain, sorted by service key."""
    services = parse_graph(source).services
    warnings = [
        warning
        for key, spec in services.items()
        for warning in component_warnings(spec, f"spec.services[{key}]", _dynamo_namespace(source, spec))
    ]
    cliques = pathway_of(source.annotations, site) is Pathway.CLIQUES
    return [*warnings, *clique_name_warnings(services)] if cliques else warnings


def _violations(parsed: ParsedGraph, *, pools_missing: bool = False) -> tuple[Violation, ...]:
    if not parsed.services:
        return (Violation("spec.services must have at least one service", "spec.services", "missing_field"),)
    return (
        _claim_violations(parsed.spec.pvcs)
        or _restart_violations(parsed)
        or _service_violations(parsed.services, pools_missing=pools_missing)
    )


def _claim_violations(claims: tuple[api.PVC, ...]) -> tuple[Violation, ...]:
    for index, claim in enumerate(claims):
        missing = [] if claim.name else ["name is required"]
        if claim.create:
            given = {
                "storageClass": bool(claim.storage_class),
                "size": not is_zero(claim.size),
                "volumeAccessMode": bool(claim.volume_access_mode),
            }
            missing += [f"{name} is required when create is true" for name, there in given.items() if not there]
        if missing:
            paths = (f"spec.pvcs[{index}].{text}" for text in missing)
            return tuple(Violation(text, text.split(" ", 1)[0], "missing_field") for text in paths)
    return ()


def _restart_violations(parsed: ParsedGraph) -> tuple[Violation, ...]:
    restart = parsed.spec.restart
    if restart is None:
        return ()
    problems = [] if restart.id else [Violation("spec.restart.id is required", "spec.restart.id", "missing_field")]
    strategy = restart.strategy
    if strategy is None or not strategy.order:
        return tuple(problems)
    path = "spec.restart.strategy.order"
    if strategy.type == "Parallel":
        texts = ["cannot be specified when strategy is parallel"]
    else:
        texts = _order_problems(strategy.order, parsed.services)
    return (*problems, *(Violation(f"{path} {text}", path, "restart_order") for text in texts))


def _order_problems(order: tuple[str, ...], services: Mapping[str, ComponentSpec]) -> list[str]:
    distinct = dict.fromkeys(order)
    problems = ["must be unique"] if len(distinct) != len(order) else []
    if len(distinct) != len(services):
        problems.append("must have the same number of unique services as the deployment")
    return problems + [f"contains unknown service: {name}" for name in distinct if name not in services]


def _service_violations(services: Mapping[str, ComponentSpec], *, pools_missing: bool) -> tuple[Violation, ...]:
    for key, spec in services.items():
        violation = component_violation(spec, f"spec.services[{key}]", pools_missing=pools_missing)
        if violation is not None:
            return (violation,)
    return ()


def _dynamo_namespace(source: Source, spec: ComponentSpec) -> str:
    return dynamo_namespace(source.namespace, source.name, shared=spec.global_dynamo_namespace)


def _graph(source: Source, parsed: ParsedGraph) -> Graph:
    spec = parsed.spec
    return Graph(
        namespace=source.namespace,
        name=source.name,
        uid=source.uid,
        generation=source.generation,
        annotations=source.annotations,
        backend_framework=spec.backend_framework or "",
        envs=spec.envs,
        claims=tuple(_claim(claim) for claim in spec.pvcs),
        services=tuple(_service(source, parsed, key) for key in parsed.services),
        restart=_restart(spec.restart),
    )


def _claim(claim: api.PVC) -> Claim:
    return Claim(
        name=claim.name or "",
        create=bool(claim.create),
        storage_class=claim.storage_class,
        size=str(claim.size),
        access_mode=claim.volume_access_mode,
    )


def _restart(restart: api.Restart | None) -> Restart | None:
    if restart is None:
        return None
    strategy = restart.strategy or api.RestartStrategy()
    return Restart(id=restart.id, parallel=strategy.type == "Parallel", order=strategy.order)


def _service(source: Source, parsed: ParsedGraph, key: str) -> Service:
    spec = parsed.services[key]
    return Service(
        key=key,
        spec=parsed.raw[key],
        component=_component(source, parsed, key),
        component_type=spec.component_type,
        replicas=spec.replicas,
        nodes=node_count(spec),
        scaling_adapter=bool(spec.scaling_adapter and spec.scaling_adapter.enabled),
        dynamo_namespace=_dynamo_namespace(source, spec),
        endpoint_picker=picker_of(spec),
    )


def _component(source: Source, parsed: ParsedGraph, key: str) -> Component:
    namespace = _dynamo_namespace(source, parsed.services[key])
    identity = Component(
        namespace=source.namespace,
        name=component_name(source.name, key),
        service=key,
        graph=source.name,
        dynamo_namespace=namespace,
        declared_namespace=namespace,
        backend_framework=parsed.spec.backend_framework or "",
    )
    return specified(identity, parsed.services[key])
