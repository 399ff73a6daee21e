"""The settings as text: for --help, and as the page docs/reference/settings.md."""

from __future__ import annotations

from dynamo_operator.settings.duration import Duration
from dynamo_operator.settings.environment import OTHERS, VARIABLES
from dynamo_operator.settings.row import Row
from dynamo_operator.settings.values import TABLE

_INTRODUCTION = """\
# Settings

<!-- Made by `make generate` from src/dynamo_operator/settings/values.py; edit that. -->

`dynamo-operator run` takes its settings from flags, environment variables and a file (`--config FILE`). A flag wins
over a variable, a variable over the file, the file over the default. All flags of release 0.9 are here under their
names. Flags follow Go's rules: one or two dashes, `--name=value` or `--name value`, booleans only as `--name` or
`--name=false`, the last of several wins, durations such as `300ms`, `15m`, `1h30m`. Unknown flags, unknown keys,
stray words and settings that contradict each other are refused: with exit code 2 when the command line cannot be
read, else 1, and all reasons at once.
"""


def flag_help() -> list[tuple[str, str]]:
    """One row per flag for --help: its spelling and what it does with its default."""
    rows = [("--config FILE", "read settings from this YAML file; flags win over it")]
    return rows + [(_spelling(row), row.says + _default_note(row)) for row in TABLE]


def settings_markdown() -> str:
    """The reference page."""
    lines = [_INTRODUCTION, "| flag | key in the file | default | meaning |", "|---|---|---|---|"]
    lines += [
        f"| {'<br>'.join(f'`--{name}`' for name in row.names)} | `{row.path}` | {_default(row)} | {row.says} |"
        for row in TABLE
    ]
    lines += ["", "## Environment variables", "", "| variable | meaning |", "|---|---|"]
    by_attribute = {row.attribute: row for row in TABLE}
    lines += [f"| `{name}` | sets `{by_attribute[attribute].path}` |" for name, attribute in VARIABLES.items()]
    lines += [f"| {', '.join(f'`{name}`' for name in names.split(', '))} | {says} |" for names, says in OTHERS.items()]
    lines += ["", "## A file", "", "```yaml", *_example(), "```", ""]
    return "\n".join(lines)


def _spelling(row: Row) -> str:
    """How a flag is written, with a word for its value and its aliases."""
    value = "" if row.boolean else " " + _value_word(row)
    return ", ".join(f"--{name}" for name in row.names) + value


def _value_word(row: Row) -> str:
    """What stands for the value in --help."""
    if isinstance(row.default, Duration):
        return "DURATION"
    return "NUMBER" if isinstance(row.default, int) else "TEXT"


def _default_note(row: Row) -> str:
    """The default in brackets, unless it is empty or off."""
    return f" [{row.default}]" if row.default not in ("", False) else ""


def _default(row: Row) -> str:
    """The default as a table cell."""
    if row.default == "":
        return "empty"
    return f"`{str(row.default).lower() if row.boolean else row.default}`"


def _example() -> list[str]:
    """A file that a cluster-wide installation could use."""
    return [
        "leaderElection:",
        "  enabled: true",
        "  id: dynamo.nvidia.com",
        "  namespace: kube-system",
        "infrastructure:",
        "  natsAddress: nats://dynamo-platform-nats.dynamo-system:4222",
        "rbac:",
        "  plannerClusterRoleName: dynamo-platform-dynamo-operator-planner",
        "orchestrators:",
        "  grove:",
        "    terminationDelay: 4h",
        "logging:",
        "  level: debug",
    ]
