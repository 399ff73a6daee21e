"""The option --namespace of the commands that need no cluster."""

from __future__ import annotations

import click

from dynamo_operator.api.naming import is_namespace


def _checked(_context: click.Context, _option: click.Parameter, text: str) -> str:
    """The name as it is; raises BadParameter where no namespace can have it."""
    if not is_namespace(text):
        raise click.BadParameter(f"{text!r} is no namespace; use lower-case letters, digits and dashes, at most 63")
    return text


namespace_option = click.option(
    "-n",
    "--namespace",
    default="default",
    show_default=True,
    callback=_checked,
    help="Namespace of objects that name none.",
)
