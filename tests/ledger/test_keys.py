"""Key files: mode 600 or refused, never replaced, and what is in them must be such a key."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from tests.ledger.rounds import random_round

from pigou.ledger import Ledger, keys
from pigou.ledger.errors import KeyRefused


@pytest.fixture(params=[0o000, 0o022, 0o177])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.mark.usefixtures("umask")
def test_a_new_key_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "book.key"
    made = keys.create(path)
    assert path.stat().st_mode & 0o7777 == 0o600
    assert keys.public_file(path).stat().st_mode & 0o7777 == 0o644
    assert keys.to_hex(keys.load(path).public_key()) == keys.to_hex(made.public_key())
    assert keys.to_hex(keys.load_public(keys.public_file(path))) == keys.to_hex(made.public_key())
    assert sorted(each.name for each in tmp_path.iterdir()) == ["book.key", "book.key.pub"]


def test_two_keys_are_not_the_same(tmp_path: Path) -> None:
    one, two = (keys.to_hex(keys.create(tmp_path / name).public_key()) for name in "ab")
    assert one != two


def test_a_key_is_never_replaced(tmp_path: Path) -> None:
    """Who comes second gets the first one's key."""
    path = tmp_path / "book.key"
    first, second = keys.create(path), keys.create(path)
    assert keys.to_hex(first.public_key()) == keys.to_hex(second.public_key())


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o400, 0o700, 0o777])
def test_any_other_mode_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "book.db.key"
    url = f"sqlite:///{tmp_path}/book.db"
    with Ledger(url) as ledger:
        ledger.post(random_round("run", 1))
    path.chmod(mode)
    with pytest.raises(KeyRefused, match=f"must have mode 600, has {mode:o}"):
        Ledger(url)
    path.chmod(0o600)
    with Ledger(url) as ledger:
        ledger.post(random_round("run", 2))
        assert ledger.verify().entries == 2


def test_files_that_hold_no_such_key(tmp_path: Path) -> None:
    path = tmp_path / "book.key"
    private = keys.create(path)
    other = generate_private_key(SECP256R1())
    pkcs8, plain = PrivateFormat.PKCS8, NoEncryption()
    locked = private.private_bytes(Encoding.PEM, pkcs8, BestAvailableEncryption(b"secret"))
    for content, why in (
        (b"", "no unencrypted PEM private key"),
        (b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "no unencrypted PEM"),
        (locked, "no unencrypted PEM"),
        (other.private_bytes(Encoding.PEM, pkcs8, plain), "must hold an Ed25519 key"),
    ):
        path.write_bytes(content)
        with pytest.raises(KeyRefused, match=why):
            keys.load(path)
    public = tmp_path / "public.pem"
    theirs = other.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    for content, why in ((b"text", "no PEM public key"), (theirs, "must hold an Ed25519 key")):
        public.write_bytes(content)
        with pytest.raises(KeyRefused, match=why):
            keys.load_public(public)
    for place in (tmp_path / "none", tmp_path):
        with pytest.raises(KeyRefused, match="cannot be read"):
            keys.load(place)
    with pytest.raises(KeyRefused, match="cannot be created"):
        keys.create(tmp_path / "no folder" / "book.key")


def test_a_signature_has_one_form(tmp_path: Path) -> None:
    key = keys.create(tmp_path / "key")
    signature = key.sign(b"text").hex()
    public = key.public_key()
    assert keys.verified(public, signature, b"text")
    assert not keys.verified(public, signature, b"texts")
    for form in (signature.upper(), signature + " ", signature[:-2], "", "no"):
        assert not keys.verified(public, form, b"text")
