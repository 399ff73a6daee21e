"""Puts definitions, nodes and first objects into a running cluster, with its own kubectl."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from cluster.addons import load_addon_manifests
from cluster.errors import ClusterError
from cluster.layout import CHECKOUT, CRD_FOLDER
from cluster.nodes import render_objects
from cluster.programs import Site
from cluster.toolchain import Say

_WAIT = "30s"


def load_own_crds() -> list[Path]:
    """Files with the definitions of our own kinds. Raises ClusterError where none were generated."""
    files = sorted(CRD_FOLDER.glob("*.yaml"))
    if not files:
        where = CRD_FOLDER.relative_to(CHECKOUT)
        raise ClusterError(f"{where} has no definitions; run `make generate`, or start with --without-crds")
    return files


def apply_crds(site: Site, addons: Sequence[str], *, own_crds: Sequence[Path], say: Say) -> None:
    """Apply all definitions and wait until the API server serves them."""
    manifests = load_addon_manifests(addons, say)
    for file in own_crds:
        manifests += [each for each in yaml.load_all(file.read_text(), yaml.CSafeLoader) if each]
    _apply(site, manifests)
    names = [f"crd/{each['metadata']['name']}" for each in manifests]
    kubectl(site, "wait", "--for=condition=Established", f"--timeout={_WAIT}", *names)


def apply_objects(site: Site) -> None:
    """Apply nodes, namespace and rights, and wait until pods could run."""
    _apply(site, render_objects())
    kubectl(site, "wait", "--for=condition=Ready", f"--timeout={_WAIT}", "node", "--all")


def kubectl(site: Site, *arguments: str, text: str | None = None) -> str:
    """Output of kubectl as administrator. Raises ClusterError with what it complained of."""
    command = [str(site.tools / "kubectl"), f"--kubeconfig={site.layout.kubeconfig}", *arguments]
    answer = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise ClusterError(f"kubectl {' '.join(arguments)[:200]} failed: {answer.stderr.strip()[-2000:]}")
    return answer.stdout


def _apply(site: Site, manifests: Sequence[dict[str, Any]]) -> None:
    text = yaml.dump_all(manifests, Dumper=yaml.CSafeDumper)
    options = ("--server-side", "--force-conflicts", "--field-manager=local-cluster", "--validate=false")
    kubectl(site, "apply", *options, "--filename=-", text=text)
