"""A ledger's identity: made once when the ledger is, and read whenever it is opened."""

import secrets
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import insert, inspect, select

from pigou.errors import InvalidArgument
from pigou.ledger import keys, triggers
from pigou.ledger.entry import genesis
from pigou.ledger.errors import KeyRefused, LedgerRefused, NotALedger
from pigou.ledger.schema import VERSION, meta, metadata
from pigou.ledger.store import Store

ID_BYTES = 16


@dataclass(frozen=True)
class Identity:
    """What tells one ledger from another; the chain of entries begins with it."""

    ledger: str
    key: str  # the public key, in hexadecimal

    @property
    def genesis(self) -> str:
        """What the first entry follows."""
        return genesis(self.ledger, VERSION, self.key)


def key_file(store: Store, given: str | Path | None) -> Path | None:
    """The file given, or the one beside an SQLite ledger."""
    if given is not None:
        return Path(given)
    return store.file.with_name(store.file.name + ".key") if store.file is not None else None


def open_to_read(store: Store) -> Identity:
    """The identity of a ledger that is there."""
    if not store.tables():
        raise NotALedger(f"there is no ledger at {store.shown}")
    return _identity(store)


def open_to_write(store: Store, file: Path | None) -> tuple[Identity, Ed25519PrivateKey]:
    """The identity and the key; a new ledger, and a new key, where there are none."""
    if file is None:
        raise KeyRefused("writing to a PostgreSQL ledger needs a signing key: name its file")
    if store.tables():
        identity = _identity(store)
        _require_guards(store)
        key = keys.load(file)
    else:
        if store.file is not None and not store.file.absolute().parent.is_dir():
            where = "must name a file in a folder that exists"
            raise InvalidArgument("ledger", where, store.shown)
        key = keys.load(file) if file.exists() else keys.create(file)
        _create(store, keys.to_hex(key.public_key()))
        identity = _identity(store)
    if identity.key != keys.to_hex(key.public_key()):
        raise KeyRefused(f"key file {file} is not the one that {store.shown} was begun with")
    store.keep_write_ahead_log()
    return identity, key


def _require_guards(store: Store) -> None:
    """Without them, balances would not move."""
    with store.reading() as connection:
        if changed := triggers.altered(connection):
            why = f"the guards of the ledger at {store.shown} were changed: {', '.join(changed)}"
            raise LedgerRefused(f"{why}. Restore a copy of it, and check that with verify --head")


def _create(store: Store, key: str) -> None:
    made = {
        "version": VERSION,
        "ledger": secrets.token_hex(ID_BYTES),
        "key": key,
    }
    with store.writing() as connection:
        if not inspect(connection).get_table_names():  # nobody was quicker
            store.create(connection)
            connection.execute(insert(meta), [{"name": k, "value": v} for k, v in made.items()])


def _identity(store: Store) -> Identity:
    missing = set(metadata.tables) - store.tables()
    if "meta" in missing:
        raise NotALedger(
            f"{store.shown} is not a ledger: it holds other tables; give the ledger a database "
            "of its own"
        )
    with store.reading() as connection:
        rows = connection.execute(select(meta.c.name, meta.c.value))
        found = {str(name): str(value) for name, value in rows}
    version = found.get("version")
    if version != VERSION:
        raise NotALedger(
            f"{store.shown} is a ledger of version {version}, and this pigou knows version "
            f"{VERSION}: use the pigou that made it, which can export it"
        )
    if missing or not {"ledger", "key"} <= found.keys():
        gone = sorted(missing) or "its identity"
        raise NotALedger(f"{store.shown} is not a whole ledger: {gone} is missing")
    try:
        keys.from_hex(found["key"])
    except ValueError as error:
        raise NotALedger(f"{store.shown} is not a whole ledger: its key is damaged") from error
    return Identity(found["ledger"], found["key"])
