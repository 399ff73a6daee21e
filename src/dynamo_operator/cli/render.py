"""``dynamo-operator render``: what would be applied, as YAML."""

from __future__ import annotations

from collections.abc import Sequence

import click

from dynamo_operator.api.kinds import BY_NAME
from dynamo_operator.api.validate import validate_document
from dynamo_operator.cli.inputs import Unusable, load_documents
from dynamo_operator.cli.messages import write_error, write_note
from dynamo_operator.cli.namespace import namespace_option
from dynamo_operator.cli.offers import POSSIBLE, parse_offers
from dynamo_operator.cli.offline_settings import SettingsCommand, settings_of
from dynamo_operator.cli.other_clusters import other_clusters
from dynamo_operator.cli.screen import FORMATS, write_code, write_value, yaml_text
from dynamo_operator.domain.manifest import Upkeep
from dynamo_operator.domain.outcome import Rejected, Unrenderable
from dynamo_operator.domain.site import Offers, Site
from dynamo_operator.offline.documents import Document
from dynamo_operator.offline.findings import refusals_of
from dynamo_operator.offline.later_steps import later_steps
from dynamo_operator.offline.rendering import RENDERED, Rendered, render_manifest
from dynamo_operator.offline.repetitions import repetitions


@click.command(cls=SettingsCommand)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@namespace_option
@click.option(
    "--cluster",
    "offers",
    default="plain",
    show_default=True,
    callback=parse_offers,
    metavar="LIST",
    help=f"What the cluster offers, which decides what graphs become: {POSSIBLE}.",
)
@click.option("--config", metavar="FILE", help="Settings of the operator.")
@click.option(
    "-o", "--output", "form", type=click.Choice(FORMATS), default="yaml", help="YAML documents or a JSON list."
)
@click.pass_context
def render(
    context: click.Context, files: tuple[str, ...], *, namespace: str, offers: Offers, config: str | None, form: str
) -> None:
    """Show what the operator would apply for the graphs and components in FILE...

    No cluster is asked. FILE may be a folder, or - for standard input. Flags of `run` can follow after --, for
    example: render graph.yaml -- --natsAddr=nats://nats:4222

    Exit code 0: all is shown, 1: something is refused, 2: a file cannot be used, or there is no object at all.
    """
    site = settings_of(context, config).site(offers)
    try:
        documents, flaws = load_documents(files)
    except Unusable as unusable:
        write_error(str(unusable))
        context.exit(2)
    for flaw in flaws:
        write_error(f"{flaw.origin}:{flaw.line}: {': '.join(filter(None, (flaw.path, flaw.message)))}")
    rendered, refused = _render_all(documents, site, namespace)
    _write(rendered, form)
    context.exit(2 if flaws else 1 if refused else 0)


def _render_all(documents: Sequence[Document], site: Site, namespace: str) -> tuple[list[Rendered], bool]:
    """What all documents lead to, and whether any of them was refused; the refusals are said."""
    rendered: list[Rendered] = []
    refused = False
    for document, again in zip(documents, repetitions(documents, namespace=namespace), strict=True):
        if not document.ours or (document.kind in BY_NAME and document.kind not in RENDERED):
            write_note(f"{document.origin}:{document.line('')}: {_label(document)}: nothing to render, passed over")
            continue
        if again:
            write_error(f"{document.origin}:{document.line('metadata.name')}: {_label(document)}: {again}")
        if again or not _accepted(document):
            refused = True
            continue
        try:
            rendered += render_manifest(document.manifest, site, namespace=namespace)
            for step in later_steps(document.manifest, site, namespace=namespace):
                write_note(f"{document.origin}:{document.line('')}: {_label(document)}: not shown: {step}")
        except (Rejected, Unrenderable) as refusal:
            refused = True
            _say_why(document, site, namespace, str(refusal))
    return rendered, refused


def _say_why(document: Document, site: Site, namespace: str, refusal: str) -> None:
    """Say everything that the operator has against a document, at its places, and which cluster it suits."""
    findings = refusals_of(document, site, namespace=namespace)
    for one in findings:
        write_error(f"{one.origin}:{one.line}: {_label(document)}: {one.text}")
    for message in [] if findings else refusal.splitlines():
        write_error(f"{document.origin}:{document.line('')}: {_label(document)}: {message}")
    hint = other_clusters(document, site, {one.path for one in findings}, namespace=namespace)
    if hint:
        write_error(f"{document.origin}:{document.line('')}: {_label(document)}: {hint}")


def _accepted(document: Document) -> bool:
    """True when an API server would take the object; what is against it, and what it would drop, is said."""
    findings = validate_document(document.manifest)
    for one in findings:
        write = write_note if one.dropped else write_error
        write(f"{document.origin}:{document.line(one.path)}: {_label(document)}: {one}")
    if not findings and not document.name:
        write_error(
            f"{document.origin}:{document.line('metadata')}: {_label(document)}: metadata.name: nothing can be "
            "rendered from generateName; give a name"
        )
    return bool(document.name) and all(one.dropped for one in findings)


def _write(rendered: Sequence[Rendered], form: str) -> None:
    """Write the objects in the order in which they are applied."""
    if form == "json":
        items = [one.child.manifest for one in rendered]
        write_value({"apiVersion": "v1", "kind": "List", "items": items}, form)
    elif rendered:
        write_code("".join(f"---\n# {_remark(one)}\n{yaml_text(one.child.manifest)}" for one in rendered), form)


def _remark(one: Rendered) -> str:
    """What the manifest does not say: whose object it is, and how it is kept."""
    relation = "owned by" if one.child.owned else "shared by" if one.child.shared else "made for"
    once = ", made when missing, then left alone" if one.child.upkeep is Upkeep.CREATE else ""
    theirs = f", {'.'.join(one.child.initial)} only when it is made" if one.child.initial else ""
    return f"{relation} {one.parent}{once}{theirs}"


def _label(document: Document) -> str:
    """Kind and name of a document for messages."""
    return f"{document.kind or 'object without kind'}/{document.name}" if document.name else document.kind or "object"
