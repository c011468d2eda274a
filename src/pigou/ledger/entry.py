"""What one entry of the book holds, and the digests that fix it. Pure functions, no database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import repeat
from operator import attrgetter
from struct import Struct
from typing import Literal, NamedTuple

from pigou.canonical import canonical_bytes, digest
from pigou.ledger import tree
from pigou.terms import SignedHead, SignedStatement, Statement

Kind = Literal["round", "transfers", "reversal"]
UNIT = "micro"  # what amounts are counted in: millionths of the currency
LARGEST = 2**63 - 1

OWN = ("client", "upload", "deviation", "coefficient", "charge", "refund", "refundable")
SHARED = (
    "consortium",
    "run",
    "round",
    "billed",
    "total_charge",
    "barred",
    "barred_charge",
    "terms",
    "mean",
    "currency",
    "constant_refund",
)
own_of, shared_of = attrgetter(*OWN), attrgetter(*SHARED)
_pack_own = Struct(">Iddqqb").pack


class Posting(NamedTuple):
    """One line of an entry: positive where the owner owes."""

    kind: Literal["client", "reserve"]
    owner: str  # the client; the consortium, for its reserve
    amount: int  # micro-units


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One event in the book: postings that sum to zero, and the statements they come from."""

    consortium: str
    run: str
    round: int
    kind: Kind
    currency: str
    terms: str
    mean: str = ""
    constant_refund: int | None = None
    unit: str = UNIT
    reverses: int | None = None  # the number of the entry that this one takes back
    reason: str = ""
    postings: tuple[Posting, ...]  # in the order of kind and owner
    statements: tuple[Statement, ...]  # in the order of clients

    @cached_property
    def tree(self) -> list[list[bytes]]:
        """The hash tree over the statements."""
        return tree.levels(leaves(self.statements))

    @cached_property
    def root(self) -> str:
        """What stands for all statements."""
        return tree.root(self.tree)

    @cached_property
    def content(self) -> str:
        """sha256 of all that the entry says, wherever in the book it stands.

        The postings of a round are not digested beside the statements that they follow from.
        """
        said = {name: getattr(self, name) for name in SAID}
        lines = [] if self.statements else [list(line) for line in self.postings]
        return digest({"said": said, "postings": lines, "statements": self.root})

    @property
    def title(self) -> str:
        """The entry as people call it."""
        return f"{self.kind} {self.round} of run {self.run!r}"


SAID = tuple(name for name in Entry.__annotations__ if name not in ("postings", "statements"))


@dataclass(frozen=True, kw_only=True)
class Sealed:
    """An entry at its place in the chain, as the book holds it."""

    entry: Entry
    number: int
    posted: str  # UTC
    content: str
    root: str
    previous: str  # the hash of the entry before
    hash: str
    signature: str

    def head(self, ledger: str) -> SignedHead:
        """Where the book stood after this entry."""
        return SignedHead(ledger, self.number, self.hash, self.root, self.signature)


def lines_of(consortium: str, statements: Sequence[Statement]) -> tuple[Posting, ...]:
    """The postings that statements come to; what the clients owe together, the reserve is owed."""
    lines = [Posting("client", each.client, each.charge - each.refund) for each in statements]
    reserve = -sum(line.amount for line in lines)
    return tuple(lines + [Posting("reserve", consortium, reserve)] * bool(reserve))


def totals(kind: Kind, charges: Sequence[tuple[int, bool]]) -> dict[str, int]:
    """What all statements of an entry say of all: from each client's charge and entitlement."""
    barred = [charge for charge, refundable in charges if not refundable]
    counted = kind == "round"  # transfers compare nobody, and refund nobody
    return {
        "billed": len(charges) if counted else 0,
        "total_charge": sum(charge for charge, _ in charges),
        "barred": len(barred) if counted else 0,
        "barred_charge": sum(barred) if counted else 0,
    }


def leaves(statements: Sequence[Statement]) -> list[bytes]:
    """One leaf per statement: the digest of what they share, then what is the client's own.

    Of that: the length of the name, deviation, coefficient, charge, refund and refundable as
    big-endian numbers of 4, 8, 8, 8, 8 and 1 bytes, the name, and the upload's digest as text.
    """
    if not statements:
        return []
    shared = bytes.fromhex(digest(dict(zip(SHARED, shared_of(statements[0]), strict=True))))
    return [tree.leaf(shared + _own_bytes(*own_of(each))) for each in statements]


def _own_bytes(
    client: str,
    upload: str,
    deviation: float,
    coefficient: float,
    charge: int,
    refund: int,
    refundable: int,
) -> bytes:
    name = client.encode()
    numbers = _pack_own(
        len(name), deviation + 0.0, coefficient + 0.0, charge, refund, refundable
    )  # + 0.0: minus zero counts as zero
    return numbers + name + upload.encode()


def prove(entry: Entry, head: SignedHead) -> tuple[SignedStatement, ...]:
    """Each statement with its way to the signed head."""
    paths = tree.paths(entry.tree)
    return tuple(map(SignedStatement, entry.statements, paths, repeat(head)))


def chain_hash(ledger: str, number: int, posted: str, content: str, previous: str) -> str:
    """The hash of an entry at its place: changes with the entry and with every one before it."""
    place = {"ledger": ledger, "entry": number, "posted": posted}
    return digest({**place, "content": content, "previous": previous})


def genesis(ledger: str, version: str, key: str) -> str:
    """What the first entry follows: the ledger's own identity."""
    return digest({"ledger": ledger, "version": version, "key": key})


def head_message(head: SignedHead) -> bytes:
    """What a head's signature is over."""
    said: Mapping[str, object] = {k: v for k, v in vars(head).items() if k != "signature"}
    return canonical_bytes({"signed": "pigou ledger head", **said})


def state_message(
    ledger: str, run: str, hash_: str, content: bytes, what: Literal["state", "history"] = "state"
) -> bytes:
    """What the signature of a run's state is over, or of a part of its history: it goes with one
    entry of one chain."""
    place = {"ledger": ledger, "run": run, "hash": hash_}
    return canonical_bytes(
        {"signed": f"pigou ledger {what}", **place, what: sha256(content).hexdigest()}
    )
