"""``dynamo-operator generate``: the files that follow from the types and the settings table."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

import click

from dynamo_operator.api.kinds import KINDS
from dynamo_operator.api.reference import reference_markdown
from dynamo_operator.cli.messages import write_error, write_note
from dynamo_operator.cli.screen import write_code
from dynamo_operator.settings.reference import settings_markdown

_TO = click.option("--to", type=click.Path(file_okay=False, path_type=Path), help="Write files into this folder.")


@click.group()
def generate() -> None:
    """Write CustomResourceDefinitions or reference pages."""


@generate.command()
@_TO
def crds(to: Path | None) -> None:
    """Write the CustomResourceDefinitions, ready for `kubectl apply --server-side -f -`."""
    folder = files("dynamo_operator.api") / "crds"
    definitions = {f"{kind.plural}.yaml": (folder / f"{kind.plural}.yaml").read_text("utf-8") for kind in KINDS}
    if to:
        _write_files(definitions, to)
    else:
        write_code("".join(f"---\n{text}" for text in definitions.values()), "yaml")


@generate.command()
@_TO
@click.option("--check", is_flag=True, help="Compare the files in that folder instead; exit code 1 if they differ.")
def docs(to: Path | None, *, check: bool) -> None:
    """Write the reference pages of the API and of the settings, as Markdown."""
    pages = reference_pages()
    if to is None and check:
        raise click.UsageError("--check needs --to")
    if to is None:
        click.echo("\n".join(pages.values()))
    elif check:
        _check_files(pages, to)
    else:
        _write_files(pages, to)


def reference_pages() -> Mapping[str, str]:
    """File name and text of each page under docs/reference."""
    return {"api.md": reference_markdown(), "settings.md": settings_markdown()}


def _check_files(pages: Mapping[str, str], folder: Path) -> None:
    """End with exit code 1 and the names of the files that are not what they should be."""
    stale = [name for name, text in pages.items() if not _holds(folder / name, text)]
    for name in stale:
        write_error(f"{folder / name} is not what its source makes; run `make generate` and commit the result")
    if stale:
        raise SystemExit(1)


def _holds(path: Path, text: str) -> bool:
    """True when a file exists with exactly this text."""
    return path.is_file() and path.read_text(encoding="utf-8") == text


def _write_files(texts: Mapping[str, str], folder: Path) -> None:
    """Write all files and name them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
        write_note(str(folder / name))
