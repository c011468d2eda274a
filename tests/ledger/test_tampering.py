"""Whatever is changed behind the ledger's back is found by ``verify``, which names the entry."""

import math
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.ledger.databases import Past, Place, new_place
from tests.ledger.rounds import random_round, round_of

from pigou.ledger import Ledger, Verification, keys
from pigou.ledger.entry import chain_hash, genesis, head_message, state_message
from pigou.ledger.errors import LedgerUnavailable
from pigou.ledger.schema import VERSION, metadata
from pigou.terms import Posted, SignedHead

MIDDLE = 3  # the entry that is tampered with
LAST = 5


@pytest.fixture
def heads(place: Place) -> list[Posted]:
    """A ledger with five entries, closed again; the third is a round of three clients."""
    with Ledger(place.url, place.key) as ledger:
        posted = [ledger.post(round_of("run", 0, [(100, 0), (-40, 0)]), b"first state")]
        posted += [ledger.post(random_round("run", k), b"state" * 50, b"new") for k in (1, 2, 3)]
        posted.append(ledger.reverse("run", 3, "wrong"))
        assert ledger.verify().ok
    return posted


def verified(place: Place, head: SignedHead | None = None, key: Path | None = None) -> Verification:
    trusted = None if key is None else keys.load_public(key)
    with Ledger(place.url, write=False) as ledger:
        return ledger.verify(head, trusted)


@contextmanager
def tampering(place: Place) -> Iterator[Past]:
    with place.past_the_ledger(guarded=False) as past:
        yield past


def flipped(value: Any) -> Any:
    """The same but for one bit."""
    match value:
        case None:
            return 1
        case str():
            middle = len(value) // 2
            return (
                value[:middle]
                + chr(ord(value[middle : middle + 1] or "a") ^ 1)
                + value[middle + 1 :]
            )
        case float():
            return math.nextafter(value, math.inf)
        case bytes():
            return bytes([value[0] ^ 1]) + value[1:]
        case _:
            return value ^ (1 << 20)


# Where to change which row, and what the report must say.
ROWS = {
    "entries": (f"number = {MIDDLE}", f"entry {MIDDLE} "),
    "postings": (f"entry = {MIDDLE} AND account = 2", f"entry {MIDDLE} "),
    "statements": (f"entry = {MIDDLE} AND account = 2", f"entry {MIDDLE} "),
    "accounts": ("owner = 'client-0'", "entry 1 "),
    "balances": ("account = 2", "balance"),
    "states": ("run = 'run'", "the stored state of run"),
    "histories": (f"entry = {MIDDLE}", "the stored history of run"),
}
NUMBERS = {"number", "entry", "account", "id"}  # moved out of the way of the other rows
CASES = [
    (table, column.name)
    for table in ROWS
    for column in metadata.tables[table].c
    if (table, column.name) != ("states", "entry")  # which entry's it is: see below
]


@pytest.mark.usefixtures("heads")
@pytest.mark.parametrize("table", ROWS)
def test_a_flipped_bit_in_any_column(place: Place, table: str) -> None:
    where, named = ROWS[table]
    for column in [name for in_table, name in CASES if in_table == table]:
        with tampering(place) as past:
            ((before,),) = past(f"SELECT {column} FROM {table} WHERE {where}")
            after = before + 1000 if column in NUMBERS else flipped(before)
            past(f"UPDATE {table} SET {column} = ? WHERE {where}", after)
        found = verified(place)
        assert not found.ok, column
        assert named in found.fault, (column, found.fault)
        with tampering(place) as past:
            again = where
            for name in NUMBERS & {column}:
                again = where.replace(f"{name} = {before}", f"{name} = {after}")
            again = f"owner = '{after}'" if column == "owner" else again
            again = f"run = '{after}'" if (table, column) == ("states", "run") else again
            past(f"UPDATE {table} SET {column} = ? WHERE {again}", before)
        assert verified(place).ok, column


@pytest.mark.usefixtures("heads")
def test_the_ledger_s_own_identity(place: Place) -> None:
    for name in ("ledger", "key"):
        with tampering(place) as past:
            ((before,),) = past("SELECT value FROM meta WHERE name = ?", name)
            other = ("1" if before[0] == "0" else "0") + before[1:]
            past("UPDATE meta SET value = ? WHERE name = ?", other, name)
        found = verified(place)
        assert "entry 1 (transfers 0 of run 'run') does not follow" in found.fault
        with tampering(place) as past:
            past("UPDATE meta SET value = ? WHERE name = ?", before, name)


@pytest.mark.usefixtures("heads")
def test_a_state_of_another_run(place: Place) -> None:
    with Ledger(place.url, place.key) as ledger:
        ledger.post(random_round("other", 1))
    with tampering(place) as past:
        past("UPDATE states SET entry = 6")
    assert "the stored state of run 'run' is damaged" in verified(place).fault


@pytest.mark.usefixtures("heads")
@pytest.mark.parametrize("parts", [(), ("postings", "statements")])
@pytest.mark.parametrize("number", [1, MIDDLE, LAST])
def test_a_deleted_entry(place: Place, number: int, parts: tuple[str, ...]) -> None:
    with tampering(place) as past:
        past("DELETE FROM entries WHERE number = ?", number)
        for table in parts:
            past(f"DELETE FROM {table} WHERE entry = ?", number)
    found = verified(place)
    if number == LAST and parts:  # then only the balances tell; see the next test
        assert found.fault.startswith("the balance of client")
    else:
        assert found.entry == number
        assert "is missing" in found.fault


def delete_tail(place: Place, first: int) -> None:
    """The end of the book cut off without a trace: balances and states put right."""
    with tampering(place) as past:
        for table in ("postings", "statements"):
            past(f"DELETE FROM {table} WHERE entry >= ?", first)
        past("DELETE FROM entries WHERE number >= ?", first)
        past("DELETE FROM states")
        past("DELETE FROM histories WHERE entry >= ?", first)
        past(
            "UPDATE balances SET amount = (SELECT COALESCE(SUM(amount), 0) FROM postings "
            "WHERE postings.account = balances.account)"
        )


def test_a_tail_cut_off_is_found_by_a_kept_head(place: Place, heads: list[Posted]) -> None:
    delete_tail(place, 4)
    assert verified(place).ok  # the book alone cannot know
    assert verified(place, heads[2].head).ok
    for kept in heads[3:]:
        found = verified(place, kept.head)
        assert found.entry == 4
        ends = f"the ledger ends before it, but a head after entry {kept.head.entry} was signed"
        assert f"entry 4 is missing: {ends}" == found.fault


def test_a_book_rolled_back_and_gone_on_with(place: Place, heads: list[Posted]) -> None:
    delete_tail(place, 4)
    with Ledger(place.url, place.key) as ledger:
        ledger.post(random_round("run", 3, seed=9))
    assert verified(place).ok
    found = verified(place, heads[3].head)
    assert (found.entry, found.ok) == (4, False)
    assert "is not the one of the signed head" in found.fault


def test_a_head_must_be_this_ledgers(place: Place, heads: list[Posted], tmp_path: Path) -> None:
    kept = heads[-1].head
    forged = SignedHead(kept.ledger, 99, kept.hash, kept.statements, kept.signature)
    assert "is not signed with the ledger's key" in verified(place, forged).fault
    (tmp_path / "other").mkdir()
    other = new_place("sqlite", tmp_path / "other")
    shutil.copy(place.key, other.key)
    with Ledger(other.url, other.key) as ledger:
        theirs = ledger.post(random_round("run", 1)).head
    assert "is of another ledger" in verified(place, theirs).fault


@pytest.mark.usefixtures("heads")
def test_a_swapped_pair(place: Place) -> None:
    """Two entries change places, with all their parts."""
    with tampering(place) as past:
        for old, new in ((2, 77), (MIDDLE, 2), (77, MIDDLE)):
            past("UPDATE entries SET number = ? WHERE number = ?", new, old)
            for table in ("postings", "statements"):
                past(f"UPDATE {table} SET entry = ? WHERE entry = ?", new, old)
    found = verified(place)
    assert "entry 2 (round 2 of run 'run') does not follow the entry before it" in found.fault


CHAIN = ("content", "root", "previous", "hash")


def rehash(place: Place, first: int, key: Ed25519PrivateKey | None) -> None:
    """Put the chain right from one entry on; sign it, if there is a key."""
    with Ledger(place.url, write=False) as ledger:
        entries, name = list(ledger.entries()), ledger.id
    previous = entries[first - 1].previous
    with tampering(place) as past:
        for sealed in entries[first - 1 :]:
            entry = sealed.entry
            sha = chain_hash(name, sealed.number, sealed.posted, entry.content, previous)
            head = SignedHead(name, sealed.number, sha, entry.root, "")
            signature = sealed.signature if key is None else key.sign(head_message(head)).hex()
            past(
                "UPDATE entries SET content = ?, root = ?, previous = ?, hash = ?, signature = ? "
                "WHERE number = ?",
                *(entry.content, entry.root, previous, sha, signature, sealed.number),
            )
            previous = sha
        for run, number, content in past("SELECT run, entry, content FROM states"):
            if key is not None:
                ((sha,),) = past("SELECT hash FROM entries WHERE number = ?", number)
                signature = key.sign(state_message(name, run, sha, bytes(content))).hex()
                past("UPDATE states SET signature = ? WHERE run = ?", signature, run)
        for number, content in past("SELECT entry, content FROM histories"):
            if key is not None:
                ((run, sha),) = past("SELECT run, hash FROM entries WHERE number = ?", number)
                message = state_message(name, run, sha, bytes(content), "history")
                signature = key.sign(message).hex()
                past("UPDATE histories SET signature = ? WHERE entry = ?", signature, number)


def change_amounts(place: Place) -> None:
    """One client pays less and another more; statements, postings and balances agree."""
    with tampering(place) as past:
        for account, change in ((1, -7), (2, 7)):
            where = "WHERE entry = ? AND account = ?"
            past(f"UPDATE postings SET amount = amount + ? {where}", change, MIDDLE, account)
            past(f"UPDATE statements SET charge = charge + ? {where}", change, MIDDLE, account)
            past("UPDATE balances SET amount = amount + ? WHERE account = ?", change, account)


@pytest.mark.usefixtures("heads")
@pytest.mark.parametrize("signed", [False, True])
def test_an_entry_hashed_anew_without_the_key(place: Place, signed: bool) -> None:
    change_amounts(place)
    rehash(place, MIDDLE, Ed25519PrivateKey.generate() if signed else None)
    found = verified(place)
    assert (
        f"entry {MIDDLE} (round 2 of run 'run') is not signed with the ledger's key" in found.fault
    )


def test_the_key_s_own_holder_cannot_rewrite_what_a_head_covers(
    place: Place, heads: list[Posted]
) -> None:
    """Each head is one of all entries before it: an early one changed, every later head differs."""
    change_amounts(place)
    rehash(place, MIDDLE, keys.load(place.key))
    assert verified(place).ok  # consistent in itself, and signed
    assert verified(place, heads[MIDDLE - 2].head).ok  # from before the change
    for kept in heads[MIDDLE - 1 :]:
        found = verified(place, kept.head)
        assert found.entry == kept.head.entry
        assert "is not the one of the signed head" in found.fault


def test_a_book_of_another_key(place: Place, heads: list[Posted], tmp_path: Path) -> None:
    """Who can write the database can put a key of their own there, and sign everything anew."""
    public = tmp_path / "public.pem"
    public.write_bytes(keys.public_file(place.key).read_bytes())
    forger = Ed25519PrivateKey.generate()
    change_amounts(place)
    with tampering(place) as past:
        ours = keys.to_hex(forger.public_key())
        past("UPDATE meta SET value = ? WHERE name = 'key'", ours)
    with Ledger(place.url, write=False) as ledger:
        start = genesis(ledger.id, VERSION, keys.to_hex(ledger.public_key))
    with tampering(place) as past:
        past("UPDATE entries SET previous = ? WHERE number = 1", start)
    rehash(place, 1, forger)
    assert verified(place).ok  # consistent in itself: hence the public key that clients keep
    assert "records another public key" in verified(place, key=public).fault
    assert "is not signed with the ledger's key" in verified(place, heads[0].head).fault


@pytest.mark.usefixtures("heads")
def test_a_state_of_somebody_else(place: Place) -> None:
    """Else the next rounds would be billed from what a stranger wrote."""
    with tampering(place) as past:
        past("UPDATE states SET content = ?", b"another state")
    assert "the stored state of run 'run' is damaged" in verified(place).fault
    with (
        Ledger(place.url, write=False) as ledger,
        pytest.raises(LedgerUnavailable, match="state of run 'run' is damaged"),
    ):
        ledger.state("run")


@pytest.mark.usefixtures("heads")
@pytest.mark.parametrize("change", ["content = ?", "signature = ?"])
def test_a_history_of_somebody_else(place: Place, change: str) -> None:
    with tampering(place) as past:
        value: object = b"other" if "content" in change else "00" * 64
        past(f"UPDATE histories SET {change} WHERE entry = 3", value)
    assert "the stored history of run 'run' is damaged" in verified(place).fault
    with (
        Ledger(place.url, write=False) as ledger,
        pytest.raises(LedgerUnavailable, match="history of run 'run' is damaged"),
    ):
        ledger.state("run")


@pytest.mark.usefixtures("heads")
def test_a_state_taken_along_to_another_entry(place: Place) -> None:
    with tampering(place) as past:
        past("UPDATE states SET entry = 3")
    assert "the stored state of run 'run' is damaged" in verified(place).fault


ACCOUNT = "INSERT INTO accounts SELECT 99, {} FROM accounts WHERE id = 2"


@pytest.mark.usefixtures("heads")
def test_an_account_that_nobody_opened(place: Place) -> None:
    """A second account of a client would make its balance ambiguous."""
    with place.past_the_ledger() as past:
        past(ACCOUNT.format("'other', kind, owner, currency"))
    assert "there is an account without postings, of client 'client-1' of 'other'" in (
        verified(place).fault
    )


@pytest.mark.usefixtures("heads")
def test_an_account_that_was_split(place: Place) -> None:
    """Half of a client's postings on a second account of the same name: every sum still holds."""
    with tampering(place) as past:
        if place.kind == "sqlite":
            _without_unique_names(past)
        else:
            past("ALTER TABLE accounts DROP CONSTRAINT accounts_owner_kind_consortium_currency_key")
        past(ACCOUNT.format("consortium, kind, owner, currency"))
        for table in ("postings", "statements"):
            past(f"UPDATE {table} SET account = 99 WHERE account = 2 AND entry = {MIDDLE}")
        past("DELETE FROM balances WHERE account = 99")
        past("INSERT INTO balances VALUES (99, 0)")
        past(
            "UPDATE balances SET amount = (SELECT SUM(amount) FROM postings "
            "WHERE postings.account = balances.account)"
        )
    assert "there are two accounts of client 'client-1'" in verified(place).fault


def _without_unique_names(past: Past) -> None:
    ((text,),) = past("SELECT sql FROM sqlite_master WHERE name = 'accounts'")
    names = "UNIQUE (owner, kind, consortium, currency), "
    changed = text.replace("\n", " ").replace("\t", "").replace(names, "")
    assert changed != text.replace("\n", " ").replace("\t", "")
    past("ALTER TABLE accounts RENAME TO old")
    past(changed)
    past("INSERT INTO accounts SELECT * FROM old")
    past("DROP TABLE old")
