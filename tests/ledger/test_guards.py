"""What the database refuses by itself, whoever writes to it and with whatever program."""

import sqlite3

import psycopg
import pytest
from tests.ledger.databases import Past, Place
from tests.ledger.rounds import random_round

from pigou.ledger import Ledger

Refusal = (sqlite3.Error, psycopg.Error)
JOURNAL = ("meta", "accounts", "entries", "postings", "statements")
FIRST = {"meta": "name", "accounts": "consortium", "entries": "run"}  # a column of each


@pytest.fixture
def filled(ledger: Ledger) -> Ledger:
    for k in (1, 2):
        ledger.post(random_round("run", k))
    return ledger


def rows(past: Past, table: str) -> int:
    ((count,),) = past(f"SELECT COUNT(*) FROM {table}")
    assert isinstance(count, int)
    return count


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize("table", JOURNAL)
def test_the_journal_only_grows(place: Place, table: str) -> None:
    column = FIRST.get(table, "entry")
    with place.past_the_ledger() as past:
        before = rows(past, table)
        for change in (f"UPDATE {table} SET {column} = {column}", f"DELETE FROM {table}"):
            with pytest.raises(Refusal, match=f"pigou: {table} can only grow"):
                past(change)
        if place.kind == "postgresql":
            with pytest.raises(Refusal, match=f"pigou: {table} can only grow"):
                past(f"TRUNCATE {table} CASCADE")
        else:
            copy = f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}"
            with pytest.raises(Refusal, match="pigou: "):
                past(copy)
        assert rows(past, table) == before


ENTRY = (
    "INSERT INTO entries SELECT ?, consortium, run, ?, kind, currency, unit, terms, mean, "
    "constant_refund, reverses, reason, ?, posted, content, root, previous, hash, signature "
    "FROM entries WHERE number = 1"
)
POSTING = "INSERT INTO postings VALUES (?, ?, ?)"


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(
    ("amounts", "number", "lines", "why"),
    [
        ((5, -4), 3, 2, "pigou: an entry must sum to zero"),
        ((5,), 3, 1, "pigou: an entry must sum to zero"),
        ((5, -5), 3, 3, "pigou: an entry must count its postings"),
        ((5, -5), 4, 2, "pigou: entries are numbered without gaps"),
    ],
)
def test_an_entry_is_sealed_only_in_balance(
    place: Place, amounts: tuple[int, ...], number: int, lines: int, why: str
) -> None:
    with place.past_the_ledger() as past:
        past("BEGIN")
        for account, amount in enumerate(amounts, start=1):
            past(POSTING, number, account, amount)
        with pytest.raises(Refusal, match=why):
            past(ENTRY, number, 3, lines)
        past("ROLLBACK")
        assert rows(past, "entries") == 2


@pytest.mark.usefixtures("filled")
def test_a_balanced_entry_would_be_taken(place: Place) -> None:
    """So the refusals above are for what they say, and not for something else."""
    with place.past_the_ledger() as past:
        past("BEGIN")
        past(POSTING, 3, 1, 5)
        past(POSTING, 3, 2, -5)
        past(ENTRY, 3, 3, 2)
        past("COMMIT")
        assert rows(past, "entries") == 3


@pytest.mark.usefixtures("filled")
def test_nothing_joins_a_sealed_entry(place: Place) -> None:
    with place.past_the_ledger() as past:
        for account, amount in ((1, 0), (99, 0)):
            with pytest.raises(Refusal, match="sealed"):
                past(POSTING, 1, account, amount)
        with pytest.raises(Refusal, match="sealed"):
            past("INSERT INTO statements VALUES (1, 1, 0.0, 0.0, 0, 0, '', 1)")


@pytest.mark.usefixtures("filled")
def test_no_posting_stays_without_its_entry(place: Place) -> None:
    """The foreign key is checked at the end: this is what makes every entry pass its seal."""
    with place.past_the_ledger() as past:
        past("BEGIN")
        past(POSTING, 3, 1, 5)
        with pytest.raises(Refusal, match=r"(?i)foreign key"):
            past("COMMIT")
        past("ROLLBACK")
        assert rows(past, "postings") == 6


@pytest.mark.usefixtures("filled")
def test_a_round_is_there_once(place: Place) -> None:
    with place.past_the_ledger() as past, pytest.raises(Refusal, match=r"(?i)unique"):
        past(ENTRY, 3, 1, 0)


def test_a_sum_beyond_64_bits_is_refused(ledger: Ledger, place: Place) -> None:
    """SQLite would make it a float."""
    ledger.post(random_round("run", 1))
    largest = 2**63 - 1
    with place.past_the_ledger() as past:
        for number, refused in ((2, False), (3, True)):
            past("BEGIN")
            past(POSTING, number, 1, largest - 10**10)
            past(POSTING, number, 2, -(largest - 10**10))
            if refused:
                with pytest.raises(Refusal):
                    past(ENTRY, number, number, 2)
                past("ROLLBACK")
            else:
                past(ENTRY, number, number, 2)
                past("COMMIT")
        ((kind,),) = past(
            "SELECT typeof(amount) FROM balances WHERE account = 1"
            if place.kind == "sqlite"
            else "SELECT pg_typeof(amount)::text FROM balances WHERE account = 1"
        )
    assert kind in ("integer", "bigint")
