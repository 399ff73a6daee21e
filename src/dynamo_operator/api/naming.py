"""What Kubernetes lets an object be called; no CRD repeats it."""

from __future__ import annotations

import re
from typing import Final

_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_NAME: Final = re.compile(rf"{_LABEL.pattern}(\.{_LABEL.pattern})*")


def is_object_name(text: str) -> bool:
    """True for what ``metadata.name`` may be."""
    return len(text) <= 253 and _NAME.fullmatch(text) is not None


def is_namespace(text: str) -> bool:
    """True for what a namespace may be called."""
    return len(text) <= 63 and _LABEL.fullmatch(text) is not None
