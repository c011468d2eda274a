"""One certificate for one server, signed by an authority of its own whose key nobody keeps.

Whoever trusts the authority trusts this one server and nothing else: no second certificate can be
signed. Renewing means a new authority.
"""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from pigou.deployment.address import ip_of

DAYS: Final = 365
SKEW: Final = datetime.timedelta(hours=1)  # clocks that are behind accept the certificate too
NO_USE: Final = dict.fromkeys(
    (
        "digital_signature",
        "content_commitment",
        "key_encipherment",
        "data_encipherment",
        "key_agreement",
        "key_cert_sign",
        "crl_sign",
        "encipher_only",
        "decipher_only",
    ),
    False,
)


@dataclass(frozen=True)
class Issued:
    """PEM texts: the authority to trust, the server's certificate, and its private key."""

    authority: bytes
    certificate: bytes
    key: bytes


def issue(hosts: Iterable[str]) -> Issued:
    """A certificate for a server that is reached under these names and IP addresses."""
    start = datetime.datetime.now(datetime.UTC) - SKEW
    signer, key = (ec.generate_private_key(ec.SECP384R1()) for _ in range(2))
    root = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "pigou federation, one server")])
    authority = (
        _begun(root, root, signer.public_key(), start)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage("key_cert_sign"), critical=True)
        .sign(signer, hashes.SHA384())
    )
    names = [_name(host) for host in dict.fromkeys(hosts)]
    server = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "pigou server")])
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
    certificate = (
        _begun(server, root, key.public_key(), start)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage("digital_signature"), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(issuer, critical=False)
        .sign(signer, hashes.SHA384())
    )
    return Issued(
        authority=authority.public_bytes(Encoding.PEM),
        certificate=certificate.public_bytes(Encoding.PEM),
        key=key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    )


def _begun(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    start: datetime.datetime,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + datetime.timedelta(days=DAYS))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _usage(name: str) -> x509.KeyUsage:
    return x509.KeyUsage(**{**NO_USE, name: True})


def _name(host: str) -> x509.GeneralName:
    address = ip_of(host)
    return x509.DNSName(host) if address is None else x509.IPAddress(address)
