"""``dynamo-operator run``: the operator itself. Its flags follow Go's rules, so click passes them on unread."""

from __future__ import annotations

import os
from typing import Any

import click

from dynamo_operator.cli.messages import write_error
from dynamo_operator.settings import SettingsError, parse_settings
from dynamo_operator.settings.flags import parse_flags
from dynamo_operator.settings.reference import flag_help


class RawCommand(click.Command):
    """A command that receives its words as they were typed, --help among them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep all words as parameter ``words``."""
        ctx.params = {"words": tuple(args)}
        return []

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's
        """List the operator's flags."""
        with formatter.section("Flags"):
            formatter.write_dl(flag_help(), col_max=44)


@click.command(cls=RawCommand, add_help_option=False, options_metavar="[FLAGS]")
@click.pass_context
def run(context: click.Context, words: tuple[str, ...]) -> None:
    """Run the operator until it is told to stop.

    Takes every flag of release 0.9 under its name, with one dash or two. See docs/reference/settings.md.
    """
    if parse_flags(words).help:
        click.echo(context.get_help())
        return
    try:
        settings = parse_settings(words, os.environ)
    except SettingsError as error:
        for problem in error.problems:
            write_error(f"dynamo-operator run: {problem}")
        context.exit(error.code)
    context.exit(_bootstrap().run(settings))


def _bootstrap() -> Any:
    """The composition root; imported here so that the other commands start without it and its libraries."""
    from dynamo_operator import bootstrap  # noqa: PLC0415

    return bootstrap
