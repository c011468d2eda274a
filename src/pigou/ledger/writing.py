"""Adding to the book, inside of a transaction that holds the ledger's lock."""

from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import Connection, Table, select

from pigou.errors import InvalidArgument
from pigou.ledger.accounting import Known, moved, read_known
from pigou.ledger.entry import Entry, Sealed, chain_hash, head_message
from pigou.ledger.journal import stamp
from pigou.ledger.opening import Identity
from pigou.ledger.schema import entries, postings, statements
from pigou.terms import SignedHead


def append(
    connection: Connection, identity: Identity, key: Ed25519PrivateKey, entry: Entry, known: Known
) -> tuple[Sealed, Known]:
    """Put an entry behind the last one: its parts first, then the row that seals them."""
    last = connection.exec_driver_sql(LAST).one_or_none()
    number, previous = (1, identity.genesis) if last is None else (last.number + 1, last.hash)
    if not known.of(previous, entry):
        _require_same_book(connection, entry)
        known = read_known(connection, entry, previous)
    posted = stamp(datetime.now(UTC))
    sha = chain_hash(identity.ledger, number, posted, entry.content, previous)
    unsigned = SignedHead(identity.ledger, number, sha, entry.root, "")
    sealed = Sealed(
        entry=entry,
        number=number,
        posted=posted,
        content=entry.content,
        root=entry.root,
        previous=previous,
        hash=sha,
        signature=key.sign(head_message(unsigned)).hex(),
    )
    after = moved(known, entry, sha)
    _insert_parts(connection, sealed, known)
    _insert_all(connection, entries, [_row(sealed)])
    return sealed, after


def _require_same_book(connection: Connection, entry: Entry) -> None:
    """A run belongs to one consortium and is kept in one currency."""
    query = select(entries.c.consortium, entries.c.currency).where(entries.c.run == entry.run)
    first = connection.execute(query.limit(1)).one_or_none()
    if first is not None and tuple(first) != (entry.consortium, entry.currency):
        constraint = f"must not be taken: {entry.run!r} is a run of {first[0]} in {first[1]}"
        raise InvalidArgument("run", constraint, (entry.consortium, entry.currency))


def _insert_parts(connection: Connection, sealed: Sealed, known: Known) -> None:
    entry, number = sealed.entry, sealed.number
    numbers = [known.accounts[line[:2]][0] for line in entry.postings]
    pairs = zip(numbers, entry.postings, strict=True)
    _insert_all(connection, postings, [(number, account, line.amount) for account, line in pairs])
    bills = [
        (number, account, *bill_of(each), int(each.refundable))
        for account, each in zip(numbers, entry.statements, strict=False)  # clients come first
    ]
    _insert_all(connection, statements, bills)


def _insert_all(connection: Connection, table: Table, rows: list[tuple[Any, ...]]) -> None:
    """Straight to the driver: SQLAlchemy's own way takes longer than the database does."""
    if rows:
        sign = "?" if connection.dialect.name == "sqlite" else "%s"
        signs = ", ".join(sign for _ in table.c)
        connection.exec_driver_sql(f"INSERT INTO {table.name} VALUES ({signs})", rows)


def _row(sealed: Sealed) -> tuple[Any, ...]:
    said = {**vars(sealed.entry), **vars(sealed), "lines": len(sealed.entry.postings)}
    return tuple(said[column.name] for column in entries.c)


bill_of = attrgetter(*statements.c.keys()[2:-1])
LAST = "SELECT number, hash FROM entries ORDER BY number DESC LIMIT 1"
