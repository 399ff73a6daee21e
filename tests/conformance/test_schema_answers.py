"""Offline validation refuses what the API server refused with the CRDs of the Go operator 0.9, and nothing else.

Needs the conformance suite: its folder is in CONFORMANCE, by default ../shared/conformance beside the checkout.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from dynamo_operator.api.validate import Finding, validate_document

SUITE = Path(os.environ.get("CONFORMANCE", Path(__file__).parents[3] / "shared/conformance"))
REQUESTS = SUITE / "admission.yaml"

# Explained in docs/compatibility.md, section CRDs.
WIDENED = {"epp-plugin-parameters-object"}
NARROWED = {"dgdsa-no-spec"}

pytestmark = pytest.mark.skipif(
    not REQUESTS.is_file(), reason=f"no conformance suite in {SUITE}; say where it is with CONFORMANCE"
)


def requests() -> list[dict[str, Any]]:
    """Every recorded admission request."""
    return yaml.safe_load(REQUESTS.read_text("utf-8"))


def findings(request: dict[str, Any]) -> list[Finding]:
    """What we say of the object of a request."""
    metadata = request["object"].get("metadata", {}) | {"name": "x"}
    return validate_document({"apiVersion": "nvidia.com/v1alpha1"} | request["object"] | {"metadata": metadata})


def test_the_same_objects_are_refused() -> None:
    wanted = {request["name"] for request in requests() if request["layer"] == "schema"}
    refused = {request["name"] for request in requests() if any(not each.dropped for each in findings(request))}
    assert wanted - refused == WIDENED
    assert refused - wanted == NARROWED


def test_the_api_server_names_the_fields_that_we_name() -> None:
    for request in requests():
        if request["layer"] == "schema" and request["name"] not in WIDENED:
            said = re.sub(r"\[([A-Za-z]\w*)\]", r".\1", request["message"])
            fields = {re.sub(r"\[([A-Za-z]\w*)\]", r".\1", each.path) for each in findings(request)}
            assert [field for field in fields if field not in said] == []


def test_the_same_fields_are_dropped() -> None:
    for request in requests():
        if request["layer"] != "schema":
            warned = {text.split('"')[1] for text in request["warnings"] if text.startswith("unknown field")}
            dropped = {re.sub(r"\[([A-Za-z]\w*)\]", r".\1", each.path) for each in findings(request) if each.dropped}
            assert dropped == warned
