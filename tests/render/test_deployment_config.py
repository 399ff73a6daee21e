"""What the deployment config says."""

from __future__ import annotations

import pytest

from dynamo_operator.domain.outcome import Unrenderable
from dynamo_operator.render.deployment_config import ServiceArguments, parse_service_arguments, with_frontend_port

TEXTS: list[tuple[str, str, str]] = [
    ("the frontend's entry: its port is set", '{"F": {"x": [1, true, null]}}', '{"F":{"port":8000,"x":[1,true,null]}}'),
    ("no entry: only the spelling changes", '{"b": 1, "a": "é"}', '{"a":"é","b":1}'),
    ("an entry that is no object: left alone", '{"F": 3}', '{"F":3}'),
    ("markup: escaped", '{"a": "<&>"}', '{"a":"\\u003c\\u0026\\u003e"}'),
    (
        "numbers: as 64-bit floats",
        '{"a": [1.0, 0.5, 1e21, 1e-7, 0, 12345678901234567890]}',
        '{"a":[1,0.5,1e+21,1e-7,0,12345678901234567000]}',
    ),
]


@pytest.mark.parametrize(("document", "wanted"), [t[1:] for t in TEXTS], ids=[t[0] for t in TEXTS])
def test_with_frontend_port(document: str, wanted: str) -> None:
    assert with_frontend_port(document, "F") == wanted


ARGUMENTS: list[tuple[str, str, ServiceArguments]] = [
    ("nothing about the service: nothing", '{"T": {"ServiceArgs": {"workers": 2}}}', ServiceArguments()),
    ("unknown and null members: ignored", '{"S": {"x": 1, "ServiceArgs": null}, "T": null}', ServiceArguments()),
    ("workers in any case: read", '{"S": {"serviceargs": {"WORKERS": 2}}}', ServiceArguments(workers=2)),
    (
        "amounts: read",
        '{"S": {"ServiceArgs": {"resources": {"CPU": "1", "memory": "", "custom": {"a": "b"}}}}}',
        ServiceArguments(amounts={"cpu": "1"}, custom={"a": "b"}),
    ),
]


@pytest.mark.parametrize(("document", "wanted"), [a[1:] for a in ARGUMENTS], ids=[a[0] for a in ARGUMENTS])
def test_parse_service_arguments(document: str, wanted: ServiceArguments) -> None:
    assert parse_service_arguments(document, "S") == wanted


BROKEN: list[tuple[str, str, str]] = [
    ("no JSON: said", "", "Input data was truncated"),
    ("no object: said", "[]", "Expected `object`, got `array`"),
    ("a service that is text: named, whichever it is", '{"T": "x"}', "T of service T must be an object"),
    (
        "workers as text: named",
        '{"S": {"ServiceArgs": {"workers": "2"}}}',
        "workers of service S must be a whole number",
    ),
    (
        "workers as truth: named",
        '{"S": {"ServiceArgs": {"workers": true}}}',
        "workers of service S must be a whole number",
    ),
    (
        "a number for text: named",
        '{"S": {"ServiceArgs": {"resources": {"cpu": 1}}}}',
        "cpu of service S must be a string",
    ),
]


@pytest.mark.parametrize(("document", "text"), [b[1:] for b in BROKEN], ids=[b[0] for b in BROKEN])
def test_broken(document: str, text: str) -> None:
    with pytest.raises(Unrenderable) as problem:
        parse_service_arguments(document, "S")
    assert str(problem.value) == f"failed to parse DYN_DEPLOYMENT_CONFIG: {text}"


def test_broken_for_a_frontend_the_first_step_fails() -> None:
    with pytest.raises(Unrenderable, match="failed to unmarshal DYN_DEPLOYMENT_CONFIG: "):
        with_frontend_port("x", "F")
