"""Flags in the commands that users write."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamo_operator.render.backends.command import (
    in_single_quotes,
    runs_python,
    shell_line,
    with_flags,
    with_trailing_flags,
)
from dynamo_operator.render.backends.contract import Launch, Start
from tests.support.components import component

PYTHON = [
    *["python", "python3", "python3.11", "python2.7", "python3.12.1", "/usr/bin/python3.8", "./python3"],
    "bin/python3.10",
]
OTHERS = ["java", "sh", "node", "python-config", "pythonx", "python/", "python ", "", "python3.", "python\n"]


@pytest.mark.parametrize("word", PYTHON)
def test_an_interpreter(word: str) -> None:
    assert runs_python([word, "-m", "x"])


@pytest.mark.parametrize("word", OTHERS)
def test_no_interpreter(word: str) -> None:
    assert not runs_python([word])


def test_no_command_is_no_interpreter() -> None:
    assert not runs_python([])


SCRIPTS: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = [
    ("nothing else: at the end", ("python -m dynamo.vllm",), ("python -m dynamo.vllm F",)),
    ("options: before them", ("python3 -m dynamo.vllm --model m",), ("python3 -m dynamo.vllm F --model m",)),
    (
        "one of several commands: in that one",
        ("echo x | wc -l && python -m dynamo.vllm && ls -al",),
        ("echo x | wc -l && python -m dynamo.vllm F && ls -al",),
    ),
    ("a pipe: before it", ("python -m dynamo.vllm | tee log",), ("python -m dynamo.vllm F | tee log",)),
    ("a pipe without blanks: before it", ("python -m dynamo.vllm|tee log",), ("python -m dynamo.vllm F|tee log",)),
    (
        "several scripts: in that one",
        ("echo start", "python -m dynamo.vllm", "echo done"),
        ("echo start", "python -m dynamo.vllm F", "echo done"),
    ),
    (
        "two scripts that start it: in the first",
        ("python -m dynamo.vllm", "python -m dynamo.vllm"),
        ("python -m dynamo.vllm F", "python -m dynamo.vllm"),
    ),
    (
        "two commands that start it: in both",
        ("python -m dynamo.vllm & python -m dynamo.vllm",),
        ("python -m dynamo.vllm F & python -m dynamo.vllm F",),
    ),
    (
        "the name again in an option's value: behind that",
        ("python3 -m dynamo.vllm --served-model-name my-vllm-7b --x",),
        ("python3 -m dynamo.vllm --served-model-name my-vllm-7b F --x",),
    ),
    (
        "lines that go on: behind the module",
        ("python3 -m dynamo.vllm \\\n  --x 1\n",),
        ("python3 -m dynamo.vllm F \\\n  --x 1\n",),
    ),
    ("another module: unchanged", ("python -m some.other.module",), ("python -m some.other.module",)),
    ("the name without Python: unchanged", ("vllm serve m",), ("vllm serve m",)),
    ("the name before Python: unchanged", ("vllm python -m x",), ("vllm python -m x",)),
    ("nothing: unchanged", (), ()),
]


@pytest.mark.parametrize(("title", "args", "wanted"), SCRIPTS, ids=[row[0] for row in SCRIPTS])
def test_a_shell_runs_it(title: str, args: tuple[str, ...], wanted: tuple[str, ...]) -> None:
    start = Start(component(), command=("/bin/sh", "-c"), args=args)
    assert with_flags(start, "F", framework="vllm", by_shell=True) == Launch(args=wanted)


def test_python_runs_it_and_the_flags_are_arguments() -> None:
    start = Start(component(), command=("python3", "-m", "dynamo.vllm"), args=("--x", "a b"))
    assert with_flags(start, "--f 1", framework="vllm", by_shell=False) == Launch(args=("--x", "a b", "--f", "1"))


def test_python_runs_it_and_a_flag_needs_a_shell_that_gets_all_words_as_they_were() -> None:
    start = Start(component(), command=("python3", "-m", "dynamo.vllm"), args=("--x", '{"a": 1}'))
    launch = with_flags(start, "--f $N", framework="vllm", by_shell=True)
    assert launch == Launch(command=("sh", "-c"), args=("exec python3 -m dynamo.vllm --x '{\"a\": 1}' --f $N",))


TRAILING: list[tuple[str, tuple[str, ...], tuple[str, ...], str]] = [
    ("no shell: at the end", ("python3", "-m", "dynamo.vllm"), ("--x",), "python3 -m dynamo.vllm --x F"),
    ("no command: at the end", (), ("run",), "run F"),
    (
        "a script: inside of it",
        ("/bin/sh", "-c"),
        ("python3 -m dynamo.vllm --x",),
        "/bin/sh -c 'python3 -m dynamo.vllm F --x'",
    ),
    (
        "a script with options before it: the shell keeps them",
        ("bash", "-o", "pipefail", "-ec", "python3 -m dynamo.vllm | tee log"),
        ("ignored",),
        "bash -o pipefail -ec 'python3 -m dynamo.vllm F | tee log' ignored",
    ),
    ("a script that starts something else: at its end", ("sh", "-c"), ("./run --x\n",), "sh -c './run --x F'"),
    ("a shell without a script: at the end", ("sh", "-c"), (), "sh -c F"),
    ("a shell that reads a file: at the end", ("sh", "run.sh"), (), "sh run.sh F"),
]


@pytest.mark.parametrize(("title", "command", "args", "wanted"), TRAILING, ids=[row[0] for row in TRAILING])
def test_trailing_flags(title: str, command: tuple[str, ...], args: tuple[str, ...], wanted: str) -> None:
    assert with_trailing_flags(Start(component(), command=command, args=args), "F", framework="vllm") == wanted


WORDS: list[tuple[str, str, str]] = [
    ("plain: as it is", "--model=a/b:c", "--model=a/b:c"),
    ("a variable: as it is", "$HOME", "$HOME"),
    ("a reference for the kubelet: as it is", "$(MODEL)", "$(MODEL)"),
    ("a command substitution: quoted", "$(ls /)", "'$(ls /)'"),
    ("blanks: quoted", "a b", "'a b'"),
    ("JSON: quoted", '{"a":1}', "'{\"a\":1}'"),
    ("nothing: quoted", "", "''"),
    ("several words of a line: as they are", "--model m --x 'a b'", "--model m --x 'a b'"),
    ("an option with JSON: quoted", '--x={"a": 1}', "'--x={\"a\": 1}'"),
]


@pytest.mark.parametrize(("title", "word", "wanted"), WORDS, ids=[row[0] for row in WORDS])
def test_word_of_a_line(title: str, word: str, wanted: str) -> None:
    assert shell_line([word]) == wanted


@given(st.lists(st.text(st.characters(codec="ascii", exclude_categories=["Cc"], exclude_characters="-$")), min_size=1))
def test_a_line_falls_apart_into_the_same_words(words: list[str]) -> None:
    assert shlex.split(shell_line(words)) == words


QUOTED: list[tuple[str, str, str]] = [
    ("no quotes: none added", "run --x", "'run --x'"),
    ("quotes around a plain word: left alone", "run 'x'", "'run 'x''"),
    ("quotes that matter: kept for the inner shell", "run 'a b'", r"'run '\''a b'\'''"),
    ("quotes around nothing: kept for the inner shell", "run ''", r"'run '\'''\'''"),
    ("a quote alone: kept for the inner shell", "it's", r"'it'\''s'"),
]


@pytest.mark.parametrize(("title", "line", "wanted"), QUOTED, ids=[row[0] for row in QUOTED])
def test_in_single_quotes(title: str, line: str, wanted: str) -> None:
    assert in_single_quotes(line) == wanted
