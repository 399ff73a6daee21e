"""What commands say beside their output, on standard error."""

from __future__ import annotations

import click


def write_note(text: str) -> None:
    """Say something that does not change the outcome."""
    click.secho(text, err=True, dim=True)


def write_error(text: str) -> None:
    """Say what went wrong."""
    click.secho(text, err=True, fg="red")
