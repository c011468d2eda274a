"""Accounts and what is in them: a row per account, moved by every posting, read by its key."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection, func, insert, select

from pigou.errors import InvalidArgument
from pigou.ledger.entry import LARGEST, Entry, Posting
from pigou.ledger.journal import Filter
from pigou.ledger.schema import accounts, balances, entries, postings

AT_ONCE = 5000  # names in one query


@dataclass(frozen=True)
class Balance:
    """What one account comes to: positive where its owner owes, negative where it is owed."""

    consortium: str
    kind: str  # "client" or "reserve"
    owner: str
    currency: str
    amount: int  # micro-units


@dataclass(frozen=True)
class Known:
    """What a writer knows of one run's accounts while the chain ends where it left it."""

    end: str = ""  # the hash of the last entry when this was true
    run: tuple[str, ...] = ()  # with its consortium and its currency
    accounts: Mapping[tuple[str, str], tuple[int, int]] = field(default_factory=dict)

    def of(self, end: str, entry: Entry) -> bool:
        """Is it still true, and of this entry's run and of all its accounts?"""
        same = (self.end, self.run) == (end, _book(entry))
        return same and all(line[:2] in self.accounts for line in entry.postings)


def read_known(connection: Connection, entry: Entry, end: str) -> Known:
    """Number and balance of each posting's account; new accounts are opened."""
    found = _read(connection, entry)
    new = [line for line in entry.postings if line[:2] not in found]
    if new:
        _open(connection, entry, new)
        found = _read(connection, entry)
    return Known(end, _book(entry), found)


def moved(known: Known, entry: Entry, end: str) -> Known:
    """The same after the entry's postings; no balance may leave 64 bits."""
    after = dict(known.accounts)
    for line in entry.postings:
        number, balance = after[line[:2]]
        if abs(balance + line.amount) > LARGEST:
            constraint = "must keep its account's balance within 64 bits"
            raise InvalidArgument(f"amount of {line.owner!r}", constraint, line.amount)
        after[line[:2]] = number, balance + line.amount
    return replace(known, end=end, accounts=after)


def balances_of(
    connection: Connection, client: str, consortium: str | None, currency: str | None
) -> list[Balance]:
    """The client's accounts; the journal is not read."""
    query = _BALANCES.where(accounts.c.owner == client, accounts.c.kind == "client")
    if consortium is not None:
        query = query.where(accounts.c.consortium == consortium)
    if currency is not None:
        query = query.where(accounts.c.currency == currency)
    return [Balance(*row) for row in connection.execute(query)]


def all_balances(connection: Connection, entries_of: Filter) -> list[Balance]:
    """Every account: as it stands, or the sum of the postings that the filter lets through."""
    clauses = entries_of.clauses()
    if not clauses:
        return sorted((Balance(*row) for row in connection.execute(_BALANCES)), key=_place)
    query = (
        select(*_ACCOUNT, func.sum(postings.c.amount))
        .join(accounts, accounts.c.id == postings.c.account)
        .join(entries, entries.c.number == postings.c.entry)
        .where(*clauses)
        .group_by(*_ACCOUNT)
    )
    found = [Balance(*row[:-1], int(row[-1])) for row in connection.execute(query)]
    return sorted(found, key=_place)


def _book(entry: Entry) -> tuple[str, ...]:
    return entry.consortium, entry.run, entry.currency


def _place(balance: Balance) -> tuple[str, ...]:
    return balance.consortium, balance.kind, balance.owner, balance.currency


def _read(connection: Connection, entry: Entry) -> dict[tuple[str, str], tuple[int, int]]:
    """Number and balance of the accounts that there are already."""
    owners = [line.owner for line in entry.postings]
    known = {}
    for start in range(0, len(owners), AT_ONCE):
        query = _NUMBERS.where(
            accounts.c.owner.in_(owners[start : start + AT_ONCE]),
            accounts.c.consortium == entry.consortium,
            accounts.c.currency == entry.currency,
        )
        for number, kind, owner, amount in connection.execute(query):
            known[kind, owner] = number, amount
    return known


def _open(connection: Connection, entry: Entry, new: list[Posting]) -> None:
    last = connection.execute(select(func.coalesce(func.max(accounts.c.id), 0))).scalar_one()
    rows = [
        {
            "id": last + place,
            "consortium": entry.consortium,
            "kind": line.kind,
            "owner": line.owner,
            "currency": entry.currency,
        }
        for place, line in enumerate(new, start=1)
    ]
    connection.execute(insert(accounts), rows)


_ACCOUNT = (accounts.c.consortium, accounts.c.kind, accounts.c.owner, accounts.c.currency)
_BALANCES = select(*_ACCOUNT, balances.c.amount).join(balances, balances.c.account == accounts.c.id)
_NUMBERS = select(accounts.c.id, accounts.c.kind, accounts.c.owner, balances.c.amount).join(
    balances, balances.c.account == accounts.c.id
)
