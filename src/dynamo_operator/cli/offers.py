"""The option --cluster: what a cluster that is not asked would offer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
NEEDS: Final[Mapping[str, str]] = {"lws": "volcano", "volcano": "lws", "kai": "grove"}
"""Words that change nothing without another."""
POSSIBLE: Final = f"{PLAIN}; lws,volcano; grove; grove,kai; lws,volcano,grove,kai; istio and inference with each"
"""The combinations that lead to different objects, for messages."""


def parse_offers(_context: click.Context, _option: click.Parameter, text: str) -> Offers:
    """A list such as ``istio,lws,volcano`` as offers; raises BadParameter with what is possible."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    problem = next(_problems(words), "")
    if problem:
        raise click.BadParameter(f"{problem}; possible are: {POSSIBLE}")
    return Offers(**{NAMES[word]: True for word in words if word != PLAIN})


def _problems(words: list[str]) -> Iterator[str]:
    unknown = [word for word in words if word not in NAMES and word != PLAIN]
    if unknown:
        yield f"unknown {', '.join(unknown)}, use {', '.join(NAMES)} or {PLAIN}"
    if not words:
        yield f"nothing said, use {PLAIN} where the cluster offers none"
    if PLAIN in words and len(words) > 1:
        yield f"{PLAIN} offers none of the others, leave one out"
    for word, needed in NEEDS.items():
        if word in words and needed not in words:
            yield f"{word} changes nothing without {needed}, add it or leave {word} out"
