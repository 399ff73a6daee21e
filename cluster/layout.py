"""Where things lie: the folder of one cluster, and the cache that all checkouts share."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from cluster.errors import ClusterError

PACKAGE = Path(__file__).resolve().parent
CHECKOUT = PACKAGE.parent
CRD_FOLDER = CHECKOUT / "src" / "dynamo_operator" / "api" / "crds"
STAGE_FOLDER = PACKAGE / "stages"

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")


def cache_folder() -> Path:
    """The folder outside the checkout that holds built programs and files taken out of Go modules."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "dynamo-operator"


def clusters_folder() -> Path:
    """The folder that holds one folder for each cluster of this checkout."""
    return CHECKOUT / ".cluster"


@dataclass(frozen=True, slots=True)
class Layout:
    """Paths of one cluster; other programs rely on kubeconfig, operator.kubeconfig, audit.log, bin and pids."""

    folder: Path

    @property
    def name(self) -> str:
        """The cluster's name."""
        return self.folder.name

    @property
    def kubeconfig(self) -> Path:
        """Credentials of the administrator."""
        return self.folder / "kubeconfig"

    @property
    def operator_kubeconfig(self) -> Path:
        """Credentials of the user `operator`."""
        return self.folder / "operator.kubeconfig"

    @property
    def audit_log(self) -> Path:
        """One JSON line for each request that the API server answered."""
        return self.folder / "audit.log"

    @property
    def bin(self) -> Path:
        """Link to the folder with kubectl and the other programs."""
        return self.folder / "bin"

    @property
    def pids(self) -> Path:
        """Folder with one file for each running program."""
        return self.folder / "pids"

    @property
    def logs(self) -> Path:
        """Folder with one log for each program."""
        return self.folder / "logs"

    @property
    def state(self) -> Path:
        """What the tool remembers of the cluster, as JSON."""
        return self.folder / "state.json"

    @property
    def lock(self) -> Path:
        """Held while the cluster is started or stopped; outside the folder, which a stop removes."""
        return self.folder.parent / f".{self.name}.lock"

    @property
    def certificates(self) -> Path:
        """Folder with keys and certificates."""
        return self.folder / "certificates"


def layout_of(name: str) -> Layout:
    """Layout of the cluster with the given name. Raises ClusterError where the name is not fit for a folder."""
    if not _NAME.fullmatch(name):
        raise ClusterError(
            f"cluster name {name!r} is not usable; choose up to 40 lower case letters, digits and dashes, "
            "with a letter or digit at both ends"
        )
    return Layout(clusters_folder() / name)
