"""The ledger on SQLite: against bare inserts of the same rows, and as the book grows."""

import itertools
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.table import Ratio, medians
from sqlalchemy.dialects.sqlite import dialect
from sqlalchemy.schema import CreateTable
from tests.ledger.rounds import random_round

from pigou.ledger import Ledger
from pigou.ledger.schema import metadata

CLIENTS = 100
SMALL, LARGE = 10**4, 10**6  # postings
TABLES = ("entries", "postings", "statements")
TURNS = 200


def ratios() -> Iterator[Ratio]:
    """What a round costs over its rows alone, and what a million postings change."""
    with tempfile.TemporaryDirectory() as folder:
        yield from growth(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        yield over_bare_inserts(Path(folder))


def over_bare_inserts(folder: Path) -> Ratio:
    """One transaction each, write-ahead log and synchronous FULL; the rows are made beforehand."""
    rounds = [random_round("run", k, CLIENTS) for k in range(1, TURNS + 3)]
    with opened(folder, "source") as source:
        for each in rounds:
            source.post(each)
    rows = iter(list(rows_of(folder / "source.db", len(rounds))))
    plain = bare(folder / "bare.db")
    posted = iter(rounds)
    with opened(folder, "book") as ledger:
        alone, whole = medians(
            lambda: insert(plain, next(rows)), lambda: ledger.post(next(posted)), repeats=TURNS
        )
    plain.close()
    note = f"{1e3 * whole:.3g} ms over {1e3 * alone:.3g} ms; {CLIENTS} clients, SQLite"
    return Ratio("posting a round over bare inserts of its rows", whole / alone, 3.0, note=note)


def growth(folder: Path) -> Iterator[Ratio]:
    """Balances and appends of a large book over those of a small one, in turns."""
    with opened(folder, "small") as small, opened(folder, "large") as large:
        for ledger, postings in ((small, SMALL), (large, LARGE)):
            for k in range(1, postings // CLIENTS + 1):
                ledger.post(random_round("run", k, CLIENTS))
        few, many = medians(
            lambda: small.balance("client-7"), lambda: large.balance("client-7"), repeats=TURNS
        )
        sizes = f"{LARGE:,} over {SMALL:,} postings, SQLite"
        note = f"{1e6 * many:.3g} us over {1e6 * few:.3g} us"
        yield Ratio(f"balance: {sizes}", many / few, 5.0, note=note)
        rounds = [
            [random_round("run", postings // CLIENTS + k, CLIENTS) for k in range(1, TURNS + 1)]
            for postings in (SMALL, LARGE)
        ]
        early, late = map(iter, rounds)
        few, many = medians(
            lambda: small.post(next(early)), lambda: large.post(next(late)), repeats=TURNS
        )
        note = f"{1e3 * many:.3g} ms over {1e3 * few:.3g} ms; {CLIENTS} clients"
        yield Ratio(f"posting a round: {sizes}", many / few, 1.3, note=note)


def opened(folder: Path, name: str) -> Ledger:
    """A new ledger."""
    return Ledger(f"sqlite:///{folder}/{name}.db")


def bare(file: Path) -> sqlite3.Connection:
    """The same three tables, without triggers and without looking up foreign keys."""
    plain = sqlite3.connect(file, isolation_level=None)
    plain.execute("PRAGMA journal_mode = WAL")
    plain.execute("PRAGMA synchronous = FULL")
    for name in TABLES:
        plain.execute(str(CreateTable(metadata.tables[name]).compile(dialect=dialect())))
    return plain


def rows_of(file: Path, rounds: int) -> Iterator[list[list[tuple[Any, ...]]]]:
    """The rows of each round, table by table."""
    plain = sqlite3.connect(file)
    keys = ("number", "entry", "entry")
    for number in range(1, rounds + 1):
        pairs = zip(TABLES, keys, strict=True)
        asked = [f"SELECT * FROM {table} WHERE {key} = {number}" for table, key in pairs]
        yield [plain.execute(text).fetchall() for text in asked]
    plain.close()


def insert(plain: sqlite3.Connection, rows: list[list[tuple[Any, ...]]]) -> None:
    """One round, in one transaction."""
    plain.execute("BEGIN IMMEDIATE")
    for table, lines in zip(TABLES, rows, strict=True):
        signs = ", ".join(itertools.repeat("?", len(lines[0])))
        plain.executemany(f"INSERT INTO {table} VALUES ({signs})", lines)
    plain.execute("COMMIT")
