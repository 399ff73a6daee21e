"""Finds out which backend a component runs (specification: workloads.md 7)."""

from __future__ import annotations

import json
import re
from typing import Final

from dynamo_operator.domain.component import Component
from dynamo_operator.domain.outcome import Unrenderable
from dynamo_operator.render.backends.contract import Backend
from dynamo_operator.render.backends.registry import FRAMEWORKS, NOOP, backend_named

# Component types whose main container runs a model.
WORKER_TYPES: Final = frozenset({"worker", "prefill", "decode"})

# The blanks are those of the Go operator's regular expressions, which have no vertical tab.
_INTERPRETER: Final = re.compile(r"python[0-9.]*[\t\n\f\r ]")
_MODULE: Final = re.compile(r"-m[\t\n\f\r ]")
_SIMPLE_COMMAND: Final = re.compile(r"[^|&;]+")


def backend_of(component: Component) -> Backend:
    """The backend that the command names, else the declared one, else none.

    Raises Unrenderable when command and declaration disagree, or when several are named and none is declared.
    """
    if component.component_type not in WORKER_TYPES:
        return NOOP
    line = " ".join([*component.main_container.get("command", ()), *component.main_container.get("args", ())])
    commands = _SIMPLE_COMMAND.findall(line)
    named = [backend.name for backend in FRAMEWORKS if any(_starts(backend.name, command) for command in commands)]
    return backend_named(_decide(named, component.backend_framework, line) or NOOP.name)


def _starts(framework: str, command: str) -> bool:
    """True when the simple shell command has an interpreter, then ``-m``, then ``dynamo.<framework>``.

    Looking for each part after the first place of the one before keeps the time linear in what a user wrote.
    """
    interpreter = _INTERPRETER.search(command)
    module = _MODULE.search(command, interpreter.end()) if interpreter else None
    return module is not None and f"dynamo.{framework}" in command[module.end() :]


def _decide(named: list[str], declared: str, line: str) -> str:
    if len(named) == 1 and declared not in ("", named[0]):
        raise _undetermined(
            f'backend framework mismatch: detected "{named[0]}" from command but explicitly configured as "{declared}"'
        )
    if len(named) > 1 and not declared:
        raise _undetermined(
            "could not determine backend framework: multiple backend frameworks detected from command: "
            f"[{' '.join(named)}] in {json.dumps(line, ensure_ascii=False)}"
        )
    return declared or "".join(named)


def _undetermined(text: str) -> Unrenderable:
    return Unrenderable(text).within("failed to determine backend framework")
