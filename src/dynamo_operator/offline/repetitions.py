"""Objects that are given more than once in a file; an API server would keep only the last.

Files beside each other may well hold variants of one object.
"""

from __future__ import annotations

from collections.abc import Sequence

from dynamo_operator.offline.documents import Document
from dynamo_operator.offline.sources import source_of


def repetitions(documents: Sequence[Document], *, namespace: str) -> list[str]:
    """For each document what is said of it, empty where nothing is: it is the first, not ours, or not named yet."""
    first: dict[tuple[str, str, str, str], Document] = {}
    said: list[str] = []
    for document in documents:
        there = source_of(document.manifest, namespace).namespace
        earlier = first.setdefault((document.origin, document.kind, there, document.name), document)
        again = document.ours and document.name and earlier is not document
        said.append(_message(earlier, there) if again else "")
    return said


def _message(earlier: Document, namespace: str) -> str:
    """What is said of an object that was given before."""
    place = f"{earlier.origin}:{earlier.line('metadata.name')}"
    return f"{earlier.kind} {namespace}/{earlier.name} is given twice, first in {place}; remove one"
