"""Adds flags to the command that a user wrote, in whichever form it is (specification: workloads.md 8.2).

What is written here restarts pods when it changes. It differs from the Go operator's text only for commands that the
Go operator breaks.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Final

from dynamo_operator.domain.outcome import Doubt
from dynamo_operator.render.backends.contract import MAIN_FIELD, Launch, Start

_PYTHON: Final = re.compile(r"(.*/)?python[0-9]*(\.[0-9]+)*")
_SHELL: Final = re.compile(r"(.*/)?(ba|da|z|k)?sh")
_SCRIPT_FOLLOWS: Final = re.compile(r"-[a-z]*c")

# The blanks are those of the Go operator's regular expressions, which have no vertical tab.
_BLANK: Final = re.compile(r"[\t\n\f\r ]")
_PYTHON_WORD: Final = re.compile(r"python[0-9.]*[\t\n\f\r ]")
_SIMPLE_COMMAND: Final = re.compile(r"[^|&;]+")

# $(NAME), which the kubelet replaces before any shell sees it.
_REFERENCE: Final = re.compile(r"\$\([-._a-zA-Z][-._a-zA-Z0-9]*\)")
_SPECIAL: Final = re.compile(r"""[\s'"\\|&;<>()`]""")
# Several words of a command line, written as one.
_PIECE_OF_LINE: Final = re.compile(r"-[-\w]*\s")


def runs_python(command: Sequence[str]) -> bool:
    """True when the command is a Python interpreter, so that no shell reads the arguments."""
    return bool(command) and _PYTHON.fullmatch(command[0]) is not None


def _takes_flags(start: Start, framework: str) -> bool:
    """True when there is a place in the command for flags for the framework."""
    return runs_python(start.command) or any(_with_flags(arg, "-", framework) != arg for arg in start.args)


def with_flags(start: Start, flags: str, *, framework: str, by_shell: bool) -> Launch:
    """The command with flags for the framework; ``by_shell``: only a shell can work them out.

    A script that does not start the framework stays as it is.
    """
    if not runs_python(start.command):
        return Launch(args=_with_flags_once(start.args, flags, framework))
    if by_shell:
        line = shell_line([*start.command, *start.args])
        return Launch(command=("sh", "-c"), args=(f"exec {line} {flags}",))
    return Launch(args=(*start.args, *flags.split()))


def unreachable(start: Start, framework: str) -> Iterator[Doubt]:
    """What keeps the nodes from learning of each other where ``with_flags`` has to tell them."""
    if not _takes_flags(start, framework):
        yield Doubt(
            MAIN_FIELD,
            f"nothing in the args starts dynamo.{framework}, so that the nodes do not learn of each other; write "
            f"python3 -m dynamo.{framework} as a list, or into args under command [sh, -c]",
        )


def with_trailing_flags(start: Start, flags: str, *, framework: str) -> str:
    """The command as one line for a shell, with flags for the framework; a script that it runs gets them inside."""
    words = [*start.command, *start.args]
    place = _place_of_script(words)
    if place is None:
        return f"{shell_line(words)} {flags}"
    script = words[place]
    extended = _with_flags(script, flags, framework)
    words[place] = extended if extended != script else f"{script.rstrip()} {flags}"
    return shlex.join(words)


def shell_line(words: Sequence[str]) -> str:
    """Words as a line that a shell takes apart into the same words.

    A word is quoted only where it must be, so references to variables keep working.
    """
    return " ".join(_shell_word(word) for word in words)


def in_single_quotes(line: str) -> str:
    """A line between single quotes.

    Quotes of its own are left alone where they do no harm: around words that need none.
    """
    pieces = line.split("'")
    harmless = len(pieces) % 2 == 1 and all(shlex.quote(piece) == piece for piece in pieces[1::2])
    return f"'{line}'" if harmless else "'" + line.replace("'", r"'\''") + "'"


def _shell_word(word: str) -> str:
    special = not word or _SPECIAL.search(_REFERENCE.sub("", word))
    return shlex.quote(word) if special and not _PIECE_OF_LINE.match(word) else word


def _place_of_script(words: Sequence[str]) -> int | None:
    """Where the script of ``sh -c`` stands; None when the words run no such shell."""
    if not words or not _SHELL.fullmatch(words[0]):
        return None
    options = (place for place, word in enumerate(words) if _SCRIPT_FOLLOWS.fullmatch(word))
    place = next(options, len(words)) + 1
    return place if place < len(words) else None


def _with_flags_once(args: Sequence[str], flags: str, framework: str) -> tuple[str, ...]:
    """The arguments with flags in the first that starts the framework."""
    for place, script in enumerate(args):
        extended = _with_flags(script, flags, framework)
        if extended != script:
            return (*args[:place], extended, *args[place + 1 :])
    return tuple(args)


def _with_flags(script: str, flags: str, framework: str) -> str:
    """The script with flags in each simple command that runs the framework in Python.

    They stand behind the last word there that contains the framework's name. Each simple command is searched from left
    to right once, so that the time stays linear in what a user wrote.
    """
    return _SIMPLE_COMMAND.sub(lambda found: _extended(found[0], flags, framework), script)


def _extended(command: str, flags: str, framework: str) -> str:
    interpreter = _PYTHON_WORD.search(command)
    place = command.rfind(framework, interpreter.end()) if interpreter else -1
    if place < 0:
        return command
    blank = _BLANK.search(command, place + len(framework))
    end = blank.start() if blank else len(command)
    return f"{command[:end]} {flags}{command[end:]}"
