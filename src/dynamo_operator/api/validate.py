"""Check a document against the CRDs without a cluster: everything that an API server would refuse, prune or warn of."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any, Final, NamedTuple, cast

import jsonschema_rs

from dynamo_operator.api.crd import object_schema
from dynamo_operator.api.defaulting import completed
from dynamo_operator.api.kinds import BY_NAME, GROUP, VERSION
from dynamo_operator.api.meta import QUANTITY_SCHEMA
from dynamo_operator.api.naming import is_namespace, is_object_name
from dynamo_operator.api.schema import Schema
from dynamo_operator.api.v1alpha1.graph_deployment import PVC


class Finding(NamedTuple):
    """One thing that is wrong with a document: where, and what.

    ``dropped``: an API server leaves the field out with a warning, and takes the rest; everything else it refuses.
    """

    path: str
    message: str
    dropped: bool = False

    def __str__(self) -> str:
        """As users read it."""
        return f"{self.path}: {self.message}" if self.path else self.message


def validate_document(document: Mapping[str, Any]) -> list[Finding]:
    """Everything that is wrong with an object of one of our kinds, sorted by field path."""
    if findings := _foreign(document):
        return findings
    name: str = document["kind"]
    schema = _schema(name)
    value = completed(schema, document)
    refused = [_translated(schema, error) for error in _validator(name).iter_errors(value)]
    return sorted({*refused, *_ill_described(value), *_walk(schema, value, "")})


def _foreign(document: Mapping[str, Any]) -> list[Finding]:
    version, kind = document.get("apiVersion"), document.get("kind")
    if not isinstance(kind, str) or kind not in BY_NAME:
        return [Finding("kind", f"must be one of {', '.join(BY_NAME)}, not {_shown(kind)}{_nearest(kind, BY_NAME)}")]
    if version != f"{GROUP}/{VERSION}":
        return [Finding("apiVersion", f"must be {GROUP}/{VERSION}, not {_shown(version)}")]
    return []


def _ill_described(document: Mapping[str, Any]) -> Iterator[Finding]:
    """What is wrong with the object's metadata: Kubernetes' rules for it, which no CRD repeats."""
    given = document.get("metadata")
    metadata: dict[str, Any] = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    yield from _misnamed(metadata)
    namespace = metadata.get("namespace", "default")
    if namespace != "" and not (isinstance(namespace, str) and is_namespace(namespace)):
        rule = "must be lower-case letters, digits and dashes, at most 63, with a letter or digit at both ends"
        yield Finding("metadata.namespace", f"{rule}, not {_shown(namespace)}")
    for member in ("labels", "annotations"):
        yield from _not_texts(f"metadata.{member}", metadata.get(member, {}))


def _not_texts(path: str, value: object) -> Iterator[Finding]:
    """What keeps a value from being a map of texts."""
    if not isinstance(value, dict):
        yield Finding(path, f"must be an object, not {_shown(value)}")
        return
    for key, text in cast("dict[str, object]", value).items():
        if not isinstance(text, str):
            yield Finding(f"{path}[{key}]", _wrong_type({"types": ["string"]}, text))


def _misnamed(metadata: Mapping[str, Any]) -> Iterator[Finding]:
    name = metadata.get("name")
    if name is None and metadata.get("generateName"):
        return
    if name is None:
        yield Finding("metadata.name", "is required")
    elif not isinstance(name, str) or not is_object_name(name):
        rule = "must be lower-case letters, digits, dashes and dots, at most 253, with a letter or digit at both ends"
        yield Finding("metadata.name", f"{rule}, not {_shown(name)}")


@cache
def _schema(kind: str) -> Schema:
    return object_schema(BY_NAME[kind])


@cache
def _validator(kind: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(_bounded(_schema(kind)))


def _bounded(node: Any) -> Any:
    """A schema with the range that an integer's format means; to JSON Schema a format is only a remark."""
    if isinstance(node, list):
        return [_bounded(item) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    result = {key: _bounded(value) for key, value in cast("Schema", node).items()}
    if result.get("format") == "int32":
        result = {"minimum": -(2**31), "maximum": 2**31 - 1} | result
    return result


def _translated(schema: Schema, error: jsonschema_rs.ValidationError) -> Finding:
    """An error of the validator in words that name the field as users write it."""
    facts: dict[str, Any] = error.kind.as_dict()
    steps = [*error.instance_path]
    if error.kind.name == "required":
        return Finding(_path(schema, [*steps, facts["property"]]), "is required")
    say = _MESSAGES.get(error.kind.name)
    message = say(facts, error.instance) if say else error.message
    return Finding(_path(schema, steps), message)


def _wrong_type(facts: dict[str, Any], value: Any) -> str:
    wanted: str = facts["types"][0]  # structural schemas know no other
    hint = f'; write it in quotes: "{json.dumps(value)}"' if wanted == "string" and _is_scalar(value) else ""
    return f"must be {_WORDS[wanted]}, not {_shown(value)}{hint}"


def _wrong_pattern(facts: dict[str, Any], value: Any) -> str:
    if facts["pattern"] == QUANTITY_SCHEMA["pattern"]:
        return f"must be a quantity such as 8Gi, 500m or 2, not {_shown(value)}"
    return f"must match {facts['pattern']}, and {_shown(value)} does not"


def _wrong_choice(facts: dict[str, Any], value: Any) -> str:
    options: list[str] = facts["options"]
    return f"must be one of {', '.join(options)}, not {_shown(value)}{_nearest(value, options)}"


_WORDS: Final[Mapping[str, str]] = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "an integer",
    "number": "a number",
    "object": "an object",
    "string": "text",
}

_MESSAGES: Final[Mapping[str, Callable[[dict[str, Any], Any], str]]] = {
    "type": _wrong_type,
    "pattern": _wrong_pattern,
    "enum": _wrong_choice,
    # The only alternatives in structural schemas.
    "anyOf": lambda facts, value: f"must be an integer or text, not {_shown(value)}",  # noqa: ARG005
    "minimum": lambda facts, value: f"must be at least {facts['limit']}, not {value}",
    "maximum": lambda facts, value: f"must be at most {facts['limit']}, not {value}",
    "minLength": lambda facts, value: "must not be empty",  # noqa: ARG005
    "maxLength": lambda facts, value: f"must have at most {facts['limit']} characters, not {len(value)}",
    "maxItems": lambda facts, value: f"must have at most {facts['limit']} entries, not {len(value)}",
    "maxProperties": lambda facts, value: f"must have at most {facts['limit']} entries, not {len(value)}",
}


def _path(schema: Schema, steps: list[str | int]) -> str:
    """A field path as users write it: members after dots, list indices and keys of maps in brackets."""
    path = ""
    node: Schema = schema
    for step in steps:
        properties: dict[str, Schema] = node.get("properties", {})
        if step in properties:
            path, node = _member(path, str(step)), properties[str(step)]
        else:
            path = f"{path}[{step}]"
            node = cast("Schema", node.get("items") or node.get("additionalProperties") or {})
    return path


def _member(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _walk(schema: Schema, value: Any, path: str) -> Iterator[Finding]:
    """What the schema's Kubernetes extensions say of a value; its own keywords are the validator's business."""
    if isinstance(value, list) and "items" in schema:
        items = cast("list[Any]", value)
        yield from _repeated(schema, items, path)
        for index, item in enumerate(items):
            yield from _walk(schema["items"], item, f"{path}[{index}]")
    elif isinstance(value, dict) and schema.get("type") == "object":
        tree = cast("dict[str, Any]", value)
        yield from _broken_rules(schema, tree, path)
        yield from _walk_members(schema, tree, path)


def _walk_members(schema: Schema, value: dict[str, Any], path: str) -> Iterator[Finding]:
    properties: dict[str, Schema] = schema.get("properties", {})
    for name, member in value.items():
        if path == "" and name == "metadata":
            continue  # its schema is Kubernetes' own, and is not part of a CRD
        if name in properties:
            yield from _walk(properties[name], member, _member(path, name))
        elif "additionalProperties" in schema:
            yield from _walk(schema["additionalProperties"], member, f"{path}[{name}]")
        elif not schema.get("x-kubernetes-preserve-unknown-fields"):
            hint = _nearest(name, properties)
            yield Finding(_member(path, name), f"is not a known field and would be dropped{hint}", dropped=True)


def _repeated(schema: Schema, items: list[Any], path: str) -> Iterator[Finding]:
    """Entries of a list that is a map by some of its members, or a set, that occur a second time."""
    keys: list[str] = schema.get("x-kubernetes-list-map-keys", [])
    if not keys and schema.get("x-kubernetes-list-type") != "set":
        return
    seen: set[str] = set()
    for index, item in enumerate(items):
        entry = cast("dict[str, Any]", item) if keys and isinstance(item, dict) else {"": item}
        identity = {key: entry[key] for key in keys or entry if key in entry}
        text = json.dumps(identity)
        if text in seen:
            what = " and ".join(f"{key} {_shown(part)}".strip() for key, part in identity.items())
            yield Finding(f"{path}[{index}]", f"repeats {what} of an earlier entry")
        # An entry without any of the keys, or of another type, is the validator's business.
        seen |= {text} if identity else set()


def _claim_is_whole(claim: dict[str, Any]) -> bool:
    return claim.get("create") is not True or all(
        name in claim for name in ("size", "storageClass", "volumeAccessMode")
    )


# What each CEL rule of the CRDs means, because no CEL runs here.
RULES: Final[Mapping[str, Callable[[dict[str, Any]], bool]]] = {PVC.rules[0].rule: _claim_is_whole}


def _broken_rules(schema: Schema, value: dict[str, Any], path: str) -> Iterator[Finding]:
    for rule in schema.get("x-kubernetes-validations", ()):
        if not RULES[rule["rule"]](value):
            yield Finding(path, rule["message"])


def _is_scalar(value: object) -> bool:
    return isinstance(value, (int, float))


def _shown(value: object) -> str:
    """A value in a message: as JSON, shortened."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _nearest(name: object, names: Any) -> str:
    """A question after the known name that was probably meant, empty if none is near."""
    known = {str(other).lower(): str(other) for other in names}
    matches = get_close_matches(str(name).lower(), known, n=1, cutoff=0.7)
    return f"; did you mean {known[matches[0]]}?" if matches else ""
