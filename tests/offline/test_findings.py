"""All that is wrong with a document is found in one go."""

from __future__ import annotations

from dynamo_operator.domain.site import Offers, Site
from dynamo_operator.offline.documents import parse_documents
from dynamo_operator.offline.findings import Finding, Severity, find_all
from dynamo_operator.offline.sources import source_of

SITE = Site(planner_cluster_role="planner", offers=Offers(inference_pools=True))
HEAD = "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata: {name: llm}\n"


def found(text: str) -> list[Finding]:
    documents, flaws = parse_documents(text, "llm.yaml")
    return find_all(documents, flaws, SITE, namespace="demo")


def told(text: str) -> list[tuple[int, str]]:
    return [(one.line, one.text) for one in found(text)]


def test_schema_and_rules_of_all_services_and_claims_are_said_together() -> None:
    text = HEAD + (
        "spec:\n"
        "  pvcs:\n"
        "  - create: true\n"
        "  services:\n"
        "    A:\n"
        "      replicas: two\n"
        "    B:\n"
        "      ingress: {enabled: true}\n"
        "    C:\n"
        "      volumeMounts: [{name: x}]\n"
    )
    lines = {line for line, _ in told(text)}
    assert {6, 9, 11, 13} <= lines
    assert (11, "spec.services[B].ingress.host is required when ingress is enabled") in told(text)


def test_members_that_the_schema_refuses_do_not_hide_others() -> None:
    text = HEAD + (
        "spec:\n  pvcs: [5, {name: [a]}]\n  services:\n    A:\n      replicas: two\n      ingress: {enabled: true}\n"
    )
    assert {(5, "spec.pvcs[0]"), (8, "spec.services[A].replicas"), (9, "spec.services[A].ingress.host")} <= {
        (one.line, one.path) for one in found(text)
    }


def test_a_sound_graph_gives_nothing() -> None:
    assert found(HEAD + "spec:\n  services:\n    A: {componentType: worker}\n") == []


def test_services_that_are_no_map_do_not_stop_the_search() -> None:
    assert any("services" in one.path for one in found(HEAD + "spec: {services: 5}\n"))


def test_what_is_said_in_vain_is_a_warning_at_its_line() -> None:
    (warning,) = found(HEAD + "spec:\n  services:\n    A:\n      dynamoNamespace: other\n")
    assert (warning.severity, warning.line, warning.subject) == (Severity.WARNING, 7, "DynamoGraphDeployment/llm")
    assert warning.text.startswith("spec.services[A].dynamoNamespace is deprecated and ignored")


def test_a_component_deployment_has_its_own_rules_and_warnings() -> None:
    head = "apiVersion: nvidia.com/v1alpha1\nkind: DynamoComponentDeployment\nmetadata: {name: w}\nspec:\n"
    assert told(head + "  ingress: {enabled: true}\n") == [(5, "spec.ingress.host is required when ingress is enabled")]
    (warning,) = found(head + "  dynamoNamespace: other\n  autoscaling: {}\n")[1:]
    assert (warning.line, warning.severity) == (6, Severity.WARNING)


def test_other_kinds_of_ours_only_have_a_schema() -> None:
    head = "apiVersion: nvidia.com/v1alpha1\nkind: DynamoModel\nmetadata: {name: m}\n"
    assert {one.line for one in found(head + "spec: {modelName: 5, baseModelName: a}\n")} == {4}
    assert found(head + "spec: {modelName: a, baseModelName: a}\n") == []


def test_a_document_without_name_is_called_by_its_kind() -> None:
    text = "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nspec: {services: {A: {replicas: x}}}\n"
    assert {one.subject for one in found(text)} == {"DynamoGraphDeployment"}


def test_flaws_of_the_file_come_along_and_foreign_documents_are_passed_over() -> None:
    assert [one.text for one in found("kind: Service\nkind: Service\n")] == [
        "kind: is given twice, first in line 1; remove one"
    ]


def test_findings_follow_files_and_lines() -> None:
    first = parse_documents(HEAD + "spec: {}\n", "b.yaml")[0]
    second = parse_documents(HEAD.replace("llm", "other") + "spec: {}\n", "a.yaml")[0]
    assert [one.origin for one in find_all(first + second, [], SITE, namespace="demo")] == ["b.yaml", "a.yaml"]


def test_a_source_takes_what_it_can_from_any_manifest() -> None:
    owner = {"kind": "DynamoGraphDeployment", "name": "llm"}
    source = source_of(
        {"metadata": {"name": "w", "labels": {"a": "b", "c": 1}, "ownerReferences": [5, owner]}, "spec": []}, "demo"
    )
    assert (source.namespace, source.name, source.graph) == ("demo", "w", "llm")
    assert (source.labels, source.spec) == ({"a": "b"}, {})
    assert source_of({"metadata": {"namespace": "own", "ownerReferences": 1}}, "demo").namespace == "own"


def test_a_null_beside_a_service_is_not_a_graph_without_services() -> None:
    assert found(HEAD + "spec:\n  services: {A: null, B: {componentType: worker}}\n") == []


def test_an_endless_name_is_shortened() -> None:
    (finding,) = found(HEAD.replace("llm", "n" * 100_000) + "spec:\n  services: {A: {}}\n")
    assert len(finding.subject) < 100


def test_an_object_given_twice_is_an_error_that_names_both_places() -> None:
    sound = HEAD + "spec:\n  services: {A: {}}\n"
    elsewhere = sound.replace("{name: llm}", "{name: llm, namespace: other}")
    named = sound.replace("{name: llm}", "{name: llm, namespace: demo}")
    foreign = "apiVersion: v1\nkind: Service\nmetadata: {name: llm}\n"
    unnamed = sound.replace("name: llm", "generateName: llm-")
    said = told("---\n".join([sound, elsewhere, foreign, foreign, unnamed, unnamed, named]))
    assert said == [
        (35, "metadata.name: DynamoGraphDeployment demo/llm is given twice, first in llm.yaml:3; remove one")
    ]
