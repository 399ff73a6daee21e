"""The option --cluster: what a cluster that is not asked would offer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import click

from dynamo_operator.domain.site import Offers

PLAIN: Final = "plain"
NAMES: Final[Mapping[str, str]] = {
    "istio": "virtual_services",
    "inference": "inference_pools",
    "lws": "leader_worker_sets",
    "volcano": "volcano",
    "grove": "grove",
    "kai": "kai",
}
"""Word of the option -> field of Offers."""


def parse_offers(_context: click.Context, _option: click.Parameter, text: str) -> Offers:
    """A list such as ``istio,lws`` as offers; raises BadParameter with the words that exist."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    unknown = [word for word in words if word not in NAMES and word != PLAIN]
    if unknown:
        raise click.BadParameter(f"unknown {', '.join(unknown)}; use {', '.join(NAMES)} or {PLAIN}")
    if PLAIN in words and len(words) > 1:
        raise click.BadParameter(f"{PLAIN} offers none of the others; leave one out")
    return Offers(**{NAMES[word]: True for word in words if word != PLAIN})
