"""Signatures with keys of our own (Ed25519): Flower's node signature covers a timestamp alone.

The server signs what it tells a client: announcement and statements. A client signs what it says:
its report, or its upload with run, round and attempt. Each message says for which purpose and
between whom, so that none can be taken for another.
"""

import hashlib
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

from pigou.canonical import canonical_bytes
from pigou.errors import PigouError

OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
UNREADABLE: Final = (ValueError, TypeError, UnsupportedAlgorithm)


class BadSignature(PigouError):  # noqa: N818
    """A message that its alleged sender did not sign."""


def told(client: str, announcement: bytes, statements: bytes) -> bytes:
    """What the server signs."""
    parts = [hashlib.sha256(part).hexdigest() for part in (announcement, statements)]
    return canonical_bytes(["pigou: to client", client, *parts])


def reported(client: str, run: str, report: bytes) -> bytes:
    """What a client signs in answer to a query."""
    said = hashlib.sha256(report).hexdigest()
    return canonical_bytes(["pigou: report", client, run, said])


def uploaded(client: str, run: str, round_: int, attempt: int, content: str) -> bytes:
    """What a client signs in a round: the digest of its upload, or why there is none."""
    return canonical_bytes(["pigou: upload", client, run, round_, attempt, content])


def sign(key: Ed25519PrivateKey | None, message: bytes) -> bytes:
    """The signature; none without a key, which only simulations do without."""
    return b"" if key is None else key.sign(message)


def check(key: Ed25519PublicKey, signature: bytes, message: bytes, who: str) -> None:
    """An error unless the signature holds."""
    try:
        key.verify(signature, message)
    except InvalidSignature as error:
        raise BadSignature(f"not signed with the key of {who}") from error


def load_key(path: Path) -> Ed25519PrivateKey:
    """The private key in a PEM file that nobody else may read."""
    key = _load(path, partial(load_pem_private_key, password=None), "unencrypted PEM private key")
    if path.stat().st_mode & OTHERS:
        raise PigouError(f"key file {path} must be its owner's alone: chmod 600 {path}")
    if not isinstance(key, Ed25519PrivateKey):
        raise PigouError(f"key file {path} must hold an Ed25519 key")
    return key


def load_public(path: Path) -> Ed25519PublicKey:
    """The public key in a PEM file."""
    key = _load(path, load_pem_public_key, "PEM public key")
    if not isinstance(key, Ed25519PublicKey):
        raise PigouError(f"key file {path} must hold an Ed25519 key")
    return key


def public_key(text: str) -> Ed25519PublicKey:
    """A public key from its 32 bytes in hexadecimal."""
    try:
        return Ed25519PublicKey.from_public_bytes(bytes.fromhex(text))
    except ValueError as error:
        raise PigouError(f"not an Ed25519 public key in hexadecimal: {text[:80]!r}") from error


def _load(path: Path, read: Callable[[bytes], object], what: str) -> object:
    try:
        return read(path.read_bytes())
    except OSError as error:
        raise PigouError(f"key file {path} cannot be read: {error.strerror}") from error
    except UNREADABLE as error:
        raise PigouError(f"key file {path} holds no {what}") from error
