"""Kinds to CustomResourceDefinitions (specification: api.md 1, 11)."""

from __future__ import annotations

from typing import Any, Final

import yaml

from dynamo_operator.api.kinds import GROUP, KINDS, VERSION, Column, Kind
from dynamo_operator.api.schema import Schema, struct_schema

# Read by Helm: neither an uninstall nor a chart without the file deletes the CRD, and with it all objects.
KEEP: Final = {"helm.sh/resource-policy": "keep"}

_HEADER: Final = (
    "# Generated from src/dynamo_operator/api by tools/generate.py; change the types there, not this file.\n"
)


class _Dumper(yaml.SafeDumper):
    """Writes schemas that occur in several places out in each of them: an API server knows no anchors."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def crds() -> list[dict[str, Any]]:
    """All CustomResourceDefinitions."""
    return [crd(kind) for kind in KINDS]


def crd(kind: Kind) -> dict[str, Any]:
    """The CustomResourceDefinition of a kind."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": kind.crd_name, "annotations": dict(KEEP)},
        "spec": {
            "group": GROUP,
            "names": {
                "kind": kind.name,
                "listKind": f"{kind.name}List",
                "plural": kind.plural,
                "shortNames": list(kind.short_names),
                "singular": kind.singular,
            },
            "scope": "Namespaced",
            "versions": [_version(kind)],
        },
    }


def crd_yaml(kind: Kind) -> str:
    """The CustomResourceDefinition of a kind as it is committed and shipped."""
    return _HEADER + yaml.dump(crd(kind), Dumper=_Dumper, width=120, allow_unicode=True)


def _version(kind: Kind) -> dict[str, Any]:
    version: dict[str, Any] = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "additionalPrinterColumns": [_column(column) for column in kind.columns],
        "schema": {"openAPIV3Schema": object_schema(kind)},
    }
    if kind.status is not None:
        version["subresources"] = _subresources(kind)
    return version


def _column(column: Column) -> dict[str, str]:
    row = {"name": column.name, "type": column.type, "jsonPath": column.path}
    return row | {"description": column.description} if column.description else row


def _subresources(kind: Kind) -> dict[str, Any]:
    subresources: dict[str, Any] = {"status": {}}
    if kind.scale is not None:
        subresources["scale"] = {
            "specReplicasPath": kind.scale.spec_replicas,
            "statusReplicasPath": kind.scale.status_replicas,
            "labelSelectorPath": kind.scale.label_selector,
        }
    return subresources


def object_schema(kind: Kind) -> Schema:
    """Schema of a whole object of a kind."""
    schema: Schema = {
        "description": kind.description,
        "type": "object",
        "properties": {
            "apiVersion": {"type": "string", "description": f"Version of the API: `{GROUP}/{VERSION}`."},
            "kind": {"type": "string", "description": f"Kind of the object: `{kind.name}`."},
            "metadata": {"type": "object"},
            "spec": struct_schema(kind.spec),
        },
    }
    if kind.status is not None:
        schema["properties"]["status"] = struct_schema(kind.status)
    if kind.needs_spec:
        schema["required"] = ["spec"]
    return schema
