"""The tree of commands."""

from __future__ import annotations

from importlib import import_module
from typing import Final

import click

from dynamo_operator.cli.messages import write_error

COMMANDS: Final = ("run", "render", "validate", "generate", "version")
"""Every command; each lives in the module of its name beside this one."""


class LazyGroup(click.Group):
    """A group that imports a command when it is asked for, so that the operator does not carry the others."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's
        """Names in the order in which they are shown."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's
        """The command of a name, None when there is none."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"dynamo_operator.cli.{cmd_name}"), cmd_name)
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
def tree() -> None:
    """Kubernetes operator for NVIDIA Dynamo inference graphs.

    Drop-in for the operator of release 0.9: `run` takes its flags. The other commands need no cluster.
    """


def main() -> None:
    """Run the command that the words of the command line name; what cannot be written ends it with exit code 1."""
    try:
        tree(prog_name="dynamo-operator")
    except OSError as error:
        write_error(f"dynamo-operator: {error.filename or 'cannot write'}: {(error.strerror or str(error)).lower()}")
        raise SystemExit(1) from None
