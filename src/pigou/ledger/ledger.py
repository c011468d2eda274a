"""The book of a consortium: what is posted stays, and everybody can check it."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from sqlalchemy import Connection, select

from pigou.ledger import accounting, journal, keys, schema, states, verification
from pigou.ledger.accounting import Balance, Known
from pigou.ledger.booking import of_round, reversal, to_round
from pigou.ledger.entry import Entry, Sealed, prove
from pigou.ledger.errors import (
    LedgerRefused,
    LedgerUnavailable,
    RoundAlreadySettled,
    UnknownClient,
    UnknownRun,
)
from pigou.ledger.journal import Filter
from pigou.ledger.opening import key_file, open_to_read, open_to_write
from pigou.ledger.states import RunState
from pigou.ledger.store import Store
from pigou.ledger.verification import Verification
from pigou.ledger.writing import append
from pigou.terms import Posted, Round, SignedHead, SignedStatement

EVERYTHING = Filter()


@dataclass(frozen=True)
class Line:
    """One entry in which a client has a part."""

    sealed: Sealed
    amount: int  # micro-units; positive: owed by the client
    signed: SignedStatement | None  # a reversal has none


class Ledger:
    """A double-entry book in SQLite or PostgreSQL, signed with one key.

    Opened to write, the ledger and its key are made where there are none. With ``write=False``
    nothing is made and no key is needed.
    """

    def __init__(self, url: str, key: str | Path | None = None, *, write: bool = True) -> None:
        self._store = Store(url)
        self._key: Ed25519PrivateKey | None = None
        self._known = Known()
        try:
            if write:
                file = key_file(self._store, key)
                self._identity, self._key = open_to_write(self._store, file)
            else:
                self._identity = open_to_read(self._store)
        except BaseException:
            self.close()
            raise

    @property
    def id(self) -> str:
        """The ledger's identity, which all its heads carry."""
        return self._identity.ledger

    @property
    def public_key(self) -> Ed25519PublicKey:
        """The key that signatures are checked with, as the ledger itself records it."""
        return keys.from_hex(self._identity.key)

    def post(
        self, settled: Round, state: bytes | None = None, history: bytes | None = None
    ) -> Posted:
        """Book a round, and what to go on from, in one transaction.

        The state replaces the one before, the history is added to what came with earlier rounds.
        The same round again is a no-op, also after a reversal; with other content it is refused.
        """
        entry = of_round(settled)
        with self._store.writing() as connection:
            there = journal.settled(connection, entry.run, entry.round)
            if there is not None:
                return self._again(there, entry, settled)
            sealed, known = self._append(connection, entry)
            if state is not None:
                states.keep(connection, self._identity, self._writer(), sealed, state)
            if history is not None:
                states.add(connection, self._identity, self._writer(), sealed, history)
        self._known = known
        return self._posted(sealed, new=True)

    def reverse(self, run: str, round_: int, reason: str) -> Posted:
        """Take a settled round back with an entry of its own; once reversed is reversed."""
        with self._store.writing() as connection:
            settled = journal.settled(connection, run, round_)
            if settled is None:
                raise UnknownRun(f"the ledger holds no round {round_} of run {run!r}")
            entry = reversal(settled, reason)
            there = journal.reversal_of(connection, settled.number)
            if there is not None:
                return self._posted(there, new=False)
            sealed, known = self._append(connection, entry)
        self._known = known
        return self._posted(sealed, new=True)

    def posted(self, run: str, round_: int) -> Posted | None:
        """What ``post`` answered for this round, if it is in the book."""
        with self._store.reading() as connection:
            there = journal.settled(connection, run, round_)
        return None if there is None else self._posted(there, new=False)

    def state(self, run: str) -> RunState | None:
        """What the run goes on from: the state that came with its last round, and its history."""
        with self._store.reading() as connection:
            with closing(states.read(connection, run)) as found:
                row = next(found, None)
            if row is None:
                return None
            if not states.is_whole(row, self._identity):
                raise LedgerUnavailable(f"the stored state of run {run!r} is damaged")
            with closing(states.read_history(connection, run, row.entry)) as found:
                parts = list(found)
        if not all(states.is_whole(part, self._identity, "history") for part in parts):
            raise LedgerUnavailable(f"the stored history of run {run!r} is damaged")
        return RunState(run, row.round, row.content, tuple(part.content for part in parts))

    def head(self) -> SignedHead | None:
        """Where the book stands now; None while it is empty."""
        last = schema.entries.c.number.desc()
        with self._store.reading() as connection:
            row = connection.execute(select(schema.entries).order_by(last).limit(1)).one_or_none()
        if row is None:
            return None
        return SignedHead(self.id, row.number, row.hash, row.root, row.signature)

    def balance(
        self, client: str, *, consortium: str | None = None, currency: str | None = None
    ) -> int:
        """What the client owes, in micro-units; negative: what it is owed."""
        with self._store.reading() as connection:
            found = accounting.balances_of(connection, client, consortium, currency)
        if len(found) != 1:
            where = ", ".join(f"{each.consortium} in {each.currency}" for each in found)
            many = f"client {client!r} has {len(found)} accounts ({where}): say which one"
            raise UnknownClient(many if found else f"the ledger has no client {client!r}")
        return found[0].amount

    def balances(self, which: Filter = EVERYTHING) -> list[Balance]:
        """All accounts, the reserves too; their sum is 0 in each currency."""
        with self._store.reading() as connection:
            _require_known(connection, which)
            return accounting.all_balances(connection, which)

    def statement(
        self, client: str, run: str | None = None, which: Filter = EVERYTHING
    ) -> list[Line]:
        """The client's bills with their signed heads, of one run or of all, by entry."""
        found = []
        chosen = which if run is None else Filter(run, which.since, which.until)
        for sealed in self.entries(chosen):
            proofs = {each.client: k for k, each in enumerate(sealed.entry.statements)}
            for line in sealed.entry.postings:
                if line.kind == "client" and line.owner == client:
                    signed = None
                    if client in proofs:
                        head = sealed.head(self.id)
                        signed = prove(sealed.entry, head)[proofs[client]]
                    found.append(Line(sealed, line.amount, signed))
        if not found:
            where = "" if run is None else f" in run {run!r}"
            raise UnknownClient(f"the ledger has nothing of a client {client!r}{where}")
        return found

    def entries(self, which: Filter = EVERYTHING) -> Iterator[Sealed]:
        """The journal, in its order; an unknown run is refused at once."""
        with self._store.reading() as connection:
            _require_known(connection, which)
        return self._read(which)

    def verify(
        self, head: SignedHead | None = None, key: Ed25519PublicKey | None = None
    ) -> Verification:
        """Check every entry, sum, balance and signature; the first that fails is named.

        ``head`` is one kept from before, which the book must still contain; ``key`` the public
        key as known from elsewhere, since a forger could replace the one in the ledger.
        """
        trusted = key or (self._key.public_key() if self._key else self.public_key)
        with self._store.reading() as connection:
            return verification.verify(connection, self._identity, trusted, head)

    def close(self) -> None:
        """Give the database's connections back."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _read(self, which: Filter) -> Iterator[Sealed]:
        with self._store.reading() as connection:
            yield from journal.read(connection, *which.clauses())

    def _append(self, connection: Connection, entry: Entry) -> tuple[Sealed, Known]:
        return append(connection, self._identity, self._writer(), entry, self._known)

    def _writer(self) -> Ed25519PrivateKey:
        if self._key is None:
            raise LedgerRefused(f"the ledger at {self._store.shown} is open for reading only")
        return self._key

    def _again(self, there: Sealed, entry: Entry, offered: Round) -> Posted:
        """The round is settled: with the same content nothing happens."""
        if there.content != entry.content:
            raise RoundAlreadySettled(to_round(there.entry), offered)
        return self._posted(there, new=False)

    def _posted(self, sealed: Sealed, *, new: bool) -> Posted:
        head = sealed.head(self.id)
        return Posted(head, prove(sealed.entry, head), new)


def _require_known(connection: Connection, which: Filter) -> None:
    if which.run is not None:
        query = select(schema.entries.c.number).where(schema.entries.c.run == which.run).limit(1)
        if connection.execute(query).one_or_none() is None:
            raise UnknownRun(f"the ledger holds no run {which.run!r}")
