"""Files become documents that know the line of each field."""

from __future__ import annotations

from itertools import pairwise

import pytest

from dynamo_operator.offline.documents import parse_documents, segments

GRAPH = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata:
  name: llm
  annotations: {a.b/c: "1"}
spec:
  services:
    Worker:
      replicas: 2
  pvcs:
  - name: cache
  - name: models
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        pytest.param("", 1, id="no path: the document"),
        pytest.param("spec.services[Worker].replicas", 9, id="a key in brackets: its line"),
        pytest.param("spec.services.Worker", 8, id="a key after a dot: its line"),
        pytest.param("spec.pvcs[1].name", 12, id="an index: its item"),
        pytest.param("spec.pvcs[7].name", 10, id="no such index: the list"),
        pytest.param("spec.services[Worker].replicas.deeper", 9, id="below a scalar: the scalar"),
        pytest.param("metadata.annotations[a.b/c]", 5, id="a key with dots: its line"),
    ],
)
def test_a_path_has_a_line(path: str, line: int) -> None:
    (document,), _ = parse_documents(GRAPH, "llm.yaml")
    assert document.line(path) == line


def test_segments_of_a_path() -> None:
    assert segments("spec.services[a.b].env[0]") == ["spec", "services", "a.b", "env", "0"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("2026-01-01", "2026-01-01", id="a date: stays text"),
        pytest.param("10:30", "10:30", id="digits with a colon: no number in base 60"),
        pytest.param("0644", 420, id="a leading zero: octal, as for file modes"),
        pytest.param("-1", -1, id="a sign: a number"),
        pytest.param("1e3", 1000.0, id="an exponent: a number"),
        pytest.param(".5", 0.5, id="a leading point: a number"),
        pytest.param("yes", True, id="yes: true, as Kubernetes reads it"),
        pytest.param("~", None, id="tilde: null"),
        pytest.param("16Gi", "16Gi", id="a quantity: text"),
        pytest.param("{2: a, true: b}", {"2": "a", "true": "b"}, id="keys: become text"),
        pytest.param("!!set {a}", {"a": None}, id="a set: becomes a map"),
        pytest.param("!!binary aGk=", "hi", id="bytes: become text"),
        pytest.param("[1, [x]]", [1, ["x"]], id="lists: stay lists"),
    ],
)
def test_scalars_are_what_kubernetes_reads(text: str, value: object) -> None:
    (document,), flaws = parse_documents(f"value: {text}", "x")
    assert (document.manifest["value"], flaws) == (value, [])


def test_documents_come_one_by_one_and_lists_item_by_item() -> None:
    text = f"{GRAPH}---\n# nothing\n---\nkind: List\nitems:\n- kind: A\n- metadata: {{name: b}}\n- 5\n---\nkind: List\n"
    documents, flaws = parse_documents(text, "x.yaml")
    assert [(one.kind, one.name, one.ours, one.line("")) for one in documents] == [
        ("DynamoGraphDeployment", "llm", True, 1),
        ("A", "", False, 18),
        ("", "b", False, 19),
        ("List", "", False, 22),
    ]
    assert [(flaw.line, flaw.message) for flaw in flaws] == [(20, "an item of a List must be a map")]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        pytest.param("a: 1\nb: 2\na: 3", 3, "a is given twice, first in line 1", id="a key twice: both lines are said"),
        pytest.param("{a: 1, a: 2}", 1, "a is given twice, first in line 1", id="twice in a line: said"),
        pytest.param(
            "x:\n- b.c: 1\n  b.c: 2",
            3,
            "x[0][b.c] is given twice, first in line 2",
            id="twice in an item: with its path",
        ),
        pytest.param("- a", 1, " a document must be a map with apiVersion and kind", id="a list: refused"),
        pytest.param("a: 1\nb: [", 3, " not valid YAML: while parsing a flow node", id="broken: said with its line"),
        pytest.param("a: !x 1", 1, " not valid YAML: could not determine a constructor", id="unknown tag: refused"),
        pytest.param("a: &a [*a]", 1, " an alias contains itself", id="endless alias: refused"),
        pytest.param("a: \x01", 1, " not valid YAML", id="control characters: refused"),
    ],
)
def test_flaws_of_a_file(text: str, line: int, message: str) -> None:
    _, flaws = parse_documents(text, "x.yaml")
    assert (flaws[0].origin, flaws[0].line) == ("x.yaml", line)
    assert f"{flaws[0].path} {flaws[0].message}".startswith(message)


def test_an_alias_used_twice_is_fine() -> None:
    (document,), flaws = parse_documents("a: &a {x: 1}\nb: *a\nc: *a", "x")
    assert (document.manifest["c"], flaws) == ({"x": 1}, [])


def test_a_duplicate_still_leaves_a_document_that_points_to_the_last() -> None:
    (document,), _ = parse_documents("a: 1\na: 2", "x")
    assert (document.manifest, document.line("a")) == ({"a": 2}, 2)


LAUGHS = "a: &a [x, x, x]\n" + "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 30)}]\n" for a, b in pairwise("abcdef"))
CHAIN = "a0: &a0 {}\n" + "".join(f"a{i}: &a{i} {{a: *a{i - 1}}}\n" for i in range(1, 200))


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        pytest.param("a: 1\nb: " + "[" * 20000, 2, "nested more than 100 levels", id="nested deep: refused"),
        pytest.param("{a: " * 50000, 1, "nested more than 100 levels", id="nested very deep: refused"),
        pytest.param(CHAIN, 1, "is nested more than 100 levels", id="nested deep by aliases: refused"),
        pytest.param(LAUGHS, 1, "stands for more than 1000000 values", id="billions by aliases: refused"),
        pytest.param("a: 1\nb: " + "9" * 5000, 2, "this is no usable int", id="a number beyond bounds: refused"),
        pytest.param("a: 0x" + "f" * 5000, 1, "this is no usable int", id="such a number in base 16: refused"),
        pytest.param("a: 0b_", 1, "this is no usable int", id="a number without digits: refused"),
        pytest.param("a: !!timestamp x", 1, "this is no usable timestamp", id="a tag that does not fit: refused"),
        pytest.param("a: 1\nb: \a", 2, "character #x0007", id="a control character: refused with its line"),
        pytest.param("kind: List\nitems: {a: b}", 1, "must be a list", id="a List without a list: refused"),
    ],
)
def test_hostile_files_are_refused(text: str, line: int, message: str) -> None:
    documents, (flaw,) = parse_documents(text, "llm.yaml")
    assert (documents, flaw.line, message in flaw.message) == ([], line, True)


@pytest.mark.parametrize("version", ["", "apiVersion: nvidia.io/v1alpha1\n"])
def test_a_kind_of_ours_is_ours_without_its_group(version: str) -> None:
    (document,), _ = parse_documents(f"{version}kind: DynamoGraphDeployment\n", "llm.yaml")
    assert document.ours
