"""Command line of the local Kubernetes: `python -m cluster start|stop|status|list`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import click

from cluster.addons import optional_addons, parse_addons
from cluster.build import versions
from cluster.errors import ClusterError
from cluster.layout import Layout, layout_of
from cluster.lifecycle import Wish, is_healthy, list_layouts, load_site, start, stop
from cluster.nodes import NODE_COUNT
from cluster.processes import load_pids
from cluster.programs import API_SERVER, Site, programs_of

P = ParamSpec("P")

name_option = click.option("--name", default="default", show_default=True, help="Which cluster.")


def say(text: str) -> None:
    """Progress goes to stderr, so that stdout holds nothing but the result."""
    click.echo(f"  {text}", err=True)


def plainly(command: Callable[P, None]) -> Callable[P, None]:
    """Show a ClusterError as its text and exit with 1."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except ClusterError as error:
            click.echo(f"error: {error}", err=True)
            sys.exit(1)

    return run


@click.group(help=__doc__)
def main() -> None:
    """Take the subcommand."""


@main.command("start")
@name_option
@click.option("--with", "addons", default="", help=f"Add-ons, comma separated: {', '.join(optional_addons())}.")
@click.option("--port", type=int, help="Port of the API server; a free one by default.")
@click.option("--without-crds", is_flag=True, help="Leave our own definitions out.")
@plainly
def start_command(name: str, addons: str, port: int | None, *, without_crds: bool) -> None:
    """Start a cluster, or reuse the one that runs; returns when it is ready."""
    began = time.monotonic()
    layout = layout_of(name)
    ports = {} if port is None else {API_SERVER: port}
    site = start(layout, Wish(parse_addons(addons), own_crds=not without_crds, ports=ports), say)
    say(f"cluster {name} is ready after {time.monotonic() - began:.1f} s")
    click.echo(describe(site))


@main.command("stop")
@name_option
@plainly
def stop_command(name: str) -> None:
    """Stop a cluster and remove its folder."""
    stopped = stop(layout_of(name))
    click.echo(f"cluster {name}: stopped {', '.join(stopped)}" if stopped else f"cluster {name} was not running")


@main.command("status")
@name_option
@plainly
def status_command(name: str) -> None:
    """Say what runs where; exits with 1 where the cluster is not healthy."""
    site = load_site(layout_of(name))
    if site is None:
        raise ClusterError(f"there is no cluster {name}; `make cluster NAME={name}` starts one")
    click.echo(describe(site))
    if not is_healthy(site):
        raise ClusterError(f"cluster {name} is not complete; `make cluster NAME={name}` starts it anew")


@main.command("list")
@plainly
def list_command() -> None:
    """List the clusters of this checkout."""
    layouts = list_layouts()
    for layout in layouts:
        click.echo(_line(layout))
    if not layouts:
        click.echo("no clusters; `make cluster` starts one")


def describe(site: Site) -> str:
    """Table of a cluster: credentials, what runs, how to use it, how to stop it."""
    layout = site.layout
    pids = load_pids(layout)
    version = versions(site.addons)
    rows = [f"  {'program':20}{'pid':>8}{'port':>8}  version"]
    for stem, program in programs_of(site).items():
        built = version.get(program, "of this checkout")
        pid = str(pids[stem]) if stem in pids else "dead"
        rows.append(f"  {stem:20}{pid:>8}{site.ports[stem]:>8}  {built}")
    facts = [
        f"cluster      {layout.name}, {NODE_COUNT} simulated nodes with 8 GPUs each",
        f"server       {site.url(API_SERVER)}",
        f"kubeconfig   {layout.kubeconfig}",
        f"operator     {layout.operator_kubeconfig}",
        f"audit log    {layout.audit_log}",
        f"logs         {layout.logs}",
    ]
    use = f"export KUBECONFIG={layout.kubeconfig} PATH={layout.bin}:$PATH && kubectl get nodes"
    return "\n".join([*facts, *rows, f"use          {use}", f"stop         make cluster-stop NAME={layout.name}"])


def _line(layout: Layout) -> str:
    site = load_site(layout)
    healthy = site is not None and is_healthy(site)
    return f"{layout.name:20} {'ready' if healthy else 'stopped':8} {site.url(API_SERVER) if site else ''}"


if __name__ == "__main__":
    main()
