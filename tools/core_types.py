"""Write src/dynamo_operator/api/core_types.json from Kubernetes' published OpenAPI documents.

    core_types.py            documents of the Go module k8s.io/kubernetes, fetched by the go command
    core_types.py DIRECTORY  documents in a directory (api/openapi-spec/v3 of a Kubernetes source tree)

The types come out as users of upstream's CRDs know them, that is as controller-gen 0.16 expands the Go types.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from dynamo_operator.api.meta import QUANTITY_SCHEMA

KUBERNETES = "v1.34.3"
TARGET = Path(__file__).parents[1] / "src/dynamo_operator/api/core_types.json"

DOCUMENTS = ("api__v1_openapi.json", "apis__autoscaling__v2_openapi.json")
ROOTS = (
    "io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerBehavior",
    "io.k8s.api.autoscaling.v2.MetricSpec",
    "io.k8s.api.core.v1.ConfigMapKeySelector",
    "io.k8s.api.core.v1.Container",
    "io.k8s.api.core.v1.EnvVar",
    "io.k8s.api.core.v1.PodSpec",
    "io.k8s.api.core.v1.Probe",
    "io.k8s.api.core.v1.ResourceClaim",
    "io.k8s.api.core.v1.ResourceRequirements",
    "io.k8s.api.core.v1.Toleration",
)

KEPT = (
    "type",
    "format",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
)
GIVEN = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": dict(QUANTITY_SCHEMA),
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "x-kubernetes-int-or-string": True,
    },
    # Metadata inside a CRD is an opaque object to controller-gen.
    "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": {"type": "object"},
}
# Go embeds LocalObjectReference in these; controller-gen hands its map type on, Kubernetes' own documents do not.
ATOMIC = {
    f"io.k8s.api.core.v1.{name}"
    for name in (
        "ConfigMapEnvSource",
        "ConfigMapProjection",
        "ConfigMapVolumeSource",
        "SecretEnvSource",
        "SecretProjection",
    )
}
# These defaults refer to Go constants, which controller-gen does not follow.
WITHOUT_DEFAULT = {("io.k8s.api.core.v1.AzureDiskVolumeSource", name) for name in ("cachingMode", "kind")}


def documents_directory() -> Path:
    """Where the go command keeps the OpenAPI documents."""
    with tempfile.TemporaryDirectory() as scratch:
        Path(scratch, "go.mod").write_text("module scratch\n", "utf-8")
        command = ["go", "mod", "download", "-json", f"k8s.io/kubernetes@{KUBERNETES}"]
        answer = subprocess.run(command, cwd=scratch, check=True, capture_output=True, text=True)
    return Path(json.loads(answer.stdout)["Dir"], "api/openapi-spec/v3")


def references(node: Any) -> list[str]:
    """Names of the types that a reduced schema refers to."""
    if isinstance(node, dict):
        own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
        return own + [name for value in node.values() for name in references(value)]
    if isinstance(node, list):
        return [name for item in node for name in references(item)]
    return []


def reduced(schema: dict[str, Any], name: str) -> dict[str, Any]:
    """What controller-gen would write of a schema; members and their types become references by name."""
    if target := reference(schema):
        return {"$ref": target}
    result: dict[str, Any] = {key: schema[key] for key in KEPT if key in schema}
    required = schema.get("required", [])
    if required:
        result["required"] = sorted(required)
    if "properties" in schema:
        result["properties"] = {
            field: member(sub, (name, field), required=field in required) for field, sub in schema["properties"].items()
        }
    for key in ("items", "additionalProperties"):
        if key in schema:
            result[key] = reduced(schema[key], name)
    return result


def member(schema: dict[str, Any], place: tuple[str, str], *, required: bool) -> dict[str, Any]:
    """A field, with its default unless that only is the zero value which OpenAPI v3 states for required fields."""
    result = reduced(schema, place[0])
    default = schema.get("default", {})
    if default != {} and not required and place not in WITHOUT_DEFAULT:
        result["default"] = default
    return result


def reference(schema: dict[str, Any]) -> str:
    """Name of the type that a schema refers to, directly or as the only part of an allOf; empty if none."""
    target = schema.get("$ref") or next((part["$ref"] for part in schema.get("allOf", ()) if "$ref" in part), "")
    return target.rsplit("/", 1)[-1]


def core_types(directory: Path) -> dict[str, Any]:
    """The types that the API embeds, and all that they refer to, by name."""
    known: dict[str, Any] = {}
    for document in DOCUMENTS:
        known |= json.loads((directory / document).read_text("utf-8"))["components"]["schemas"]
    wanted, types = list(ROOTS), dict[str, Any]()
    while wanted:
        name = wanted.pop()
        if name not in types:
            types[name] = GIVEN.get(name) or reduced(known[name], name)
            if name in ATOMIC:
                types[name]["x-kubernetes-map-type"] = "atomic"
            wanted += references(types[name])
    return dict(sorted(types.items()))


def main() -> None:
    """Write the file."""
    directory = Path(sys.argv[1]) if len(sys.argv) > 1 else documents_directory()
    types = core_types(directory)
    # One line per type: a new level of Kubernetes shows as the types that it changed.
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(schema, sort_keys=True)}" for name, schema in types.items())
    TARGET.write_text(f'{{"kubernetes": "{KUBERNETES}", "types": {{\n{lines}\n}}}}\n', "utf-8")
    print(f"wrote {TARGET}")


if __name__ == "__main__":
    main()
