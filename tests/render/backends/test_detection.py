"""Which backend a component runs."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamo_operator.domain.outcome import Unrenderable
from dynamo_operator.render.backends.detection import WORKER_TYPES, backend_of
from dynamo_operator.render.backends.registry import FRAMEWORKS, backend_named
from dynamo_operator.render.components.registry import COMPONENT_TYPES
from dynamo_operator.render.components.worker import Worker
from tests.support.components import component

SHELL = ["/bin/sh", "-c"]

ROWS: list[tuple[str, str, list[str], list[str], str, str]] = [
    ("a shell script: vLLM", "worker", SHELL, ["python -m dynamo.vllm.worker --model test"], "", "vllm"),
    ("a versioned interpreter: SGLang", "worker", [], ["python3.11 -m dynamo.sglang"], "", "sglang"),
    ("a pipeline: vLLM", "worker", [], ["echo a && python -m dynamo.vllm.worker --model b | tee log"], "", "vllm"),
    ("a list of words: TensorRT-LLM", "worker", ["python3"], ["-m", "dynamo.trtllm", "--x"], "", "trtllm"),
    ("blanks of every kind: vLLM", "prefill", [], ["python3 -u\n\t-m \tdynamo.vllm"], "", "vllm"),
    ("another program: none", "worker", SHELL, ["echo hello world"], "", "noop"),
    ("a vertical tab is no blank: none", "worker", [], ["python3\v-m dynamo.vllm"], "", "noop"),
    ("the module is in another command: none", "worker", [], ["python3 -V; run -m dynamo.vllm"], "", "noop"),
    ("the interpreter comes last: none", "worker", [], ["-m dynamo.vllm python3 "], "", "noop"),
    ("nothing is said: none", "decode", [], [], "", "noop"),
    ("only declared: as declared", "worker", [], [], "sglang", "sglang"),
    ("said and declared alike: that one", "worker", [], ["python -m dynamo.sglang"], "sglang", "sglang"),
    (
        "two named, one declared: as declared",
        "worker",
        [],
        ["python -m dynamo.vllm; python -m dynamo.sglang"],
        "vllm",
        "vllm",
    ),
    ("a frontend: none, whatever it says", "frontend", [], ["python -m dynamo.vllm"], "sglang", "noop"),
]


@pytest.mark.parametrize(("title", "role", "command", "args", "declared", "wanted"), ROWS, ids=[row[0] for row in ROWS])
def test_backend(title: str, role: str, command: list[str], args: list[str], declared: str, wanted: str) -> None:
    container = {"command": command, "args": args}
    subject = component(component_type=role, backend_framework=declared, main_container=container)
    assert backend_of(subject).name == wanted


WRONG = "failed to determine backend framework: "
SEVERAL = "could not determine backend framework: multiple backend frameworks detected from command: "

REFUSALS = [
    (
        "the command contradicts the declaration",
        ["python -m dynamo.vllm"],
        "sglang",
        f'{WRONG}backend framework mismatch: detected "vllm" from command but explicitly configured as "sglang"',
    ),
    (
        "the command names two",
        ['python -m dynamo.vllm "x" && python -m dynamo.sglang'],
        "",
        WRONG + SEVERAL + '[vllm sglang] in "python -m dynamo.vllm \\"x\\" && python -m dynamo.sglang"',
    ),
    ("nobody knows the declared one", [], "mocker", "unsupported backend framework: mocker"),
]


@pytest.mark.parametrize(("title", "args", "declared", "message"), REFUSALS, ids=[row[0] for row in REFUSALS])
def test_refused(title: str, args: list[str], declared: str, message: str) -> None:
    with pytest.raises(Unrenderable, match=f"^{re.escape(message)}$"):
        backend_of(component(backend_framework=declared, main_container={"args": args}))


WORDS = ["python3", "python3.11 ", " ", "-m ", "-m", "dynamo.vllm", "dynamo.sglang", "|", ";", "x", "\n"]


@given(st.lists(st.sampled_from(WORDS), max_size=12).map("".join))
def test_what_is_found_is_what_the_expression_of_the_go_operator_finds(line: str) -> None:
    blank = "[\t\n\f\r ]"
    found = [
        backend.name
        for backend in FRAMEWORKS
        if re.search(rf"python[0-9.]*{blank}+[^|&;]*-m{blank}+[^|&;]*dynamo\.{backend.name}[^|&;]*", line)
    ]
    subject = component(main_container={"args": [line]})
    try:
        named = backend_of(subject).name
    except Unrenderable:
        assert len(found) > 1
    else:
        assert ([named] if named != "noop" else []) == found


def test_a_hostile_command_is_long_and_the_search_stays_short() -> None:
    started = time.process_time()
    assert backend_of(component(main_container={"args": ["python -m " * 100_000]})).name == "noop"
    assert time.process_time() - started < 2


def test_a_backend_is_asked_for_by_its_own_name_and_found() -> None:
    assert [backend_named(backend.name) for backend in FRAMEWORKS] == list(FRAMEWORKS)


def test_the_types_that_run_a_model_are_those_rendered_as_workers() -> None:
    assert {name for name, kind in COMPONENT_TYPES.items() if isinstance(kind, Worker)} == WORKER_TYPES
