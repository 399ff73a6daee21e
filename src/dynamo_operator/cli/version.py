"""``dynamo-operator version``: what this program is."""

from __future__ import annotations

import platform

import click

from dynamo_operator import __version__
from dynamo_operator.cli.screen import FORMATS, write_value
from dynamo_operator.domain.labels import API_VERSION


@click.command()
@click.option("-o", "--output", "form", type=click.Choice(FORMATS), help="Write JSON or YAML.")
def version(form: str | None) -> None:
    """Show the version of the operator, of its API and of Python."""
    facts = {"version": __version__, "api": API_VERSION, "python": platform.python_version()}
    if form:
        write_value(facts, form)
    else:
        click.echo(f"dynamo-operator {__version__} ({API_VERSION}, Python {facts['python']})")
