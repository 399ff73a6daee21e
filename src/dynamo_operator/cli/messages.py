"""What commands say beside their output, on standard error."""

from __future__ import annotations

import click


def printable(text: str) -> str:
    """Text on one line without characters that a terminal obeys, so that no file name or value forges a message."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def write_note(text: str) -> None:
    """Say something that does not change the outcome."""
    click.secho(printable(text), err=True, dim=True)


def write_error(text: str) -> None:
    """Say what went wrong."""
    click.secho(printable(text), err=True, fg="red")
