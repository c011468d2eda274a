"""Places to keep a ledger in: an SQLite file, or a PostgreSQL server that the tests start."""

import atexit
import functools
import os
import pwd
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Literal

import psycopg
import pytest

Kind = Literal["sqlite", "postgresql"]
KINDS: tuple[Kind, ...] = ("sqlite", "postgresql")
NEEDED = "PIGOU_TEST_POSTGRES"
USERS = ("postgres", "nobody")  # initdb refuses root
_numbers = count()


@dataclass(frozen=True)
class Place:
    """Where one test's ledger is."""

    kind: Kind
    url: str
    key: Path
    schema: str = ""
    server: "Server | None" = None

    @property
    def file(self) -> Path:
        """The file of an SQLite place."""
        return Path(self.url.removeprefix("sqlite:///"))

    @contextmanager
    def past_the_ledger(self, *, guarded: bool = True) -> Iterator["Past"]:
        """The database itself, for someone who may change anything in it."""
        if self.kind == "sqlite":
            with closing(sqlite3.connect(self.file, isolation_level=None)) as plain:
                past = Past(self.kind, lambda text, values: plain.execute(text, values).fetchall())
                plain.execute("PRAGMA foreign_keys = ON")
                plain.execute("PRAGMA synchronous = OFF")  # no power cut is tested here
                guards = [] if guarded else _unguard_sqlite(plain)
                yield past
                for guard in guards:
                    plain.execute(guard)
            return
        assert self.server is not None
        with self.server.connect(self.schema) as connection:
            if not guarded:
                _unguard_postgresql(connection, self.schema)
            yield Past(self.kind, lambda text, values: _fetch(connection, text, values))


@dataclass(frozen=True)
class Past:
    """A connection on which every statement is a transaction, unless it says BEGIN."""

    kind: Kind
    run: Callable[[str, Sequence[object]], list[tuple[Any, ...]]]

    def __call__(self, text: str, *values: object) -> list[tuple[Any, ...]]:
        return self.run(text if self.kind == "sqlite" else text.replace("?", "%s"), values)


def _fetch(
    connection: psycopg.Connection, text: str, values: Sequence[object]
) -> list[tuple[Any, ...]]:
    cursor = connection.execute(text.encode(), values)
    return cursor.fetchall() if cursor.description else []


def _unguard_sqlite(plain: sqlite3.Connection) -> list[str]:
    """Drop the guards, and say how to put them back."""
    plain.execute("PRAGMA foreign_keys = OFF")
    plain.execute("PRAGMA ignore_check_constraints = ON")
    query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
    found = plain.execute(query).fetchall()
    for name, _ in found:
        plain.execute(f"DROP TRIGGER {name}")
    return [text for _, text in found]


def _unguard_postgresql(connection: psycopg.Connection, schema: str) -> None:
    connection.execute("SET session_replication_role = replica")
    checks = connection.execute(
        "SELECT conrelid::regclass::text, conname FROM pg_constraint "
        "WHERE contype = 'c' AND connamespace = %s::regnamespace",
        [schema],
    ).fetchall()
    for table, name in checks:
        connection.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}".encode())


class Server:
    """A PostgreSQL server of our own, on a Unix socket in its own folder."""

    def __init__(self, binaries: Path, *, fsync: bool = True) -> None:
        self.binaries = binaries
        self.folder = Path(tempfile.mkdtemp(prefix="pigou-pg-"))  # short: sockets' names are
        self.user: str | None = None
        if os.geteuid() == 0:
            names = {entry.pw_name for entry in pwd.getpwall()}
            self.user = next(name for name in USERS if name in names)
            shutil.chown(self.folder, self.user)
        self.data = self.folder / "data"
        options = ["-A", "trust", "-U", "pigou", "-E", "UTF8", "--locale=C", "--no-sync"]
        self._run("initdb", "-D", str(self.data), *options)
        self._base = f"postgresql+psycopg://pigou@/postgres?host={self.folder}"
        self._settings = f"-k {self.folder} -c listen_addresses='' -c shared_buffers=32MB"
        self._settings += "" if fsync else " -c fsync=off"
        self.start()

    def start(self) -> None:
        """Start it and wait until it answers."""
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", str(self.data), "-w", "-l", log, "-o", self._settings, "start")

    def stop(self, mode: Literal["fast", "immediate"]) -> None:
        """Immediate: as if it crashed."""
        self._run("pg_ctl", "-D", str(self.data), "-m", mode, "stop")

    def remove(self) -> None:
        """Stop it and leave nothing behind."""
        self.stop("immediate")
        shutil.rmtree(self.folder)

    def url(self, schema: str) -> str:
        """A ledger's URL."""
        return f"{self._base}&options=-csearch_path%3D{schema}"

    def new_schema(self) -> str:
        """The name of an empty schema: it is quicker to make than a database."""
        name = f"book{next(_numbers)}"
        with self.connect() as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return name

    def connect(self, schema: str = "public") -> psycopg.Connection:
        """A superuser's connection, past the ledger."""
        where = f"host={self.folder} user=pigou dbname=postgres options=-csearch_path={schema}"
        return psycopg.connect(where, autocommit=True)

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [str(self.binaries / program), *arguments],
            cwd=self.folder,
            user=self.user,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            check=True,
        )


def binaries() -> Path:
    """The folder of initdb and pg_ctl; without them the test is skipped, or fails if needed."""
    on_path = shutil.which("initdb")
    found = [Path(on_path).parent] if on_path else []
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in found:
        if (folder / "initdb").exists() and (folder / "pg_ctl").exists():
            return folder
    why = "no initdb and pg_ctl: PostgreSQL is not tested"
    if os.environ.get(NEEDED) == "1":
        pytest.fail(f"{why}, though {NEEDED}=1")
    pytest.skip(why)


@functools.cache
def shared_server() -> Server:
    """One server for all tests of this process."""
    server = Server(binaries(), fsync=False)
    atexit.register(server.remove)
    return server


def new_place(kind: Kind, folder: Path, server: Server | None = None) -> Place:
    """An empty place."""
    key = folder / "book.key"
    if kind == "sqlite":
        return Place(kind, f"sqlite:///{folder / 'book.db'}", key)
    running = server or shared_server()
    schema = running.new_schema()
    return Place(kind, running.url(schema), key, schema, running)
