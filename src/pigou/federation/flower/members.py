"""Who is who: the billed party is the authenticated node, not what a message says of itself."""

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_public_key,
    load_ssh_public_key,
)

from pigou.errors import InvalidArgument, PigouError, require
from pigou.federation.flower import signing

FIELDS: Final = {"name", "node_key", "upload_key"}


class Node(Protocol):
    """What Flower knows of a node: its number, and the key that it authenticates with."""

    @property
    def node_id(self) -> int: ...
    @property
    def public_key(self) -> bytes: ...


class Members(Protocol):
    """The clients of a run, and how they are known."""

    @property
    def names(self) -> tuple[str, ...]:
        """All clients, in the order of the run."""

    def client_of(self, node: Node) -> str | None:
        """The client behind a node; None: a stranger."""

    def addressed(self, nodes: Iterable[Node]) -> list[int]:
        """The nodes to speak to."""

    def check(self, client: str, signature: bytes, message: bytes) -> None:
        """An error unless the client signed the message."""

    def met(self, node_id: int, said: str) -> None:
        """What a node says of itself in its first reply."""

    def awaited(self, least: int) -> int:
        """How many nodes a run waits for, where it could do with ``least``."""


@dataclass(frozen=True)
class Member:
    """One client: its name, its node's key, and the key of its reports and uploads."""

    name: str
    node_key: bytes  # as DER, whatever form it was given in
    upload_key: Ed25519PublicKey


class Registered:
    """Members known by their keys: real federations, with SuperNode authentication."""

    def __init__(self, members: Sequence[Member]) -> None:
        self._members = {member.name: member for member in members}
        self._nodes = {member.node_key: member.name for member in members}
        uploads = {signing_key.public_bytes_raw() for signing_key in self._keys(members)}
        for argument, found in (
            ("name", self._members),
            ("node_key", self._nodes),
            ("upload_key", uploads),
        ):
            distinct = len(found) == len(members)
            require(distinct, argument, "must differ from member to member", len(found))

    @staticmethod
    def _keys(members: Iterable[Member]) -> list[Ed25519PublicKey]:
        return [member.upload_key for member in members]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Members from a TOML file: a table [[member]] with name, node_key and upload_key each."""
        try:
            tables = tomllib.loads(path.read_text(encoding="utf-8")).get("member")
        except OSError as error:
            raise PigouError(f"{path}: cannot be read: {error.strerror}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise PigouError(f"{path}: not TOML: {error}") from error
        listed = isinstance(tables, list) and len(tables) > 0
        require(listed, "member", f"must be tables [[member]] in {path}", tables)
        return cls([_member(table) for table in tables or ()])

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._members)

    def client_of(self, node: Node) -> str | None:
        if not node.public_key:
            return None
        try:
            return self._nodes.get(node_key(node.public_key))
        except PigouError:
            return None

    def check(self, client: str, signature: bytes, message: bytes) -> None:
        signing.check(self._members[client].upload_key, signature, message, client)

    def met(self, node_id: int, said: str) -> None:
        """Nothing: what a node says of itself does not count."""

    def awaited(self, least: int) -> int:
        return min(least, len(self._members))

    def addressed(self, nodes: Iterable[Node]) -> list[int]:
        return [node.node_id for node in nodes if self.client_of(node) is not None]


class Simulated:
    """Members on one machine, which are who they say they are. Never for a real federation."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._nodes: dict[int, str] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    def client_of(self, node: Node) -> str | None:
        return self._nodes.get(node.node_id)

    def check(self, client: str, signature: bytes, message: bytes) -> None:
        """Nothing is signed."""

    def met(self, node_id: int, said: str) -> None:
        if said in self._names:
            self._nodes[node_id] = said

    def awaited(self, least: int) -> int:
        return len(self._names)

    def addressed(self, nodes: Iterable[Node]) -> list[int]:
        return [node.node_id for node in nodes]


def node_key(text: bytes) -> bytes:
    """A public key in OpenSSH's or PEM form, as DER: the same key gives the same bytes."""
    try:
        load = load_ssh_public_key if text.startswith(b"ecdsa-") else load_pem_public_key
        return load(text).public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    except (ValueError, TypeError) as error:
        raise InvalidArgument("node_key", "must be a public key", text[:60]) from error


def _member(table: Any) -> Member:
    right = isinstance(table, dict) and set(table) == FIELDS
    fields = ", ".join(sorted(FIELDS))
    require(right, "member", f"must hold {fields}", sorted(table) if right else table)
    for name in FIELDS:
        require(isinstance(table[name], str), name, "must be text", table[name])
    key = signing.public_key(table["upload_key"])
    return Member(table["name"], node_key(table["node_key"].encode()), key)
