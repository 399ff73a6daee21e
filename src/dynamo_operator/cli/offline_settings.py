"""The operator's settings on commands that run without a cluster: --config FILE, and flags after ``--``."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import click

from dynamo_operator.cli.messages import write_error
from dynamo_operator.settings import Settings, SettingsError, parse_settings

_META = "dynamo_operator.settings"
# The roles that the chart makes under its documented release name; rendering needs some name.
_ROLES = {
    "planner_cluster_role": "dynamo-platform-dynamo-operator-planner",
    "epp_cluster_role": "dynamo-platform-dynamo-operator-epp",
    "profiling_cluster_role": "dynamo-platform-dynamo-operator-dgdr-profiling",
}


class SettingsCommand(click.Command):
    """A command that hands what stands after ``--`` to the operator's settings."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Set the operator's flags aside, parse the rest."""
        at = args.index("--") if "--" in args else len(args)
        ctx.meta[_META] = args[at + 1 :]
        return super().parse_args(ctx, args[:at])


def settings_of(context: click.Context, config: str | None) -> Settings:
    """The settings of this call, with the chart's role names where none are given; ends the command on problems."""
    words: list[str] = [*(["--config", config] if config else []), *context.meta.get(_META, [])]
    try:
        settings = parse_settings(words, os.environ, check=lambda _: [])
    except SettingsError as error:
        for problem in error.problems:
            write_error(problem)
        context.exit(2)
    missing: dict[str, Any] = {name: role for name, role in _ROLES.items() if not getattr(settings, name)}
    return replace(settings, **missing)
