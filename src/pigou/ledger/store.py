"""The database behind a ledger: where it is, how it is opened, and what a transaction is there.

SQLite runs with a write-ahead log, synchronous FULL and foreign keys on; PostgreSQL with READ
COMMITTED and synchronous commits. A writer takes the ledger's one lock before it reads anything
(SQLite: BEGIN IMMEDIATE; PostgreSQL: an advisory lock), so that the entry it adds follows the
last one; a second writer waits for its turn.
"""

import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError

from pigou.errors import InvalidArgument, require
from pigou.ledger import triggers
from pigou.ledger.errors import LedgerRefused, LedgerUnavailable, MissingDriver, NotALedger
from pigou.ledger.schema import metadata

PATIENCE = 60  # seconds that a writer waits for the one before it
RETRY = 0.01  # seconds, where SQLite leaves the waiting to us
LOCK = 0x7069676F75  # "pigou": the advisory lock of PostgreSQL
MAGIC = b"SQLite format 3\x00"  # how every SQLite file begins
GUARD = "pigou: "  # how the messages of our own triggers begin
NO_URL = (ArgumentError, ValueError, AttributeError)  # what SQLAlchemy makes of other texts
URLS = "must be sqlite:///FILE or postgresql+psycopg://USER@HOST/DATABASE"


class Store:
    """A database, opened; every transaction on it is for reading or for writing."""

    def __init__(self, url: str) -> None:
        self.url = _parsed(url)
        self.shown = without_secrets(self.url)
        self.engine = _engine(self.url)

    @property
    def file(self) -> Path | None:
        """The file of an SQLite database."""
        name = self.url.database
        return Path(name) if self.url.get_backend_name() == "sqlite" and name else None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One consistent view, whatever others write meanwhile."""
        with self._reported(), self.engine.connect() as connection:
            if connection.dialect.name == "postgresql":
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """All or nothing, and alone: the lock is held from the first statement to the last."""
        with self._reported(), self.engine.connect() as plain:
            connection = plain.execution_options(writes=True)
            with connection.begin():
                yield connection

    def tables(self) -> set[str]:
        """The tables there are; none where the SQLite file does not exist."""
        if self.file is not None and not self._has_content(self.file):
            return set()
        with self.reading() as connection:
            return set(inspect(connection).get_table_names())

    def create(self, connection: Connection) -> None:
        """The empty tables and their guards."""
        metadata.create_all(connection, checkfirst=False)
        sqlite = self.file is not None
        for guard in triggers.for_sqlite() if sqlite else triggers.for_postgresql():
            connection.exec_driver_sql(guard)

    def keep_write_ahead_log(self) -> None:
        """SQLite remembers it in the file; it cannot be set inside of a transaction, and here
        SQLite does not wait by itself for whoever else has the file open."""
        if self.file is None:
            return
        until = time.monotonic() + PATIENCE
        with self._reported(), self.engine.connect() as connection:
            driver: Any = connection.connection.driver_connection
            while True:
                try:
                    driver.execute("PRAGMA journal_mode = WAL")
                except sqlite3.OperationalError as error:
                    if "locked" not in str(error) or time.monotonic() > until:
                        raise self._unavailable(str(error)) from error
                    time.sleep(RETRY)
                else:
                    return

    def close(self) -> None:
        """Give all connections back."""
        self.engine.dispose()

    def _has_content(self, file: Path) -> bool:
        """Is there a database? SQLite itself would take any short file for an empty one."""
        try:
            with file.open("rb") as opened:
                start = opened.read(len(MAGIC))
        except FileNotFoundError:
            return False
        except OSError as error:
            raise self._unavailable(str(error.strerror)) from error
        if start not in (b"", MAGIC):
            raise self._unavailable("file is not a database")
        return start == MAGIC

    @contextmanager
    def _reported(self) -> Iterator[None]:
        """The database's errors, as ours."""
        try:
            yield
        except IntegrityError as error:
            raise LedgerRefused(f"the ledger at {self.shown} refuses: {_said(error)}") from error
        except DBAPIError as error:
            said = _said(error)
            if GUARD in said:
                raise LedgerRefused(f"the ledger at {self.shown} refuses: {said}") from error
            raise self._unavailable(said) from error
        except UnicodeDecodeError as error:  # sqlite3 fails so on some damaged files
            raise self._unavailable("the file is damaged") from error

    def _unavailable(self, said: str) -> LedgerUnavailable | NotALedger:
        if "not a database" in said:
            return NotALedger(f"{self.shown} is not a ledger: {said}")
        why = (
            f"another writer has held the ledger at {self.shown} for {PATIENCE} seconds"
            if "locked" in said or "lock timeout" in said
            else f"the ledger at {self.shown} cannot be used: {said}"
        )
        return LedgerUnavailable(
            f"{why}. What was posted before is safe; if a round was being posted, post it again: "
            "that is a no-op where it is already in the book"
        )


def sqlite_url(file: Path) -> str:
    """The URL of a file, whatever signs its name has that mean something in URLs."""
    return URL.create("sqlite", database=str(file)).render_as_string()


def without_secrets(given: str | URL) -> str:
    """A URL as it may be shown: no password, also where it is not one that can be read."""
    try:
        url = make_url(given)
    except NO_URL:
        text = str(given)
        return re.sub(":.*", ":***", text) if re.search("@|password", text) else text
    if "@" in (url.host or ""):  # a password with an @ that is not written %40
        return f"{url.drivername}://***"
    hidden = {name: "hidden" for name in url.query if "password" in name.lower()}
    return url.update_query_dict(hidden).render_as_string(hide_password=True)


def _parsed(given: str) -> URL:
    shown = without_secrets(given)
    try:
        url = make_url(given)
    except NO_URL as error:
        raise InvalidArgument("ledger", URLS, shown) from error
    escaped = "@" not in (url.host or "")
    require(escaped, "ledger", "must have %40 for an @ in the password", shown)
    if url.drivername in ("postgresql", "postgresql+psycopg"):
        return url.set(drivername="postgresql+psycopg")
    if url.drivername not in ("sqlite", "sqlite+pysqlite") or url.query or url.host:
        raise InvalidArgument("ledger", URLS, shown)
    if not url.database or url.database == ":memory:":
        raise InvalidArgument("ledger", "must name a file: memory keeps no book", shown)
    return url


def _engine(url: URL) -> Engine:
    try:
        if url.get_backend_name() == "sqlite":
            engine = create_engine(url, connect_args={"timeout": PATIENCE})
            event.listen(engine, "connect", _prepare_sqlite)
            event.listen(engine, "begin", _begin_sqlite)
        else:
            engine = create_engine(url, isolation_level="READ COMMITTED", pool_pre_ping=True)
            event.listen(engine, "begin", _begin_postgresql)
    except ModuleNotFoundError as error:
        install = "pip install 'pigou[postgres]'"
        raise MissingDriver(f"a PostgreSQL ledger needs the driver psycopg: {install}") from error
    return engine


def _prepare_sqlite(connection: sqlite3.Connection, _: object) -> None:
    connection.isolation_level = None  # transactions begin where we say, not where Python guesses
    connection.text_factory = _decoded
    for setting in ("foreign_keys = ON", "synchronous = FULL"):
        connection.execute(f"PRAGMA {setting}")


def _decoded(raw: bytes) -> str:
    """Damaged text must reach the verification, which names its place."""
    return raw.decode("utf-8", "backslashreplace")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _begin_postgresql(connection: Connection) -> None:
    if not connection.get_execution_options().get("writes"):
        return
    settings = (
        "SELECT set_config('lock_timeout', :patience, true), set_config('synchronous_commit', "
        "replace(current_setting('synchronous_commit'), 'off', 'on'), true)"
    )
    connection.execute(text(settings), {"patience": f"{PATIENCE}s"})
    connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})


def _said(error: DBAPIError) -> str:
    """The database's own words, on one line."""
    return " ".join(str(error.orig).split())
