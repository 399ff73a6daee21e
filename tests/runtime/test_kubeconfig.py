import base64
import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from dynamo_operator.runtime.credentials import ExecPlugin, Fixed, Identity, TokenFile
from dynamo_operator.runtime.kubeconfig import ClusterConfig, ConfigError, load_config
from dynamo_operator.runtime.proxy import proxy_for

SERVER = "https://10.0.0.1:6443"


@pytest.fixture(scope="module")
def pair() -> tuple[str, str]:
    """A certificate that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = datetime(2026, 1, 1, tzinfo=UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + timedelta(days=9999))
    certificate = builder.sign(key, hashes.SHA256())
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return certificate.public_bytes(serialization.Encoding.PEM).decode(), private.decode()


def tree(*, cluster: Any = None, user: Any = None, context: Any = None, name: str = "x") -> dict[str, Any]:
    """A kubeconfig with one context."""
    return {
        "current-context": name,
        "clusters": [{"name": name, "cluster": {"server": SERVER, **(cluster or {})}}],
        "users": [{"name": name, "user": user or {}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, **(context or {})}}],
    }


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def written(content: Any, file: str = "config") -> Path:
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        return path

    return written


Write = Callable[..., Path]


def load(path: Path, **environ: str) -> ClusterConfig:
    return load_config(str(path), environ)


async def header(config: ClusterConfig) -> str:
    return (await config.credentials.renew()).authorization


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


USERS = [
    pytest.param({}, "", id="nothing: no header"),
    pytest.param({"token": "t"}, "Bearer t", id="token: bearer"),
    pytest.param({"token": "t", "tokenFile": "sub/token"}, "Bearer filed", id="token and file: the file"),
    pytest.param({"username": "u", "password": "p"}, "Basic dTpw", id="user and password: basic"),
]


@pytest.mark.parametrize(("user", "wanted"), USERS)
async def test_users(write: Write, user: dict[str, str], wanted: str) -> None:
    write("filed\n", "sub/token")
    assert await header(load(write(tree(user=user)))) == wanted


def test_certificates_as_data_and_as_files_beside_the_config(write: Write, pair: tuple[str, str]) -> None:
    certificate, key = pair
    write(certificate, "crt")
    write(key, "key")
    data = {"client-certificate-data": encoded(certificate), "client-key-data": encoded(key)}
    inline = load(write(tree(cluster={"certificate-authority-data": encoded(certificate)}, user=data)))
    files = {"client-certificate": "crt", "client-key": "key"}
    named = load(write(tree(cluster={"certificate-authority": "crt", "tls-server-name": "api"}, user=files)))
    for config in (inline, named):
        assert config.tls is not None
        assert config.tls.verify_mode == ssl.CERT_REQUIRED
        assert config.tls.cert_store_stats()["x509"] == 1
    assert named.tls_server_name == "api"


def test_unverified_and_plain_servers(write: Write) -> None:
    unverified = load(write(tree(cluster={"insecure-skip-tls-verify": True})))
    assert unverified.tls is not None
    assert unverified.tls.verify_mode == ssl.CERT_NONE
    plain = load(write(tree(cluster={"server": "http://localhost:8001/"}, context={"namespace": "n"})))
    assert (plain.tls, plain.server, plain.namespace) == (None, "http://localhost:8001", "n")


def test_sources_in_order(write: Write, tmp_path: Path) -> None:
    flag = write(tree(context={"namespace": "flag"}), "flag")
    env = write(tree(context={"namespace": "env"}), "env")
    write(tree(context={"namespace": "home"}), ".kube/config")
    mounted = tmp_path / "mounted"
    write("t", "mounted/token")
    write("pod\n", "mounted/namespace")
    environ = {"KUBECONFIG": str(env), "KUBERNETES_SERVICE_HOST": "::1", "HOME": str(tmp_path)}
    environ["KUBERNETES_SERVICE_PORT"] = "443"
    assert load_config(str(flag), environ).namespace == "flag"
    assert load_config(None, environ).namespace == "env"
    del environ["KUBECONFIG"]
    with pytest.raises(ConfigError, match=r"certificate authority from .*ca\.crt"):
        load_config(None, environ, service_account=mounted)
    del environ["KUBERNETES_SERVICE_HOST"]
    assert load_config("", environ).namespace == "home"


def test_in_a_pod(write: Write, tmp_path: Path, pair: tuple[str, str]) -> None:
    environ = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    with pytest.raises(ConfigError, match="mount the service account token"):
        load_config(None, environ, service_account=tmp_path)
    write("t", "token")
    write(pair[0], "ca.crt")
    config = load_config(None, environ, service_account=tmp_path)
    assert (config.server, config.namespace) == ("https://[fd00::1]:443", "default")
    assert isinstance(config.credentials, TokenFile)


def test_several_files_are_one_and_the_first_wins(write: Write, tmp_path: Path) -> None:
    first = tree(user={"token": "first"})
    del first["clusters"]
    second = tree(user={"token": "second"}, cluster={"server": "https://second"})
    paths = [tmp_path / "missing", write(first, "a"), write(second, "b/b"), write(tree(name="other"), "c")]
    environ = {"KUBECONFIG": ":".join(map(str, paths))}
    config = load_config(None, environ)
    assert config.server == "https://second"
    assert isinstance(config.credentials, Fixed)
    assert config.credentials.current() == Identity("Bearer first")
    assert load_config(None, environ, context="other").server == SERVER


def test_a_plugin_is_kept_as_written(write: Write, tmp_path: Path) -> None:
    plugin = {"command": "./issue", "args": ["a"], "env": [{"name": "A", "value": "b"}], "provideClusterInfo": True}
    plugin |= {"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "IfAvailable"}
    config = load(write(tree(user={"exec": plugin})))
    assert isinstance(config.credentials, ExecPlugin)
    command = config.credentials._command
    assert command.command == str(tmp_path / "issue")
    assert (command.args, command.env, command.cluster_info) == (("a",), {"A": "b"}, {"server": SERVER})


EXEC = {"command": "x", "apiVersion": "client.authentication.k8s.io/v1"}

BROKEN = [
    pytest.param("{", "cannot read kubeconfig", id="no YAML"),
    pytest.param(f"a: {'9' * 5000}", "cannot read kubeconfig", id="a number beyond all bounds"),
    pytest.param("- a", "cannot read kubeconfig", id="a list"),
    pytest.param("", "has no current-context", id="empty file"),
    pytest.param({"current-context": "y"}, "no context 'y': it has none", id="unknown context"),
    pytest.param(tree(context={"cluster": "y"}), "no cluster 'y': it has x", id="unknown cluster"),
    pytest.param(tree(context={"user": "y"}), "no user 'y': it has x", id="unknown user"),
    pytest.param(tree(cluster={"server": "10.0.0.1"}), "no http or https URL", id="server without scheme"),
    pytest.param(tree(cluster={"server": 5}), "cluster 'x': Expected `str`", id="server that is a number"),
    pytest.param(tree(cluster={"proxy-url": "socks5://p"}), "proxy-url 'socks5://p' must be", id="socks proxy"),
    pytest.param(tree(cluster={"certificate-authority-data": "%"}), "is not base64", id="authority that is no base64"),
    pytest.param(tree(cluster={"certificate-authority-data": "eA=="}), "certificate authority", id="no certificate"),
    pytest.param(tree(user={"client-certificate": "gone"}), "cannot read client-certificate", id="missing file"),
    pytest.param(tree(user={"client-certificate-data": "eA=="}), "cannot use the client certificate", id="bad pair"),
    pytest.param(tree(user={"auth-provider": {"name": "gcp"}}), "auth-provider 'gcp' is gone", id="auth provider"),
    pytest.param(tree(user={"exec": {**EXEC, "command": ""}}), "exec has no command", id="plugin without command"),
    pytest.param(tree(user={"exec": {**EXEC, "apiVersion": "v0"}}), "apiVersion 'v0' is not", id="old plugin"),
    pytest.param(tree(user={"exec": {**EXEC, "interactiveMode": "Always"}}), "needs a terminal", id="asking plugin"),
]


@pytest.mark.parametrize(("content", "message"), BROKEN)
def test_what_is_wrong_is_said(write: Write, content: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message.replace("(", r"\(")):
        load(write(content))


def test_nothing_at_all_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no cluster configuration: give --kubeconfig"):
        load_config(None, {"HOME": str(tmp_path)})
    with pytest.raises(ConfigError, match="does not exist"):
        load_config(str(tmp_path / "none"), {})


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        pytest.param({}, "", id="nothing set: none"),
        pytest.param({"HTTPS_PROXY": "p:1"}, "http://p:1", id="no scheme: http"),
        pytest.param({"https_proxy": "https://p"}, "https://p", id="small letters: taken"),
        pytest.param({"HTTP_PROXY": "http://p"}, "", id="only for plain HTTP: none"),
        pytest.param({"HTTPS_PROXY": "p", "NO_PROXY": "a, *"}, "", id="everything excepted: none"),
        pytest.param({"HTTPS_PROXY": "p", "NO_PROXY": "10.0.0.0/8"}, "", id="network excepted: none"),
        pytest.param({"HTTPS_PROXY": "p", "NO_PROXY": "11.0.0.0/8,bad/x"}, "http://p", id="other network: used"),
        pytest.param({"HTTPS_PROXY": "p", "no_proxy": "10.0.0.1:6443"}, "", id="address and port excepted: none"),
        pytest.param({"HTTPS_PROXY": "p", "NO_PROXY": "10.0.0.1:1"}, "http://p", id="another port: used"),
    ],
)
def test_proxy_of_the_environment(environ: dict[str, str], wanted: str) -> None:
    assert proxy_for(SERVER, environ) == wanted


@pytest.mark.parametrize(
    ("host", "exceptions", "used"),
    [
        ("api.example.com", "example.com", False),
        ("api.example.com", ".example.com", False),
        ("api.example.com", "*.example.com", False),
        ("example.com", ".example.com", True),
        ("badexample.com", "example.com", True),
        ("api.example.com", "10.0.0.0/8", True),
        ("localhost", "", False),
        ("127.0.0.1", "", False),
    ],
)
def test_hosts_that_are_excepted(host: str, exceptions: str, used: bool) -> None:
    environ = {"HTTPS_PROXY": "http://p", "NO_PROXY": exceptions}
    assert bool(proxy_for(f"https://{host}", environ)) is used
