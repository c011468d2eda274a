"""A long book is as quick as a short one: appends stay flat, and balances are looked up."""

import itertools
import time
from pathlib import Path
from statistics import median

import pytest
from sqlalchemy import event
from tests.ledger.databases import KINDS, Kind, Place, new_place
from tests.ledger.rounds import random_round

from pigou.ledger import Ledger

CLIENTS = 100
POSTINGS = [
    pytest.param(10**5, marks=pytest.mark.long),
    pytest.param(10**6, marks=pytest.mark.soak),
]
FLATTEST = 1.3  # time of the last tenth of all appends over the time of the first tenth
BLOCK = 10  # rounds timed together


def plans(ledger: Ledger, place: Place) -> list[str]:
    """The plans of all queries that ``balance`` makes."""
    asked: list[tuple[str, object]] = []

    def hear(_: object, __: object, text: str, values: object, *___: object) -> None:
        asked.append((text, values))

    event.listen(ledger._store.engine, "before_cursor_execute", hear)
    ledger.balance("client-1")
    event.remove(ledger._store.engine, "before_cursor_execute", hear)
    assert asked
    explain = "EXPLAIN QUERY PLAN " if place.kind == "sqlite" else "EXPLAIN "
    lines = []
    with ledger._store.reading() as connection:
        for text, values in asked:
            rows = connection.exec_driver_sql(explain + text, values)  # type: ignore[arg-type]  # as they were heard
            lines += [str(row[-1]) for row in rows]
    return lines


def test_a_balance_does_not_read_the_journal(ledger: Ledger, place: Place) -> None:
    for k in range(1, 4):
        ledger.post(random_round("run", k, CLIENTS))
    if place.kind == "postgresql":  # where a scan of so few rows would be right: ask for the index
        with place.past_the_ledger() as past:
            past("ANALYZE")
    lines = plans(ledger, place)
    assert not any(name in line for line in lines for name in ("postings", "entries", "statements"))
    if place.kind == "sqlite":
        assert not any(line.startswith("SCAN") for line in lines)
        assert any("SEARCH balances USING INTEGER PRIMARY KEY" in line for line in lines)


@pytest.mark.parametrize("postings", POSTINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_appends_stay_flat(kind: Kind, postings: int, tmp_path: Path) -> None:
    """The last tenth against the first, by the clock.

    The first tenth is posted again to another ledger, block by block in turns with the last one:
    what else the machine does meets both alike.
    """
    rounds = postings // CLIENTS
    (tmp_path / "young").mkdir()
    place, young = new_place(kind, tmp_path), new_place(kind, tmp_path / "young")
    with Ledger(place.url, place.key) as ledger, Ledger(young.url, young.key) as first:
        for k in range(1, rounds * 9 // 10 + 1):
            ledger.post(random_round("run", k, CLIENTS))
        ratios = []
        for early in range(1, rounds // 10 + 1, BLOCK):
            late = early + rounds * 9 // 10
            ratios.append(seconds(ledger, late) / seconds(first, early))
        found = ledger.verify()
    assert found.postings == postings
    assert found.ok, found.fault
    ratio = median(ratios)
    print(f"{kind}, {postings} postings: last tenth over first tenth {ratio:.2f}")
    assert ratio <= FLATTEST


def seconds(ledger: Ledger, number: int) -> float:
    """How long it takes to post a block of rounds from this one on."""
    made = [random_round("run", k, CLIENTS) for k in range(number, number + BLOCK)]
    begin = time.perf_counter()
    for each in made:
        ledger.post(each)
    return time.perf_counter() - begin


def test_an_append_writes_as_much_late_as_early(tmp_path: Path) -> None:
    """The work itself, counted: what one round adds to SQLite's log, never emptied here."""
    place = new_place("sqlite", tmp_path)
    log = place.file.with_name(place.file.name + "-wal")
    written = []
    with Ledger(place.url, place.key) as ledger:
        with ledger._store.engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_autocheckpoint = 0")
        for k in range(1, 203):
            ledger.post(random_round("run", k, CLIENTS))
            written.append(log.stat().st_size)
    added = [late - early for early, late in itertools.pairwise(written[1:])]
    assert min(added) > 0
    assert sum(added[-20:]) <= FLATTEST * sum(added[:20])
