"""Where the API server is and how to talk to it (order of the sources: specification, platform.md 1.3)."""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml
from yarl import URL

from dynamo_operator.runtime.credentials import (
    ConfigError,
    Credentials,
    ExecCommand,
    ExecPlugin,
    Fixed,
    TokenFile,
    decode_data,
)
from dynamo_operator.runtime.proxy import proxy_for

__all__ = ["ClusterConfig", "ConfigError", "load_config"]

# Mounted by the kubelet.
SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
# Set by the kubelet.
SERVICE_HOST = "KUBERNETES_SERVICE_HOST"
SERVICE_PORT = "KUBERNETES_SERVICE_PORT"

_EXEC_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")

S = TypeVar("S", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    """How to reach one API server.

    ``server`` is a URL without trailing slash; ``tls`` None for plain HTTP; ``namespace`` the context's default one;
    ``proxy`` the URL of an HTTP proxy or empty.
    """

    server: str
    tls: ssl.SSLContext | None = None
    tls_server_name: str = ""
    credentials: Credentials = field(default_factory=Fixed)
    namespace: str = "default"
    proxy: str = ""


class _Cluster(msgspec.Struct, rename="kebab"):
    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""


class _EnvVar(msgspec.Struct):
    name: str
    value: str = ""


class _Exec(msgspec.Struct, rename="camel"):
    command: str = ""
    args: list[str] | None = None
    env: list[_EnvVar] | None = None
    api_version: str = ""
    install_hint: str = ""
    interactive_mode: str = ""
    provide_cluster_info: bool = False


class _AuthProvider(msgspec.Struct):
    name: str = ""


class _User(msgspec.Struct):
    client_certificate: str = msgspec.field(default="", name="client-certificate")
    client_certificate_data: str = msgspec.field(default="", name="client-certificate-data")
    client_key: str = msgspec.field(default="", name="client-key")
    client_key_data: str = msgspec.field(default="", name="client-key-data")
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    username: str = ""
    password: str = ""
    exec: _Exec | None = None
    auth_provider: _AuthProvider | None = msgspec.field(default=None, name="auth-provider")


class _Context(msgspec.Struct):
    cluster: str = ""
    user: str = ""
    namespace: str = ""


class _Named(msgspec.Struct):
    name: str
    cluster: dict[str, Any] | None = None
    user: dict[str, Any] | None = None
    context: dict[str, Any] | None = None


class _File(msgspec.Struct, rename="kebab"):
    current_context: str = ""
    clusters: list[_Named] | None = None
    users: list[_Named] | None = None
    contexts: list[_Named] | None = None


@dataclass(slots=True)
class _Merged:
    """Several files as one: the first that names an entry wins; each entry knows the folder of its file."""

    current: str = ""
    clusters: dict[str, tuple[Any, Path]] = field(default_factory=dict[str, tuple[Any, Path]])
    users: dict[str, tuple[Any, Path]] = field(default_factory=dict[str, tuple[Any, Path]])
    contexts: dict[str, tuple[Any, Path]] = field(default_factory=dict[str, tuple[Any, Path]])

    def add(self, file: _File, folder: Path) -> None:
        """Take in what is new in the file."""
        self.current = self.current or file.current_context
        for entry in file.clusters or ():
            self.clusters.setdefault(entry.name, (entry.cluster or {}, folder))
        for entry in file.users or ():
            self.users.setdefault(entry.name, (entry.user or {}, folder))
        for entry in file.contexts or ():
            self.contexts.setdefault(entry.name, (entry.context or {}, folder))


def load_config(
    path: str | None,
    environ: Mapping[str, str],
    *,
    context: str = "",
    service_account: Path = SERVICE_ACCOUNT,
) -> ClusterConfig:
    """The configuration from the flag's file, KUBECONFIG, the pod's service account, or the home directory.

    ``context`` overrides the files' current context. Raises ConfigError.
    """
    if path:
        return _from_files([Path(path)], environ, context)
    if environ.get("KUBECONFIG"):
        files = [Path(part) for part in environ["KUBECONFIG"].split(os.pathsep) if part]
        return _from_files(files, environ, context)
    if environ.get(SERVICE_HOST) and environ.get(SERVICE_PORT):
        return _in_cluster(environ, service_account)
    home = Path(environ.get("HOME", "/")) / ".kube" / "config"
    if not home.exists():
        raise ConfigError(f"no cluster configuration: give --kubeconfig or KUBECONFIG, run in a pod, or make {home}")
    return _from_files([home], environ, context)


def _in_cluster(environ: Mapping[str, str], folder: Path) -> ClusterConfig:
    """The configuration that every pod with a service account has."""
    host, port = environ[SERVICE_HOST], environ[SERVICE_PORT]
    server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    token = folder / "token"
    if not token.exists():
        raise ConfigError(f"running in a pod, but {token} does not exist: mount the service account token")
    namespace = folder / "namespace"
    return ClusterConfig(
        server=server,
        tls=_tls_context(_Cluster(certificate_authority=str(folder / "ca.crt")), _User(), folder),
        credentials=TokenFile(token),
        namespace=namespace.read_text(encoding="utf-8").strip() if namespace.exists() else "default",
        proxy=proxy_for(server, environ),
    )


def _from_files(paths: list[Path], environ: Mapping[str, str], context: str) -> ClusterConfig:
    """The configuration of one context in the merged files; missing files are skipped while one is left."""
    merged = _Merged()
    present = [path for path in paths if path.exists()]
    if not present:
        raise ConfigError(f"kubeconfig {os.pathsep.join(map(str, paths))} does not exist")
    for path in present:
        merged.add(_load_file(path), path.absolute().parent)
    name = context or merged.current
    if not name:
        raise ConfigError(f"kubeconfig {os.pathsep.join(map(str, present))} has no current-context")
    chosen = _entry(merged.contexts, name, "context", _Context)[0]
    cluster, cluster_folder = _entry(merged.clusters, chosen.cluster, "cluster", _Cluster)
    user, user_folder = _entry(merged.users, chosen.user, "user", _User) if chosen.user else (_User(), cluster_folder)
    return _assemble(_absolute(cluster, cluster_folder), user, user_folder, environ, namespace=chosen.namespace)


def _load_file(path: Path) -> _File:
    """One kubeconfig file."""
    try:
        tree = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
        return msgspec.convert(tree or {}, _File)
    except (OSError, ValueError, RecursionError, yaml.YAMLError, msgspec.MsgspecError) as error:
        raise ConfigError(f"cannot read kubeconfig {path}: {error}") from error


def _entry(entries: dict[str, tuple[Any, Path]], name: str, kind: str, shape: type[S]) -> tuple[S, Path]:
    """A named entry in its shape, and the folder of its file."""
    if name not in entries:
        raise ConfigError(f"kubeconfig has no {kind} {name!r}: it has {', '.join(sorted(entries)) or 'none'}")
    tree, folder = entries[name]
    try:
        return msgspec.convert({k: v for k, v in tree.items() if v is not None}, shape), folder
    except msgspec.ValidationError as error:
        raise ConfigError(f"kubeconfig {kind} {name!r}: {error}") from error


def _absolute(cluster: _Cluster, folder: Path) -> _Cluster:
    """The cluster with its file named from the root."""
    authority = cluster.certificate_authority
    return msgspec.structs.replace(cluster, certificate_authority=str(folder / authority) if authority else "")


def _assemble(
    cluster: _Cluster, user: _User, folder: Path, environ: Mapping[str, str], *, namespace: str
) -> ClusterConfig:
    """Join a cluster and a user."""
    url = URL(cluster.server)
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigError(f"kubeconfig: server {cluster.server!r} is no http or https URL")
    server = cluster.server.rstrip("/")
    if cluster.proxy_url and not cluster.proxy_url.startswith(("http://", "https://")):
        raise ConfigError(f"kubeconfig: proxy-url {cluster.proxy_url!r} must be an http or https URL")
    return ClusterConfig(
        server=server,
        tls=_tls_context(cluster, user, folder) if url.scheme == "https" else None,
        tls_server_name=cluster.tls_server_name,
        credentials=_credentials(cluster, user, folder, environ),
        namespace=namespace or "default",
        proxy=cluster.proxy_url or proxy_for(server, environ),
    )


def _credentials(cluster: _Cluster, user: _User, folder: Path, environ: Mapping[str, str]) -> Credentials:
    """Token before basic authentication before plugin, in client-go's order."""
    if user.auth_provider is not None:
        raise ConfigError(f"kubeconfig: auth-provider {user.auth_provider.name!r} is gone from Kubernetes: use exec")
    if user.token_file:
        return TokenFile(folder / user.token_file)
    if user.token:
        return Fixed(token=user.token)
    if user.username:
        return Fixed(username=user.username, password=user.password)
    if user.exec is not None:
        return ExecPlugin(_exec_command(user.exec, cluster, folder), environ=environ)
    return Fixed()


def _exec_command(plugin: _Exec, cluster: _Cluster, folder: Path) -> ExecCommand:
    """A credential plugin that can run without a terminal."""
    if not plugin.command:
        raise ConfigError("kubeconfig: exec has no command")
    if plugin.api_version not in _EXEC_VERSIONS:
        raise ConfigError(
            f"kubeconfig: exec apiVersion {plugin.api_version!r} is not one of {', '.join(_EXEC_VERSIONS)}"
        )
    if plugin.interactive_mode == "Always":
        raise ConfigError(
            f"kubeconfig: the credential plugin {plugin.command} needs a terminal (interactiveMode Always)"
        )
    info = {"server": cluster.server, "tls-server-name": cluster.tls_server_name}
    info |= {"insecure-skip-tls-verify": cluster.insecure_skip_tls_verify}
    info |= {"certificate-authority-data": cluster.certificate_authority_data, "proxy-url": cluster.proxy_url}
    return ExecCommand(
        # A bare name is looked up in PATH, anything with a slash belongs to the file's folder.
        command=str(folder / plugin.command) if "/" in plugin.command else plugin.command,
        args=tuple(plugin.args or ()),
        env={var.name: var.value for var in plugin.env or ()},
        api_version=plugin.api_version,
        install_hint=plugin.install_hint.strip(),
        cluster_info={k: v for k, v in info.items() if v} if plugin.provide_cluster_info else None,
    )


def _tls_context(cluster: _Cluster, user: _User, folder: Path) -> ssl.SSLContext:
    """Trust in the cluster's authority (the system's when none is named), with our certificate when there is one."""
    try:
        context = ssl.create_default_context(
            cafile=cluster.certificate_authority or None,
            cadata=decode_data(cluster.certificate_authority_data, "certificate-authority-data").decode() or None,
        )
    except (OSError, ValueError) as error:
        source = cluster.certificate_authority or "certificate-authority-data"
        raise ConfigError(f"cannot load the cluster's certificate authority from {source}: {error}") from error
    # Newer Pythons demand extensions that the authorities of many clusters lack.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if cluster.insecure_skip_tls_verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    certificate = _pem(user.client_certificate_data, user.client_certificate, folder, "client-certificate")
    if certificate:
        load_client_certificate(context, certificate, _pem(user.client_key_data, user.client_key, folder, "client-key"))
    return context


def _pem(data: str, file: str, folder: Path, what: str) -> str:
    """PEM text from inline data or a file; empty when neither is given."""
    if data:
        return decode_data(data, f"{what}-data").decode(errors="replace")
    try:
        return (folder / file).read_text(encoding="utf-8") if file else ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {what} {folder / file}: {error}") from error


def load_client_certificate(context: ssl.SSLContext, certificate: str, key: str) -> None:
    """Present this certificate (PEM) in new connections. Raises ConfigError."""
    # The ssl module takes files only; this one is ours alone and lives for a moment.
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        file.write(f"{certificate}\n{key}\n")
        file.flush()
        try:
            context.load_cert_chain(file.name)
        except (OSError, ValueError) as error:
            raise ConfigError(f"cannot use the client certificate and key: {error}") from error
