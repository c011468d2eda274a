"""Reading the book: entries with their postings and statements, in their order."""

from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Result, Row, Select, bindparam, select

from pigou.errors import InvalidArgument
from pigou.ledger.entry import Entry, Posting, Sealed, totals
from pigou.ledger.schema import accounts, entries, postings, statements
from pigou.terms import Statement

ROWS, LINES = 500, 20_000  # entries and postings held in memory, about
TRUTH = {0: False, 1: True}


@dataclass(frozen=True)
class Filter:
    """Which entries: of one run, posted from one moment on and before another."""

    run: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def clauses(self) -> list[ColumnElement[bool]]:
        """The filter, for the table of entries."""
        found = []
        if self.run is not None:
            found.append(entries.c.run == self.run)
        if self.since is not None:
            found.append(entries.c.posted >= stamp(self.since))
        if self.until is not None:
            found.append(entries.c.posted < stamp(self.until))
        return found


def moment(argument: str, given: str, *, after: bool = False) -> datetime:
    """A date or a time in ISO 8601, in UTC unless it says otherwise; after: the day's end."""
    try:
        if len(given) == len("2025-01-31"):
            day = date.fromisoformat(given) + timedelta(days=1 if after else 0)
            return datetime(day.year, day.month, day.day, tzinfo=UTC)
        at = datetime.fromisoformat(given)
    except (ValueError, OverflowError) as error:
        wanted = "must be a date or a time such as 2025-01-31 or 2025-01-31T12:00+01:00"
        raise InvalidArgument(argument, wanted, given) from error
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def stamp(at: datetime) -> str:
    """A moment as the book writes it: text that sorts by time."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Raw(NamedTuple):
    """An entry as its rows, of which any may be damaged."""

    row: Row[Any]
    lines: list[Row[Any]]
    bills: list[Row[Any]]


def settled(connection: Connection, run: str, round_: int) -> Sealed | None:
    """The entry of a round, reversed or not."""
    return _one(connection.execute(_SETTLED, {"of_run": run, "of_round": round_}), connection)


def reversal_of(connection: Connection, number: int) -> Sealed | None:
    """The entry that takes that one back."""
    query = select(entries).where(entries.c.reverses == number)
    return _one(connection.execute(query), connection)


def read(connection: Connection, *where: ColumnElement[bool]) -> Iterator[Sealed]:
    """The entries that fulfil all conditions, by number."""
    return map(sealed, read_raw(connection, *where))


def read_raw(connection: Connection, *where: ColumnElement[bool]) -> Generator[Raw, None, None]:
    """The same as rows; a page of entries is held in memory at a time."""
    page: list[Row[Any]] = []
    lines = 0
    query = select(entries).where(*where).order_by(entries.c.number)
    with connection.execute(query.execution_options(yield_per=ROWS)) as found:
        for row in found:
            page.append(row)
            lines += row.lines
            if lines >= LINES or len(page) >= ROWS:
                yield from _with_parts(connection, page)
                page, lines = [], 0
        yield from _with_parts(connection, page)


def sealed(raw: Raw) -> Sealed:
    """The entry that rows stand for."""
    row = raw.row
    lines = sorted(Posting(line.kind, line.owner, line.amount) for line in raw.lines)
    found = sorted(raw.bills, key=lambda bill: bill.owner)
    counts = totals(row.kind, [(bill.charge, bool(bill.refundable)) for bill in found])
    entry = Entry(
        consortium=row.consortium,
        run=row.run,
        round=row.round,
        kind=row.kind,
        currency=row.currency,
        terms=row.terms,
        mean=row.mean,
        constant_refund=row.constant_refund,
        unit=row.unit,
        reverses=row.reverses,
        reason=row.reason,
        postings=tuple(lines),
        statements=tuple(_statement(row, bill, counts) for bill in found),
    )
    return Sealed(
        entry=entry,
        number=row.number,
        posted=row.posted,
        content=row.content,
        root=row.root,
        previous=row.previous,
        hash=row.hash,
        signature=row.signature,
    )


def _statement(row: Row[Any], bill: Row[Any], counts: dict[str, int]) -> Statement:
    return Statement(
        consortium=row.consortium,
        run=row.run,
        round=row.round,
        client=bill.owner,
        deviation=bill.deviation,
        coefficient=bill.coefficient,
        charge=bill.charge,
        refund=bill.refund,
        refundable=TRUTH.get(bill.refundable, bill.refundable),
        terms=row.terms,
        upload=bill.upload,
        mean=row.mean,
        currency=row.currency,
        constant_refund=row.constant_refund,
        **counts,
    )


def _one(found: Result[Any], connection: Connection) -> Sealed | None:
    row = found.one_or_none()
    return None if row is None else next(map(sealed, _with_parts(connection, [row])))


def _with_parts(connection: Connection, page: Sequence[Row[Any]]) -> Iterator[Raw]:
    numbers = [row.number for row in page]
    lines = _by_entry(connection, _LINES.where(postings.c.entry.in_(numbers)))
    bills = _by_entry(connection, _BILLS.where(statements.c.entry.in_(numbers)))
    for row in page:
        yield Raw(row, lines[row.number], bills[row.number])


def _by_entry(
    connection: Connection, query: Select[tuple[Any, ...]]
) -> defaultdict[int, list[Row[Any]]]:
    found: defaultdict[int, list[Row[Any]]] = defaultdict(list)
    for row in connection.execute(query):
        found[row.entry].append(row)
    return found


_LINES: Select[tuple[Any, ...]] = select(
    postings.c.entry,
    postings.c.amount,
    accounts.c.kind,
    accounts.c.owner,
    accounts.c.consortium,
    accounts.c.currency,
).join(accounts, accounts.c.id == postings.c.account)
_BILLS: Select[tuple[Any, ...]] = select(statements, accounts.c.owner).join(
    accounts, accounts.c.id == statements.c.account
)
_SETTLED = select(entries).where(
    entries.c.run == bindparam("of_run"),
    entries.c.round == bindparam("of_round"),
    entries.c.kind != "reversal",
)  # made once: every round that is posted asks it
