"""The ledger's Ed25519 key: one file with mode 600, and the public half beside it to hand out."""

import os
import stat
import tempfile
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from pigou.ledger.errors import KeyRefused

MODE = 0o600
LARGEST = 10_000  # bytes; a key file has some hundred


def public_file(path: Path) -> Path:
    """Where the public half of a key file is kept."""
    return path.with_name(path.name + ".pub")


def create(path: Path) -> Ed25519PrivateKey:
    """A new key file, whole from the first moment; the one already there, if there is one."""
    key = Ed25519PrivateKey.generate()
    content = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        try:
            _write(handle, content, MODE)
            os.link(part, path)  # refuses to replace; a rename would not
        except FileExistsError:
            return load(path)
        finally:
            os.unlink(part)  # noqa: PTH108
        public = os.open(public_file(path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        _write(public, public_pem(key.public_key()), 0o644)
        _keep_names(path.parent)
    except OSError as error:
        raise KeyRefused(f"key file {path} cannot be created: {error.strerror}") from error
    return key


def load(path: Path) -> Ed25519PrivateKey:
    """The key of a file that nobody else may read."""
    content, mode = _read(path)
    if mode != MODE:
        raise KeyRefused(
            f"key file {path} must have mode 600, has {mode:o}: others may have read it; if they "
            f"have not, say chmod 600 {path}"
        )
    try:
        key = load_pem_private_key(content, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise KeyRefused(f"key file {path} holds no unencrypted PEM private key") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyRefused(f"key file {path} must hold an Ed25519 key")
    return key


def load_public(path: Path) -> Ed25519PublicKey:
    """A public key, from a file of its own or from a private key's."""
    content, _ = _read(path)
    if b"PRIVATE" in content:
        return load(path).public_key()
    try:
        key = load_pem_public_key(content)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise KeyRefused(f"key file {path} holds no PEM public key") from error
    if not isinstance(key, Ed25519PublicKey):
        raise KeyRefused(f"key file {path} must hold an Ed25519 key")
    return key


def public_pem(key: Ed25519PublicKey) -> bytes:
    """A public key as the text of its file."""
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def to_hex(key: Ed25519PublicKey) -> str:
    """The 32 bytes of a public key, in hexadecimal."""
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw).hex()


def from_hex(text: str) -> Ed25519PublicKey:
    """A public key from its 32 bytes in hexadecimal."""
    return Ed25519PublicKey.from_public_bytes(bytes.fromhex(text))


def verified(key: Ed25519PublicKey, signature: str, message: bytes) -> bool:
    """Does the signature hold? It is in hexadecimal, in the one way of writing that there is."""
    try:
        raw = bytes.fromhex(signature)
        key.verify(raw, message)
    except (InvalidSignature, ValueError, TypeError):
        return False
    return raw.hex() == signature


def _read(path: Path) -> tuple[bytes, int]:
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            return file.read(LARGEST), mode
    except OSError as error:
        raise KeyRefused(f"key file {path} cannot be read: {error.strerror}") from error


def _write(handle: int, content: bytes, mode: int) -> None:
    with os.fdopen(handle, "wb") as file:
        os.fchmod(handle, mode)  # whatever the umask says
        file.write(content)
        file.flush()
        os.fsync(handle)


def _keep_names(folder: Path) -> None:
    """New names in a folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
