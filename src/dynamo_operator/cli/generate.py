"""``dynamo-operator generate``: the files that follow from the types and the settings table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from dynamo_operator.api.crd import crd_yaml
from dynamo_operator.api.kinds import KINDS
from dynamo_operator.api.reference import reference_markdown
from dynamo_operator.cli.messages import write_note
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
    files = {f"{kind.plural}.yaml": crd_yaml(kind) for kind in KINDS}
    if to:
        _write_files(files, to)
    else:
        write_code("".join(f"---\n{text}" for text in files.values()), "yaml")


@generate.command()
@_TO
def docs(to: Path | None) -> None:
    """Write the reference pages of the API and of the settings, as Markdown."""
    files = reference_pages()
    if to:
        _write_files(files, to)
    else:
        click.echo("\n".join(files.values()))


def reference_pages() -> Mapping[str, str]:
    """File name and text of each page under docs/reference."""
    return {"api.md": reference_markdown(), "settings.md": settings_markdown()}


def _write_files(files: Mapping[str, str], folder: Path) -> None:
    """Write all files and name them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
        write_note(str(folder / name))
