"""Command line of the stand-in: `python -m cluster.grove`; started with a local cluster, see programs.py."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import click

from cluster.grove.controller import run
from cluster.grove.webhook import serving_webhooks
from cluster.ports import LOOPBACK
from dynamo_operator.runtime.logs import configure_logs
from dynamo_operator.runtime.process import run as run_process
from dynamo_operator.runtime.server import Address


@click.command(help=__doc__)
@click.option("--kubeconfig", required=True)
@click.option("--health-port", type=int, required=True)
@click.option("--webhook-port", type=int, required=True)
@click.option("--certificates", type=click.Path(path_type=Path), required=True, help="Folder with tls.crt and tls.key.")
def main(kubeconfig: str, health_port: int, webhook_port: int, certificates: Path) -> None:
    """Run until told to stop."""
    configure_logs()

    async def live(stop: asyncio.Event) -> int:
        async with serving_webhooks(LOOPBACK, webhook_port, certificates):
            return await run(kubeconfig, Address(LOOPBACK, health_port), stop)

    sys.exit(run_process(live))


if __name__ == "__main__":
    main()
