"""What a watch says: lines cut out of a byte stream, and the events in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NoReturn

import msgspec
from msgspec import Raw

from dynamo_operator.runtime.errors import parse_error
from dynamo_operator.runtime.resource import Key

# Event types; the API server writes them.
ADDED: Final = "ADDED"
MODIFIED: Final = "MODIFIED"
DELETED: Final = "DELETED"
BOOKMARK: Final = "BOOKMARK"
ERROR: Final = "ERROR"


class LineSplitter:
    """Cuts a stream of chunks into lines of any length in linear time; the unfinished rest of a stream is lost."""

    LONGEST_LINE = 64 * 1024 * 1024

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._pending = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The lines that this chunk completes, without line ends, empty ones left out.

        Raises ValueError for a line that is longer than any server would send.
        """
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            line = b"".join([*self._parts, end]) if self._parts else end
            self._parts.clear()
            self._pending = 0
            if line.strip():
                yield line
        if rest:
            self._parts.append(rest)
            self._pending += len(rest)
        if self._pending > self.LONGEST_LINE:
            raise ValueError(f"a watch line of more than {self.LONGEST_LINE} bytes")


class Event(msgspec.Struct, gc=False):
    """One line of a watch; the object stays JSON text, a part of the line."""

    type: str
    object: Raw = Raw(b"{}")


_EVENT = msgspec.json.Decoder(Event)


class Identity(msgspec.Struct, gc=False, rename="camel"):
    """Which object in which version; read on its own, so that an object that fits no view can still be named."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""

    @property
    def key(self) -> Key:
        """Namespace and name."""
        return Key(self.namespace, self.name)

    @property
    def version(self) -> int:
        """The resource version. Raises ValueError when it is no number."""
        return int(self.resource_version)


class _Identified(msgspec.Struct, gc=False):
    metadata: Identity


_IDENTIFIED = msgspec.json.Decoder(_Identified)


def parse_event(line: bytes) -> Event:
    """The event in a line. Raises ValueError when the line is none, and the ApiError that an ERROR event carries."""
    event = _EVENT.decode(line)
    if event.type == ERROR:
        raise_status(bytes(event.object))
    return event


def parse_identity(obj: bytes | Raw) -> Identity:
    """Which object this is. Raises ValueError when it has no metadata."""
    return _IDENTIFIED.decode(obj).metadata


def raise_status(body: bytes) -> NoReturn:
    """Raise the ApiError that a Status object stands for."""
    raise parse_error(body)
