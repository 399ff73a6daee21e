"""Where commands write: colours and tables on a terminal, plain text in a pipe."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import click
import yaml
from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table

FORMATS = ("json", "yaml")


class BlockDumper(yaml.CSafeDumper):
    """YAML for people: no aliases, several lines as a block, lists indented under their key."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the dumper asks for every value
        """A value that occurs twice is written twice."""
        return True


def _as_block(dumper: yaml.CSafeDumper, text: str) -> yaml.ScalarNode:
    """Text of several lines as a literal block."""
    represent: Callable[..., yaml.ScalarNode] = cast("Any", dumper).represent_scalar
    return represent("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


BlockDumper.add_representer(str, _as_block)


def yaml_text(value: object) -> str:
    """A value as YAML, members in the order in which they were made."""
    return yaml.dump(
        value, Dumper=BlockDumper, sort_keys=False, default_flow_style=False, allow_unicode=True, width=120
    )


def write_value(value: object, form: str) -> None:
    """Write a value as JSON or YAML to standard output."""
    write_code(json.dumps(value, indent=2, ensure_ascii=False) + "\n" if form == "json" else yaml_text(value), form)


def write_code(text: str, form: str) -> None:
    """Write JSON or YAML, in colours on a terminal."""
    console = Console()
    if console.is_terminal:
        console.print(Syntax(text.rstrip("\n"), form, background_color="default", word_wrap=False), soft_wrap=True)
    else:
        click.echo(text, nl=not text.endswith("\n"))


def write_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a table to a terminal; it is as wide as the terminal lets it be."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")  # a field path is of no use without its end
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def on_terminal() -> bool:
    """True when standard output is a terminal."""
    return Console().is_terminal
