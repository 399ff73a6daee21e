"""Which HTTP proxy the environment asks for, by the rules of Go programs."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address, ip_network

from yarl import URL


def proxy_for(server: str, environ: Mapping[str, str]) -> str:
    """URL of the proxy for requests to that server, or empty."""
    url = URL(server)
    name = f"{url.scheme}_proxy"
    proxy = environ.get(name.upper()) or environ.get(name) or ""
    if not proxy or _bypassed(url, environ.get("NO_PROXY") or environ.get("no_proxy") or ""):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


def _bypassed(url: URL, exceptions: str) -> bool:
    """Whether the host is local, or one of the comma-separated names, domains, addresses and networks."""
    host = (url.host or "").lower()
    if host == "localhost" or (_is_address(host) and ip_address(host).is_loopback):
        return True
    return any(_matches(host, url.port, entry.strip().lower()) for entry in exceptions.split(",") if entry.strip())


def _matches(host: str, port: int | None, entry: str) -> bool:
    """Whether one entry of NO_PROXY covers the host."""
    if entry == "*":
        return True
    if "/" in entry:
        return _in_network(host, entry)
    name, colon, wanted = entry.partition(":")
    if colon and wanted.isdigit():
        if wanted != str(port):
            return False
        entry = name
    if entry.startswith("*."):
        entry = entry[1:]
    return host.endswith(entry) if entry.startswith(".") else host == entry or host.endswith(f".{entry}")


def _in_network(host: str, network: str) -> bool:
    """Whether the host is an address in the network (CIDR)."""
    try:
        return _is_address(host) and ip_address(host) in ip_network(network, strict=False)
    except ValueError:
        return False


def _is_address(host: str) -> bool:
    """Whether the host is written as an address."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
