"""What a stored DynamoComponentDeployment must be to be carried out (specification: api.md 12.5, 12.6)."""

from __future__ import annotations

from msgspec import structs

from dynamo_operator.api.v1alpha1.component_deployment import DynamoComponentDeploymentSpec
from dynamo_operator.check.component import component_violation, component_warnings
from dynamo_operator.check.component_value import specified
from dynamo_operator.check.parsing import parse_spec
from dynamo_operator.domain.component import Component
from dynamo_operator.domain.discovery import KUBERNETES, discovery_backend
from dynamo_operator.domain.labels import EPP_ACCOUNT, PLANNER_ACCOUNT
from dynamo_operator.domain.names import dynamo_namespace
from dynamo_operator.domain.outcome import Rejected, Violation
from dynamo_operator.domain.site import Site
from dynamo_operator.domain.source import Source


def check_component(source: Source, site: Site) -> Component:
    """The component that a stored object describes. Raises Rejected with the first rule that it breaks."""
    spec = _parsed(source)
    violation = component_violation(spec, "spec")
    if violation is not None:
        raise Rejected(violation)
    return _component(source, spec, site)


def component_deployment_violations(source: Source) -> tuple[Violation, ...]:
    """What admission has against a component deployment."""
    try:
        violation = component_violation(_parsed(source), "spec")
    except Rejected as rejected:
        return rejected.violations
    return () if violation is None else (violation,)


def component_deployment_warnings(source: Source) -> list[str]:
    """What a valid component deployment says in vain.

    That its Dynamo namespace is replaced is only said where the value changes, so not to the operator itself.
    """
    spec = _parsed(source)
    effective = dynamo_namespace(source.namespace, source.graph, shared=spec.global_dynamo_namespace)
    told = spec.dynamo_namespace if spec.dynamo_namespace != effective else None
    return component_warnings(structs.replace(spec, dynamo_namespace=told), "spec", effective)


def _parsed(source: Source) -> DynamoComponentDeploymentSpec:
    return parse_spec(source.spec, DynamoComponentDeploymentSpec, "spec")


def _dynamo_namespace(source: Source, spec: DynamoComponentDeploymentSpec, site: Site) -> str:
    computed = dynamo_namespace(source.namespace, source.graph, shared=spec.global_dynamo_namespace)
    if spec.global_dynamo_namespace or source.graph or not spec.dynamo_namespace:
        return computed
    # On its own, under Kubernetes discovery and without an account, upstream makes no pod at all, so a better name
    # restarts nothing; everywhere else its pods run with the odd one.
    return spec.dynamo_namespace if _has_no_account(spec, site) else computed


def _has_no_account(spec: DynamoComponentDeploymentSpec, site: Site) -> bool:
    given = (spec.extra_pod_spec or {}).get("serviceAccountName") or _ACCOUNTS.get(spec.component_type)
    return not given and discovery_backend(spec.annotations, site) == KUBERNETES


_ACCOUNTS = {"planner": PLANNER_ACCOUNT, "epp": EPP_ACCOUNT}


def _component(source: Source, spec: DynamoComponentDeploymentSpec, site: Site) -> Component:
    identity = Component(
        namespace=source.namespace,
        name=source.name,
        service=spec.service_name,
        graph=source.graph,
        dynamo_namespace=_dynamo_namespace(source, spec, site),
        declared_namespace=spec.dynamo_namespace or "",
        backend_framework=spec.backend_framework or "",
        object_labels=source.labels,
    )
    return specified(identity, spec)
