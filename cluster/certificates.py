"""Keys and certificates of a cluster: its authority, the server, and a client certificate for each user."""

from __future__ import annotations

import datetime as dt
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_VALIDITY = dt.timedelta(days=365)
# A machine that was asleep may have a clock a little behind the one that made the certificate.
_LEEWAY = dt.timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its private key, both as PEM."""

    certificate: bytes
    key: bytes

    def write(self, folder: Path, name: str) -> None:
        """Write `name`.crt and `name`.key, the key readable by its owner only."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.crt").write_bytes(self.certificate)
        key = folder / f"{name}.key"
        key.touch(mode=0o600)
        key.write_bytes(self.key)


@dataclass(frozen=True, slots=True)
class Authority:
    """Signs certificates; its own certificate is what clients trust."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    def pair(self) -> Pair:
        """The authority's own certificate and key."""
        return _pair(self.certificate, self.key)

    def issue_server(self, name: str, *, hosts: tuple[str, ...], addresses: tuple[str, ...]) -> Pair:
        """A certificate for a server that is reached under the given names and addresses."""
        names = [*map(x509.DNSName, hosts), *(x509.IPAddress(ipaddress.ip_address(each)) for each in addresses)]
        return self._issue(name, (), x509.SubjectAlternativeName(names), ExtendedKeyUsageOID.SERVER_AUTH)

    def issue_client(self, user: str, *, groups: tuple[str, ...] = ()) -> Pair:
        """A certificate that the API server takes as the given user, member of the given groups."""
        return self._issue(user, groups, None, ExtendedKeyUsageOID.CLIENT_AUTH)

    def _issue(
        self,
        name: str,
        groups: tuple[str, ...],
        names: x509.SubjectAlternativeName | None,
        usage: x509.ObjectIdentifier,
    ) -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(_subject(name, groups), self.certificate.subject, key)
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        if names is not None:
            builder = builder.add_extension(names, critical=False)
        return _pair(builder.sign(self.key, hashes.SHA256()), key)


def make_authority(name: str) -> Authority:
    """A new authority that signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    builder = _builder(_subject(name, ()), _subject(name, ()), key)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )
    builder = builder.add_extension(usage, critical=True)
    return Authority(builder.sign(key, hashes.SHA256()), key)


def _subject(name: str, groups: tuple[str, ...]) -> x509.Name:
    organizations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*organizations, x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    return (
        x509.CertificateBuilder(subject_name=subject, issuer_name=issuer, public_key=key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _LEEWAY)
        .not_valid_after(now + _VALIDITY)
        .add_extension(identifier, critical=False)
    )


def _pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> Pair:
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    return Pair(certificate.public_bytes(serialization.Encoding.PEM), pem)
