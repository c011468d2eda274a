"""Random damage to an SQLite ledger, to its rows and to its bytes: found, or without effect."""

import sqlite3
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from tests.ledger.databases import Past, new_place
from tests.ledger.rounds import random_round

from pigou.errors import PigouError
from pigou.ledger import Ledger
from pigou.ledger.schema import metadata

TABLES = ("entries", "postings", "statements", "accounts", "balances", "states", "histories")
UNSEEN = ("DELETE FROM states", "DELETE FROM histories")


@pytest.mark.parametrize("changes", [40, pytest.param(1500, marks=pytest.mark.long)])
def test_any_change_of_rows(tmp_path: Path, changes: int) -> None:
    """Rows deleted, doubled, or with a value of another row: each one is found.

    But for a state that is gone, or a part of a history: a run may also be posted without any, and
    only that nobody can go on with it is lost.
    """
    place = new_place("sqlite", tmp_path)
    with Ledger(place.url, place.key) as ledger:
        for k in range(1, 5):
            for run in ("a", "b"):
                ledger.post(random_round(run, k, 6), f"{run}{k}".encode(), f"of {run}{k}".encode())
        ledger.reverse("a", 2, "wrong")
    whole = place.file.read_bytes()
    rng = np.random.default_rng(changes)
    changed = 0
    while changed < changes:
        place.file.write_bytes(whole)
        with place.past_the_ledger(guarded=False) as past:
            before = rows(past)
            said = change_rows(past, rng)
            if rows(past) == before:
                continue
        changed += 1
        try:
            with Ledger(place.url, write=False) as ledger:
                assert not ledger.verify().ok or said.startswith(UNSEEN), said
        except PigouError:
            pass


def rows(past: Past) -> list[object]:
    return [sorted(map(repr, past(f"SELECT * FROM {table}"))) for table in TABLES]


def change_rows(past: Past, rng: np.random.Generator) -> str:
    """One change of one row, as its SQL."""
    table = str(rng.choice(TABLES))
    names = metadata.tables[table].c.keys()
    key = "entry, account" if table in ("postings", "statements") else names[0]
    keys = past(f"SELECT {key} FROM {table} ORDER BY {key}")
    here, other = (keys[int(rng.integers(len(keys)))] for _ in range(2))
    where = f"({key}) = ({', '.join('?' * len(here))})"
    column = str(rng.choice(names))
    if rng.random() < 0.2:
        text, values = f"DELETE FROM {table} WHERE {where}", here
    elif rng.random() < 0.2 and column in ("number", "entry", "account", "id", "run"):
        copied = ", ".join("77" if name == column else name for name in names)
        text, values = f"INSERT INTO {table} SELECT {copied} FROM {table} WHERE {where}", here
    else:
        value = f"(SELECT {column} FROM {table} WHERE {where})"
        text, values = f"UPDATE {table} SET {column} = {value} WHERE {where}", other + here
    with suppress(sqlite3.IntegrityError):  # two rows of one key
        past(text, *values)
    return f"{text} {values}"


@pytest.mark.parametrize("flips", [40, pytest.param(1000, marks=pytest.mark.long)])
def test_flipped_bits_in_the_file(tmp_path: Path, flips: int) -> None:
    """A bit flipped anywhere in an SQLite file is found, or changes nothing that is in the book."""
    place = new_place("sqlite", tmp_path)
    with Ledger(place.url, place.key) as ledger:
        for k in range(1, 9):
            ledger.post(random_round("run", k, 6), b"state", b"history")
        true = contents(ledger)
    whole = place.file.read_bytes()
    assert not place.file.with_name("book.db-wal").exists()
    rng = np.random.default_rng(flips)
    filled = np.flatnonzero(np.frombuffer(whole, np.uint8))
    found = 0
    for at in rng.choice(filled, flips).tolist():
        spoilt = bytearray(whole)
        spoilt[at] ^= 1 << int(rng.integers(8))
        place.file.write_bytes(spoilt)
        try:
            with Ledger(place.url, write=False) as ledger:
                holds = ledger.verify().ok
                assert not holds or contents(ledger) == true, f"byte {at}"
        except PigouError:
            holds = False
        found += not holds
    assert found > 0.8 * flips  # the rest are bytes that SQLite no longer uses


def contents(ledger: Ledger) -> object:
    """Everything that can be asked for."""
    balances = [ledger.balance(f"client-{k}") for k in range(6)]
    lines = [ledger.statement(f"client-{k}") for k in range(6)]
    return balances, lines, list(ledger.entries()), ledger.state("run"), ledger.head()
