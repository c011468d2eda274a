"""The database's own guards, changed behind the ledger's back: found, and nothing is written."""

from pathlib import Path

import pytest
from tests.ledger.databases import KINDS, Kind, new_place
from tests.ledger.rounds import random_round

from pigou.ledger import Ledger
from pigou.ledger.errors import LedgerRefused, NotALedger

POSTED = "CREATE TRIGGER entries_count AFTER INSERT ON entries "
GUARDS: dict[str, list[tuple[str, tuple[str, ...]]]] = {
    "sqlite": [
        ("entries_count", ("DROP TRIGGER entries_count",)),
        ("entries_count", ("DROP TRIGGER entries_count", POSTED + "BEGIN SELECT 1; END")),
        (
            "fee",
            (
                "CREATE TRIGGER fee AFTER UPDATE ON balances BEGIN UPDATE balances "
                "SET amount = 0 WHERE account = 1; END",
            ),
        ),
    ],
    "postgresql": [
        ("entries_count", ("DROP TRIGGER entries_count ON entries",)),
        ("entries_count", ("ALTER TABLE entries DISABLE TRIGGER entries_count",)),
        ("entries_count", ("ALTER TABLE entries ENABLE REPLICA TRIGGER entries_count",)),
        (
            "entries_count",
            (
                "DROP TRIGGER entries_count ON entries",
                POSTED + "FOR EACH ROW WHEN (false) EXECUTE FUNCTION entries_count()",
            ),
        ),
        (
            "entries_count",
            (
                "CREATE OR REPLACE FUNCTION entries_count() RETURNS trigger LANGUAGE plpgsql "
                "AS 'BEGIN RETURN NULL; END'",
            ),
        ),
        ("RI_ConstraintTrigger", ("ALTER TABLE postings DISABLE TRIGGER ALL",)),
        (
            "fee",
            ("CREATE TRIGGER fee AFTER UPDATE ON balances FOR EACH ROW EXECUTE FUNCTION refuse()",),
        ),
        ("balances", ("CREATE RULE fee AS ON UPDATE TO balances DO INSTEAD NOTHING",)),
        ("balances", ("ALTER TABLE balances ENABLE ROW LEVEL SECURITY",)),
    ],
}
CHANGED_GUARDS = [(kind, *each) for kind in KINDS for each in GUARDS[kind]]


@pytest.mark.parametrize(("kind", "named", "changes"), CHANGED_GUARDS)
def test_a_guard_that_was_changed(
    kind: Kind, named: str, changes: tuple[str, ...], tmp_path: Path
) -> None:
    place = new_place(kind, tmp_path)
    with Ledger(place.url, place.key) as ledger:
        ledger.post(random_round("run", 1))
        assert ledger.verify().ok
    with place.past_the_ledger() as past:
        for text in changes:
            past(text)
    with Ledger(place.url, write=False) as ledger:
        found = ledger.verify()
    assert f"guards of the journal were changed: {named}" in found.fault
    with pytest.raises(LedgerRefused, match=named):
        Ledger(place.url, place.key)


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_that_became_a_view(kind: Kind, tmp_path: Path) -> None:
    """It could tell everybody something else."""
    place = new_place(kind, tmp_path)
    Ledger(place.url, place.key).close()
    with place.past_the_ledger() as past:
        past("ALTER TABLE balances RENAME TO b")
        past("CREATE VIEW balances AS SELECT * FROM b")
    for write in (True, False):
        with pytest.raises(NotALedger, match=r"\['balances'\] is missing"):
            Ledger(place.url, place.key, write=write)
