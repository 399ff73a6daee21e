"""Files, folders and standard input as documents."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from dynamo_operator.offline.documents import Document, Flaw, parse_documents

_ENDINGS = {".yaml", ".yml", ".json"}


class Unusable(Exception):  # noqa: N818 - an outcome that ends a command, said to the user as it is
    """Files that cannot be read, or hold nothing; the text says which and why."""


def load_documents(paths: Iterable[str]) -> tuple[list[Document], list[Flaw]]:
    """All documents of the given files, folders (their YAML and JSON files, deep) and ``-`` (standard input).

    Raises Unusable where they hold no object at all, or cannot be read.
    """
    documents: list[Document] = []
    flaws: list[Flaw] = []
    origins: list[str] = []
    for origin, text in _load_texts(paths):
        origins.append(origin)
        found, wrong = parse_documents(text, origin)
        documents += found
        flaws += wrong
    if not documents and not flaws:
        where = origins[0] if len(origins) == 1 else f"{origins[0]} and {len(origins) - 1} more"
        raise Unusable(f"{where}: no object in there; give manifests with apiVersion and kind")
    return documents, flaws


def _load_texts(paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Name and text of every file meant."""
    for path in paths:
        if path == "-":
            yield "stdin", _decoded("stdin", _load_stdin())
        elif not path:
            raise Unusable("an empty file name; give a file, a folder, or - for standard input")
        elif os.path.isdir(path):  # noqa: PTH112 - Path.is_dir fails on names that are too long
            yield from ((str(one), _load(one)) for one in _files(Path(path)))
        else:
            yield path, _load(Path(path))


def _files(folder: Path) -> list[Path]:
    """The manifests in a folder, sorted; none at all is an error."""
    files = sorted(one for one in _all_files(folder) if one.suffix in _ENDINGS and one.is_file())
    if not files:
        raise Unusable(f"{folder}: no file that ends in {', '.join(sorted(_ENDINGS))}")
    return files


def _all_files(folder: Path) -> Iterator[Path]:
    """Everything in a folder and below; a folder that cannot be listed is an error, not an empty one."""
    for place, _, names in os.walk(folder, onerror=_refuse):
        yield from (Path(place, name) for name in names)


def _refuse(error: OSError) -> None:
    """End the command at a folder that cannot be listed."""
    raise _unreadable(error.filename, error)


def _unreadable(path: object, error: OSError) -> Unusable:
    """What is said of a file or a folder that cannot be read."""
    return Unusable(f"{path}: {(error.strerror or str(error)).lower()}")


def _load(path: Path) -> str:
    """The text of one file."""
    try:
        return _decoded(str(path), path.read_bytes())
    except OSError as error:
        raise _unreadable(path, error) from None


def _load_stdin() -> bytes:
    """All of standard input; none when it is closed."""
    try:
        return sys.stdin.buffer.read()
    except (AttributeError, OSError):  # None, when it is closed
        raise Unusable("stdin: is closed or cannot be read") from None


def _decoded(origin: str, content: bytes) -> str:
    """The text of a file, its lines ended in one way."""
    try:
        return io.StringIO(content.decode(), newline=None).read()
    except UnicodeDecodeError:
        raise Unusable(f"{origin}: not text in UTF-8") from None
