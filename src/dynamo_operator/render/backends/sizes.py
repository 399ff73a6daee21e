"""How much hardware a component is given, and how much its command asks for (specification: workloads.md 8.3, 8.5)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from dynamo_operator.domain.component import Component, Resources

# No size has more digits, and Python refuses to read some thousands of them.
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,100}")
_NOTHING: Final = Resources()


def gpu_limit(component: Component) -> int:
    """GPUs of one node by the component's limits; 0 when that is not said as a whole number."""
    return _whole((component.resources or _NOTHING).limits.gpu) or 0


def gpus_asked(component: Component) -> int:
    """GPUs of one node by the component's requests, else by its limits; 0 when neither is a whole number."""
    requested = _whole((component.resources or _NOTHING).requests.gpu)
    return gpu_limit(component) if requested is None else requested


def words_of(command: Sequence[str], args: Sequence[str]) -> list[str]:
    """All words of a command line, those of the arguments first."""
    return " ".join([*args, *command]).split()


def words_asked_for(command: Sequence[str], args: Sequence[str]) -> list[str]:
    """The same words without what a shell ends commands with: what users mean, where release 0.9 reads no number."""
    return [word.rstrip(";&|") for word in words_of(command, args)]


def size_in(words: Sequence[str], *names: str) -> int:
    """The number given to an option, 1 without one. The first name that has a number decides.

    ``--name 2`` goes before ``--name=2``: the Go operator knows only the former, of the first name.
    """
    said = [*pairwise(words), *(tuple(word.split("=", 1)) for word in words if "=" in word)]
    for name in names:
        for option, value in said:
            number = _whole(value) if option == name else None
            if number is not None:
                return number
    return 1


def _whole(text: str) -> int | None:
    return int(text) if _INTEGER.fullmatch(text) else None
