"""Names that no API server takes are found before they reach one."""

from __future__ import annotations

import pytest

from dynamo_operator.check.object_names import object_name_violations


@pytest.mark.parametrize(
    ("graph", "key", "said"),
    [
        pytest.param("llm", "Worker", "", id="letters: taken"),
        pytest.param("", "Worker", "", id="no name yet: taken"),
        pytest.param("llm", "A_B", "would be called 'llm-a_b'", id="an underscore: refused"),
        pytest.param("llm", "my svc", "would be called 'llm-my svc'", id="a blank: refused"),
        pytest.param("llm", "", "would be called 'llm-'", id="an empty key: refused"),
        pytest.param("llm", "a" * 60, "has 64 characters, Kubernetes allows 63", id="too long: refused"),
    ],
)
def test_names(graph: str, key: str, said: str) -> None:
    messages = [one.message for one in object_name_violations(graph, [key])]
    assert len(messages) == bool(said)
    assert all(said in message for message in messages)
