"""Members by the public halves of their keys: what institutions send in, and the server reads.

A members file is TOML: one table [[member]] per client, with its name in the scenario, the public
key that its node authenticates with (OpenSSH), and the Ed25519 key that signs its reports and
uploads (32 bytes in hexadecimal). What one institution sends in is a members file with one table.
"""

import base64
import hashlib
import json
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import SECP384R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_ssh_public_key

from pigou.errors import InvalidArgument, PigouError, Shown, require
from pigou.scenario.writing import lines


class UnreadableMember(PigouError):  # noqa: N818
    """A file that holds no members, or keys of another kind."""


@dataclass(frozen=True)
class Member:
    """One client: its name, and the public halves of its two keys."""

    name: str
    node_key: str
    upload_key: str

    @classmethod
    def of(cls, name: str, node_key: str, upload_key: str) -> Self:
        """A member whose keys are of the right kind, in the one way of writing each."""
        kind, _, rest = node_key.strip().partition(" ")
        plain = f"{kind} {rest.split(' ')[0]}"  # without a comment
        try:
            node = load_ssh_public_key(plain.encode())
        except (ValueError, UnsupportedAlgorithm) as error:
            raise InvalidArgument("node_key", "must be an OpenSSH public key", node_key) from error
        right = isinstance(node, EllipticCurvePublicKey) and isinstance(node.curve, SECP384R1)
        require(right, "node_key", "must be an ECDSA key on the curve P-384", Shown(kind))
        try:
            Ed25519PublicKey.from_public_bytes(bytes.fromhex(upload_key))
        except ValueError as error:
            constraint = "must be the 32 bytes of an Ed25519 public key, in hexadecimal"
            raise InvalidArgument("upload_key", constraint, upload_key) from error
        return cls(name, plain, bytes.fromhex(upload_key).hex())

    @property
    def fingerprint(self) -> str:
        """What two people compare over the phone: it changes with the name and either key."""
        told = json.dumps([self.name, self.node_key, self.upload_key]).encode()
        digest = base64.b32encode(hashlib.sha256(told).digest()[:20]).decode()
        return "-".join(digest[k : k + 4] for k in range(0, len(digest), 4))


FIELDS = tuple(field.name for field in fields(Member))


def to_toml(members: Iterable[Member]) -> str:
    """The text of a members file."""
    return "\n".join(f"[[member]]\n{lines(asdict(member))}" for member in members)


def from_toml(text: str, source: str) -> list[Member]:
    """The members in a file's text; ``source`` names it in errors."""
    try:
        tables: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UnreadableMember(f"{source}: is not valid TOML: {error}") from error
    listed = tables.get("member")
    if list(tables) != ["member"] or not isinstance(listed, list) or not listed:
        raise UnreadableMember(f"{source}: must hold tables [[member]] and nothing else")
    return [_member(table, source) for table in listed]


def in_order(clients: Sequence[str], members: Iterable[Member]) -> list[Member]:
    """Members in the order of the scenario's clients: all, nobody else, and no key twice."""
    found = list(members)
    names = [member.name for member in found]
    unknown = sorted(set(names) - set(clients))
    known = f"must be clients of the scenario ({', '.join(clients)})"
    require(not unknown, "members", known, ", ".join(unknown))
    missing = [name for name in clients if name not in names]
    none = Shown(f"none for {', '.join(missing)}")
    require(not missing, "members", "must hold every client", none)
    for key in FIELDS:
        values = [getattr(member, key) for member in found]
        twice = [m.name for m in found if values.count(getattr(m, key)) > 1]
        require(not twice, key, "must differ from member to member", Shown(", ".join(twice)))
    return sorted(found, key=lambda member: clients.index(member.name))


def _member(table: Any, source: str) -> Member:
    known = isinstance(table, dict) and sorted(table) == sorted(FIELDS)
    if not known or not all(isinstance(value, str) for value in table.values()):
        raise UnreadableMember(f"{source}: each member must hold {', '.join(FIELDS)}, as text")
    try:
        return Member.of(**table)
    except InvalidArgument as error:
        raise UnreadableMember(f"{source}: {error}") from error
