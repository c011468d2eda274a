"""The audit of a whole book: chain, sums, balances, signatures, and heads kept from before."""

import struct
from contextlib import closing
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from sqlalchemy import Connection, func, select
from sqlalchemy.exc import DatabaseError

from pigou.ledger import keys, states, triggers
from pigou.ledger.entry import Sealed, chain_hash, head_message, lines_of
from pigou.ledger.journal import Raw, read_raw, sealed
from pigou.ledger.opening import Identity
from pigou.ledger.schema import accounts, balances, postings, statements
from pigou.terms import SignedHead

DAMAGED = ("malformed", "not a database", "corrupt", "invalid page")  # as the databases say it
UNREADABLE = (TypeError, ValueError, AttributeError, LookupError, struct.error)  # values of no type


@dataclass(frozen=True)
class Verification:
    """What an audit found: nothing wrong, or the first thing that is."""

    entries: int  # how many entries hold
    postings: int
    head: SignedHead | None  # where they end
    entry: int | None = None  # the first entry that fails
    fault: str = ""

    @property
    def ok(self) -> bool:
        """Is everything as it was written?"""
        return not self.fault


class _Fault(Exception):  # noqa: N818
    """The first thing that is wrong, and with which entry."""

    def __init__(self, fault: str, entry: int | None = None) -> None:
        self.fault, self.entry = fault, entry
        super().__init__(fault)


class _Audit:
    """One pass over the book; what held so far is kept for the report."""

    def __init__(self, connection: Connection, identity: Identity, key: Ed25519PublicKey) -> None:
        self.connection, self.identity, self.key = connection, identity, key
        self.hash = identity.genesis
        self.head: SignedHead | None = None
        self.entries = self.postings = self.statements = 0

    def run(self, kept: SignedHead | None) -> None:
        """Every check, in the order in which a book is read."""
        if keys.to_hex(self.key) != self.identity.key:
            raise _Fault("the ledger records another public key than the one to check it with")
        if kept is not None:
            self._kept_is_ours(kept)
        with closing(read_raw(self.connection)) as book:
            for raw in book:
                self._entry(raw)
                if kept is not None and kept.entry == self.entries and kept.hash != self.hash:
                    raise _Fault("is not the one of the signed head kept from before", kept.entry)
        if kept is not None and kept.entry > self.entries:
            missing = f"is missing: the ledger ends before it, but a head after entry {kept.entry}"
            raise _Fault(f"{missing} was signed", self.entries + 1)
        self._nothing_besides()
        self._balances()
        self._states()
        self._database()

    def _kept_is_ours(self, kept: SignedHead) -> None:
        if not keys.verified(self.key, kept.signature, head_message(kept)):
            raise _Fault("the head kept from before is not signed with the ledger's key")
        if kept.ledger != self.identity.ledger:
            raise _Fault("the head kept from before is of another ledger")

    def _entry(self, raw: Raw) -> None:
        number = self.entries + 1
        if raw.row.number != number:
            raise _Fault("is missing", number)
        try:
            here = sealed(raw)
            wrong = self._wrong(here, raw)
        except UNREADABLE:
            wrong = "cannot be read: it was changed"
        if wrong:
            raise _Fault(f"({raw.row.kind} {raw.row.round} of run {raw.row.run!r}) {wrong}", number)
        self.head, self.hash = here.head(self.identity.ledger), here.hash
        self.entries = number
        self.postings += len(raw.lines)
        self.statements += len(raw.bills)

    def _wrong(self, here: Sealed, raw: Raw) -> str:
        """What is wrong with an entry; nothing, if nothing is."""
        entry = here.entry
        if here.previous != self.hash:
            return "does not follow the entry before it"
        if (here.content, here.root) != (entry.content, entry.root):
            return "does not have the content that its digest says: it was changed"
        ledger = self.identity.ledger
        place = chain_hash(ledger, here.number, here.posted, here.content, here.previous)
        if here.hash != place:
            return "does not have the hash of its content and place: it was changed"
        if not keys.verified(self.key, here.signature, head_message(here.head(ledger))):
            return "is not signed with the ledger's key"
        if raw.row.lines != len(raw.lines):
            return "does not have as many postings as it says"
        books = {(line.consortium, line.currency) for line in raw.lines}
        if not books <= {(entry.consortium, entry.currency)}:
            return "has postings on accounts of another consortium or currency"
        if entry.statements and entry.postings != lines_of(entry.consortium, entry.statements):
            return "does not have the postings that its statements come to"
        total = sum(line.amount for line in entry.postings)
        return f"does not sum to zero but to {total}" if total else ""

    def _nothing_besides(self) -> None:
        """No posting or statement that belongs to no entry."""
        for table, counted in ((postings, self.postings), (statements, self.statements)):
            query = select(func.count(), func.max(table.c.entry)).select_from(table)
            there, last = self.connection.execute(query).one()
            if there != counted:
                where = self.entries + 1 if last > self.entries else None
                raise _Fault(f"is missing, though it has {table.name}", where)

    def _balances(self) -> None:
        """Each balance is the sum of its account's postings."""
        total = select(postings.c.account, func.sum(postings.c.amount)).group_by(postings.c.account)
        sums = {account: int(amount) for account, amount in self.connection.execute(total)}
        rows = self.connection.execute(select(balances)).all()
        kept = {row.account: row.amount for row in rows}
        if len(kept) < len(rows):
            raise _Fault("there are two balances of one account")
        names = set()
        for row in self.connection.execute(select(accounts).order_by(accounts.c.id)):
            said, true = kept.pop(row.id, None), sums.get(row.id)
            who = f"{row.kind} {row.owner!r} of {row.consortium!r}"
            if true is None:
                raise _Fault(f"there is an account without postings, of {who}")
            if row[1:] in names:
                raise _Fault(f"there are two accounts of {who} in {row.currency}")
            if said != true:
                raise _Fault(f"the balance of {who} is {said}, its postings come to {true}")
            names.add(row[1:])
        if kept:
            raise _Fault(f"there are balances of no account: {sorted(kept)[:3]}")

    def _states(self) -> None:
        """Each run's state, and each part of its history, was signed with an entry of that run."""
        runs = set()
        with closing(states.read(self.connection)) as found:
            for row in found:
                if row.run in runs or not states.is_whole(row, self.identity):
                    raise _Fault(f"the stored state of run {row.run!r} is damaged")
                runs.add(row.run)
        with closing(states.read_history(self.connection)) as found:
            for row in found:
                if not states.is_whole(row, self.identity, "history"):
                    raise _Fault(f"the stored history of run {row.run!r} is damaged")

    def _database(self) -> None:
        """Its guards are there; in SQLite also: no page is damaged, and indexes fit tables."""
        if changed := triggers.altered(self.connection):
            raise _Fault(f"the database's guards of the journal were changed: {', '.join(changed)}")
        if self.connection.dialect.name == "sqlite":
            found = self.connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar_one()
            if found != "ok":
                raise _Fault(f"the database file is damaged: {found}")


def verify(
    connection: Connection, identity: Identity, key: Ed25519PublicKey, kept: SignedHead | None
) -> Verification:
    """Check all there is; the report names the first fault."""
    audit = _Audit(connection, identity, key)
    fault, entry = "", None
    try:
        audit.run(kept)
    except _Fault as found:
        entry = found.entry
        fault = found.fault if entry is None else f"entry {entry} {found.fault}"
    except DatabaseError as error:
        said = str(error.orig)
        if not any(word in said for word in DAMAGED):
            raise
        fault = f"the database is damaged after entry {audit.entries}: {said}"
    except UNREADABLE as error:
        fault = f"the database is damaged after entry {audit.entries}: {error}"
    return Verification(audit.entries, audit.postings, audit.head, entry, fault)
