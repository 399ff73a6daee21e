import json

import pytest

from dynamo_operator.runtime import errors
from dynamo_operator.runtime.errors import ApiError, Cause, category, parse_error

ROWS = [
    (404, "NotFound", errors.NotFound, "not_found"),
    (409, "AlreadyExists", errors.AlreadyExists, "already_exists"),
    (409, "Conflict", errors.Conflict, "conflict"),
    (422, "Invalid", errors.Invalid, "validation"),
    (400, "BadRequest", errors.BadRequest, "bad_request"),
    (401, "Unauthorized", errors.Unauthorized, "unauthorized"),
    (403, "Forbidden", errors.Forbidden, "forbidden"),
    (504, "Timeout", errors.Timeout, "timeout"),
    (500, "ServerTimeout", errors.ServerTimeout, "server_timeout"),
    (503, "ServiceUnavailable", errors.Unavailable, "unavailable"),
    (429, "TooManyRequests", errors.TooManyRequests, "rate_limited"),
    (410, "Expired", errors.Gone, "internal"),
    (410, "Gone", errors.Gone, "internal"),
    (500, "InternalError", ApiError, "internal"),
    (404, "", errors.NotFound, "not_found"),
    (503, "SomethingNew", errors.Unavailable, "unavailable"),
]


@pytest.mark.parametrize(("code", "reason", "kind", "name"), ROWS)
def test_type_and_category(code: int, reason: str, kind: type[ApiError], name: str) -> None:
    error = parse_error(json.dumps({"kind": "Status", "reason": reason}).encode(), status=code)
    assert type(error) is kind
    assert category(error) == name


def test_parts_of_a_status_are_kept() -> None:
    details = {"causes": [{"field": "spec.replicas", "message": "too many"}], "retryAfterSeconds": 3}
    body = json.dumps({"message": "refused", "reason": "Invalid", "code": 422, "details": details}).encode()
    error = parse_error(body, request="PATCH /apis/x")
    assert error.status == 422
    assert error.causes == (Cause("spec.replicas", "too many"),)
    assert error.retry_after == 3
    assert str(error) == "PATCH /apis/x: refused"


def test_header_goes_before_body() -> None:
    assert parse_error(b'{"details": {"retryAfterSeconds": 9}}', status=429, retry_after=1.0).retry_after == 1.0


@pytest.mark.parametrize(
    ("body", "text"),
    [
        pytest.param(b"<html>bad gateway</html>", "<html>bad gateway</html>", id="a proxy's page: quoted"),
        pytest.param(b"\xff\xfe", "\ufffd\ufffd", id="no text at all: replaced"),
        pytest.param(b"", "HTTP status 502", id="nothing: the status"),
        pytest.param(b"[1]", "[1]", id="JSON of another kind: quoted"),
        pytest.param(b"x" * 9000, "x" * 500, id="a long page: its beginning"),
    ],
)
def test_answers_that_are_no_status(body: bytes, text: str) -> None:
    assert str(parse_error(body, status=502)) == text


def test_category_looks_into_causes() -> None:
    wrapped = RuntimeError("outer")
    wrapped.__cause__ = errors.Conflict()
    assert category(wrapped) == "conflict"
    assert category(ValueError("x")) == "internal"
    assert category(None) == "none"


def test_causes_form_a_ring_each_is_looked_at_once() -> None:
    one, other = RuntimeError("one"), RuntimeError("other")
    one.__cause__, other.__cause__ = other, one
    assert category(one) == "internal"
