"""Errors of requests to the API server, typed by the reason that the server gives."""

# ruff: noqa: N818 - they carry the names that Kubernetes gives them

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec


class Cause(NamedTuple):
    """One thing that the API server found wrong: a field path (may be empty), and a message."""

    field: str
    message: str


class ApiError(Exception):
    """The API server refused a request, or failed to carry it out.

    ``status`` is the HTTP status (0 when there was no answer), ``retry_after`` seconds or None, ``request`` the
    method and path that failed.
    """

    category = "internal"

    def __init__(
        self,
        *,
        status: int = 0,
        reason: str = "",
        message: str = "",
        causes: tuple[Cause, ...] = (),
        retry_after: float | None = None,
        request: str = "",
    ) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message
        self.causes = causes
        self.retry_after = retry_after
        self.request = request

    def __str__(self) -> str:
        text = self.message or self.reason or f"HTTP status {self.status}"
        return f"{self.request}: {text}" if self.request else text


class NotFound(ApiError):
    """The object, its namespace or its kind does not exist."""

    category = "not_found"


class AlreadyExists(ApiError):
    """An object of that name exists."""

    category = "already_exists"


class Conflict(ApiError):
    """The object changed in between, or another field manager owns the field."""

    category = "conflict"


class Gone(ApiError):
    """A resource version or continue token is too old: list again."""


class Invalid(ApiError):
    """The object breaks its schema or a validation rule; ``causes`` name the fields."""

    category = "validation"


class BadRequest(ApiError):
    """The request makes no sense to the server, or an admission webhook denied it as such."""

    category = "bad_request"


class Unauthorized(ApiError):
    """The credentials are missing, wrong or expired."""

    category = "unauthorized"


class Forbidden(ApiError):
    """The credentials lack the permission, or admission denied the request."""

    category = "forbidden"


class Timeout(ApiError):
    """The server gave up on the request; it may have been carried out."""

    category = "timeout"


class ServerTimeout(ApiError):
    """The server could not finish in time and asks to try again."""

    category = "server_timeout"


class Unavailable(ApiError):
    """The server, or a webhook or aggregated API behind it, is not there right now."""

    category = "unavailable"


class TooManyRequests(ApiError):
    """The server sheds load."""

    category = "rate_limited"


class Unreachable(ApiError):
    """No (complete) answer came: the connection was refused, reset, or too slow."""


# Reasons of metav1.Status; the API server writes them.
_BY_REASON: Mapping[str, type[ApiError]] = {
    "NotFound": NotFound,
    "AlreadyExists": AlreadyExists,
    "Conflict": Conflict,
    "Gone": Gone,
    "Expired": Gone,
    "Invalid": Invalid,
    "BadRequest": BadRequest,
    "Unauthorized": Unauthorized,
    "Forbidden": Forbidden,
    "Timeout": Timeout,
    "ServerTimeout": ServerTimeout,
    "ServiceUnavailable": Unavailable,
    "TooManyRequests": TooManyRequests,
}

_BY_STATUS: Mapping[int, type[ApiError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    422: Invalid,
    429: TooManyRequests,
    503: Unavailable,
    504: Timeout,
}


class _Cause(msgspec.Struct, gc=False):
    field: str = ""
    message: str = ""


class _Details(msgspec.Struct, rename="camel"):
    causes: tuple[_Cause, ...] | None = None
    retry_after_seconds: float | None = None


class _Status(msgspec.Struct):
    kind: str = ""
    code: int = 0
    reason: str = ""
    message: str = ""
    details: _Details | None = None


_MESSAGE_LIMIT = 500


def parse_error(body: bytes, *, status: int = 0, retry_after: float | None = None, request: str = "") -> ApiError:
    """The typed error that an answer stands for; the body may be a Status object or anything else."""
    try:
        said = msgspec.json.decode(body, type=_Status)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        said = _Status(message=body[:_MESSAGE_LIMIT].decode(errors="replace").strip())
    details = said.details or _Details()
    status = status or said.code
    error = _BY_REASON.get(said.reason) or _BY_STATUS.get(status, ApiError)
    return error(
        status=status,
        reason=said.reason,
        message=said.message,
        causes=tuple(Cause(cause.field, cause.message) for cause in details.causes or ()),
        retry_after=retry_after if retry_after is not None else details.retry_after_seconds,
        request=request,
    )


def category(error: BaseException | None) -> str:
    """The error category that metrics use as a label (specification: platform.md 10.2)."""
    if error is None:
        return "none"
    return next((e.category for e in _chain(error) if isinstance(e, ApiError)), "internal")


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what caused it, outermost first; each once, although causes may form a ring."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__
