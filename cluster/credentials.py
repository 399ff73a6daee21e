"""Writes the certificates and kubeconfig files of a cluster."""

from __future__ import annotations

from cluster.certificates import Authority, make_authority
from cluster.kubeconfig import render_kubeconfig, write_kubeconfig
from cluster.nodes import OPERATOR_USER
from cluster.ports import LOOPBACK
from cluster.programs import (
    ADDON_PROGRAM_OF,
    API_SERVER,
    CONTROLLER_MANAGER,
    KWOK,
    SCHEDULER,
    Site,
    certificate_folder,
)

# The first address of the Service range, which the Service `kubernetes` gets.
_SERVICE_ADDRESS = "10.96.0.1"
_HOSTS = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
_MASTERS = ("system:masters",)


def write_credentials(site: Site) -> None:
    """Write a new authority, the server's certificate, and one kubeconfig for each user of the cluster."""
    authority = make_authority("local-cluster")
    folder = site.layout.certificates
    authority.pair().write(folder, "authority")
    authority.issue_server("apiserver", hosts=_HOSTS, addresses=(LOOPBACK, _SERVICE_ADDRESS)).write(folder, "server")
    # Signs ServiceAccount tokens; the certificate's public key verifies them.
    authority.issue_client("service-accounts").write(folder, "accounts")
    # This tool's own, for the requests of client.py.
    authority.issue_client("local-cluster", groups=_MASTERS).write(folder, "admin")
    users = {
        site.layout.kubeconfig: ("admin", _MASTERS),
        site.layout.operator_kubeconfig: (OPERATOR_USER, ()),
        site.kubeconfig_of(CONTROLLER_MANAGER): ("system:kube-controller-manager", ()),
        site.kubeconfig_of(SCHEDULER): ("system:kube-scheduler", ()),
        site.kubeconfig_of(KWOK): ("kwok", _MASTERS),
    }
    for addon in set(ADDON_PROGRAM_OF) & set(site.addons):
        users[site.kubeconfig_of(addon)] = (f"{addon}-controller", _MASTERS)
        authority.issue_server(f"{addon}-webhook", hosts=("localhost",), addresses=(LOOPBACK,)).write(
            certificate_folder(site, addon), "tls"
        )
    for path, (user, groups) in users.items():
        write_kubeconfig(path, _config(site, authority, user=user, groups=groups))


def _config(site: Site, authority: Authority, *, user: str, groups: tuple[str, ...]) -> dict[str, object]:
    return render_kubeconfig(
        server=site.url(API_SERVER),
        authority=authority.pair().certificate,
        user=user,
        pair=authority.issue_client(user, groups=groups),
    )
