"""What can be wrong with a place before anything is written there."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.ledger.databases import Place, new_place
from tests.ledger.rounds import random_round

from pigou.errors import InvalidArgument, PigouError
from pigou.ledger import Ledger
from pigou.ledger.errors import KeyRefused, LedgerUnavailable, MissingDriver, NotALedger


@pytest.mark.parametrize(
    "url",
    [
        "",
        "book.db",
        "sqlite",
        "mysql://host/book",
        "sqlite+aiosqlite:///book.db",
        "http://host/book",
        "sqlite:///book.db?mode=ro",
        "sqlite://host/book.db",
        "postgresql+psycopg2://host/book",
        "postgresql://host:port/book",
        7,
    ],
)
def test_urls_of_no_ledger(url: str) -> None:
    with pytest.raises(InvalidArgument, match="ledger must be sqlite:///FILE or postgresql"):
        Ledger(url)


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_memory_keeps_no_book(url: str) -> None:
    with pytest.raises(InvalidArgument, match="memory keeps no book"):
        Ledger(url)


def test_a_password_is_not_shown() -> None:
    for url in (
        "postgresql://me:secret@localhost:1/book",
        "mysql://me:secret@host/book",
        "pg://me:secret@host:port/book",
        "postgresql:/me:secret@host/book",
        "postgresql://me:with@secret@localhost:1/book",
        "postgresql://localhost:1/book?user=me&password=secret&sslpassword=secret",
    ):
        with pytest.raises(PigouError) as caught:
            Ledger(url, write=False)
        assert "secret" not in str(caught.value)
        assert any(mark in str(caught.value) for mark in ("***", "=hidden&"))


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(LedgerUnavailable, match="cannot be used"):
        Ledger("postgresql://me@localhost:1/book", write=False)


def test_a_missing_driver_is_named(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from pigou.ledger import Ledger\n"
        "from pigou.ledger.errors import MissingDriver\n"
        "try:\n    Ledger('postgresql+psycopg://host/book')\n"
        "except MissingDriver as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout == (
        "a PostgreSQL ledger needs the driver psycopg: pip install 'pigou[postgres]'\n"
    )
    assert issubclass(MissingDriver, PigouError)


@pytest.mark.parametrize("content", [b"not a database, but long enough to be one" * 40, b"x"])
def test_a_file_that_is_no_database(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "book.db").write_bytes(content)
    for write in (True, False):
        with pytest.raises(NotALedger):
            Ledger(f"sqlite:///{tmp_path}/book.db", write=write)
    assert (tmp_path / "book.db").read_bytes() == content
    assert [each.name for each in tmp_path.iterdir()] == ["book.db"]


def test_a_database_with_other_tables(place: Place) -> None:
    with place.past_the_ledger() as past:
        past("CREATE TABLE patients (name TEXT)")
    for write in (True, False):
        with pytest.raises(NotALedger, match="it holds other tables"):
            Ledger(place.url, place.key, write=write)
    with place.past_the_ledger() as past:
        assert past("SELECT COUNT(*) FROM patients") == [(0,)]
        query = {
            "sqlite": "SELECT name FROM sqlite_master",
            "postgresql": "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()",
        }
        assert past(query[place.kind]) == [("patients",)]
    assert not place.key.exists()


def test_a_database_that_is_empty_becomes_a_ledger(tmp_path: Path) -> None:
    (tmp_path / "book.db").touch()
    with Ledger(f"sqlite:///{tmp_path}/book.db") as ledger:
        assert ledger.verify().ok


def test_another_version_says_what_to_do(place: Place) -> None:
    Ledger(place.url, place.key).close()
    with place.past_the_ledger(guarded=False) as past:
        past("UPDATE meta SET value = '2' WHERE name = 'version'")
    for write in (True, False):
        with pytest.raises(NotALedger, match=r"is a ledger of version 2, .*: use the pigou"):
            Ledger(place.url, place.key, write=write)


def test_half_a_ledger(place: Place) -> None:
    Ledger(place.url, place.key).close()
    with place.past_the_ledger(guarded=False) as past:
        past("DROP TABLE states")
    with pytest.raises(NotALedger, match=r"is not a whole ledger: \['states'\] is missing"):
        Ledger(place.url, place.key)


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="must name a file in a folder that exists"):
        Ledger(f"sqlite:///{tmp_path}/none/book.db")
    assert list(tmp_path.iterdir()) == []


def test_postgresql_has_no_place_for_a_key(tmp_path: Path) -> None:
    place = new_place("postgresql", tmp_path)
    with pytest.raises(KeyRefused, match="needs a signing key: name its file"):
        Ledger(place.url)


def test_sqlite_keeps_its_promises(tmp_path: Path) -> None:
    """Write-ahead log, synchronous FULL (2) and foreign keys, on the connections that write.

    The log also where whoever made the ledger was killed before it was set.
    """
    Ledger(f"sqlite:///{tmp_path}/book.db").close()
    with closing(sqlite3.connect(tmp_path / "book.db")) as plain:
        assert plain.execute("PRAGMA journal_mode = DELETE").fetchall() == [("delete",)]
    with Ledger(f"sqlite:///{tmp_path}/book.db") as ledger:
        ledger.post(random_round("run", 1))
        with ledger._store.writing() as connection:
            asked = ("journal_mode", "synchronous", "foreign_keys")
            said = [connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in asked]
    assert said == ["wal", 2, 1]


def test_postgresql_keeps_its_promises(tmp_path: Path) -> None:
    """Commits are synchronous even where the database says otherwise."""
    place = new_place("postgresql", tmp_path)
    url = place.url + "%20-csynchronous_commit%3Doff"
    with Ledger(url, place.key) as ledger:
        with ledger._store.reading() as connection:
            asked = "SHOW synchronous_commit"
            assert connection.exec_driver_sql(asked).scalar_one() == "off"
            isolation = connection.exec_driver_sql("SHOW transaction_isolation").scalar_one()
            assert isolation == "repeatable read"
        with ledger._store.writing() as connection:
            assert connection.exec_driver_sql(asked).scalar_one() == "on"
            isolation = connection.exec_driver_sql("SHOW transaction_isolation").scalar_one()
            assert isolation == "read committed"
