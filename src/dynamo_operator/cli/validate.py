"""``dynamo-operator validate``: everything that is wrong with manifests, at once, with file and line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click
from rich.markup import escape

from dynamo_operator.cli.inputs import Unusable, load_documents
from dynamo_operator.cli.messages import printable, write_error, write_note
from dynamo_operator.cli.namespace import namespace_option
from dynamo_operator.cli.offers import POSSIBLE, parse_offers
from dynamo_operator.cli.offline_settings import SettingsCommand, settings_of
from dynamo_operator.cli.screen import FORMATS, on_terminal, write_table, write_value
from dynamo_operator.domain.site import Offers
from dynamo_operator.offline.documents import Document
from dynamo_operator.offline.findings import Finding, Severity, find_all

_SOME_SECRET = "mpi-run-ssh-secret"  # noqa: S105 - the name that the chart gives it
_COLOURS = {Severity.ERROR: "[red]error[/]", Severity.WARNING: "[yellow]warning[/]"}


@click.command(cls=SettingsCommand)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@namespace_option
@click.option(
    "--cluster",
    "offers",
    default="istio,inference,lws,volcano,grove,kai",
    callback=parse_offers,
    metavar="LIST",
    help=f"What the cluster offers; everything unless said otherwise. Possible: {POSSIBLE}.",
)
@click.option("--strict", is_flag=True, help="Count warnings as errors.")
@click.option("-o", "--output", "form", type=click.Choice(FORMATS), help="Write JSON or YAML.")
@click.pass_context
def validate(
    context: click.Context, files: tuple[str, ...], *, namespace: str, offers: Offers, strict: bool, form: str | None
) -> None:
    """Check the Dynamo objects in FILE... against schema and rules, without a cluster.

    FILE may be a folder, or - for standard input. Exit code 0: all is well, 1: something is wrong, 2: a file cannot
    be used, or there is no object at all.
    """
    settings = settings_of(context, None)
    # What only the operator's own settings tell is taken for granted as well.
    site = replace(settings, mpi_secret_name=settings.mpi_secret_name or _SOME_SECRET).site(offers)
    try:
        documents, flaws = load_documents(files)
    except Unusable as unusable:
        write_error(str(unusable))
        context.exit(2)
    findings = find_all(documents, flaws, site, namespace=namespace)
    _write(findings, form)
    _summarise(documents, findings)
    errors = [one for one in findings if strict or one.severity is Severity.ERROR]
    context.exit(2 if flaws else 1 if errors else 0)


def _write(findings: Sequence[Finding], form: str | None) -> None:
    """Write the findings in the way that suits who reads."""
    if form:
        write_value([_record(one) for one in findings], form)
    elif not on_terminal():
        for one in findings:
            click.echo(printable(_line(one)))
    elif findings:
        write_table(("", "where", "object", "what"), map(_row, findings))


def _line(one: Finding) -> str:
    """A finding as compilers write them."""
    warning = "warning: " if one.severity is Severity.WARNING else ""
    subject = f"{one.subject}: " if one.subject else ""
    return f"{one.origin}:{one.line}: {subject}{warning}{one.text}"


def _record(one: Finding) -> dict[str, Any]:
    """A finding for programs."""
    return {
        "file": one.origin,
        "line": one.line,
        "object": one.subject,
        "path": one.path,
        "severity": one.severity.value,
        "message": one.message,
    }


def _row(one: Finding) -> tuple[str, str, str, str]:
    """A finding as a row of the table."""
    return (_COLOURS[one.severity], _plain(f"{one.origin}:{one.line}"), _plain(one.subject), _plain(one.text))


def _plain(text: str) -> str:
    """Text in which brackets are brackets, not markup."""
    return escape(printable(text))


def _summarise(documents: Sequence[Document], findings: Sequence[Finding]) -> None:
    """Say on standard error what was looked at and how it went."""
    for document in documents:
        if not document.ours:
            write_note(f"{document.origin}:{document.line('')}: {document.kind or 'object without kind'}: passed over")
    checked = sum(document.ours for document in documents)
    errors = sum(one.severity is Severity.ERROR for one in findings)
    counts = ((checked, "object"), (errors, "error"), (len(findings) - errors, "warning"))
    objects, *rest = (f"{count} {word}{'' if count == 1 else 's'}" for count, word in counts)
    write_note(", ".join((f"{objects} checked", *rest)))
