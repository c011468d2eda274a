"""New keys of one client: its node's, and the one that signs its reports and uploads."""

from dataclasses import dataclass
from typing import Self

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from pigou.deployment.members import Member


@dataclass(frozen=True)
class ClientKeys:
    """Private halves, as the texts of their files, and the member that they belong to."""

    node: bytes  # OpenSSH, as Flower reads it
    upload: bytes  # PEM
    member: Member

    @classmethod
    def new(cls, name: str) -> Self:
        """Keys that did not exist before."""
        node = ec.generate_private_key(ec.SECP384R1())
        upload = Ed25519PrivateKey.generate()
        public = node.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
        return cls(
            node=node.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()),
            upload=private_pem(upload),
            member=Member.of(name, public.decode(), upload.public_key().public_bytes_raw().hex()),
        )


def private_pem(key: Ed25519PrivateKey) -> bytes:
    """A private key as the text of its file."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
