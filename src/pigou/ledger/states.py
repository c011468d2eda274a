"""What runs go on from: one row per run beside the journal, replaced with every round, signed."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import Connection, Row, delete, insert, select

from pigou.ledger import keys
from pigou.ledger.entry import Sealed, state_message
from pigou.ledger.opening import Identity
from pigou.ledger.schema import entries, states


@dataclass(frozen=True)
class RunState:
    """What a run goes on from after the last round posted; the ledger does not look inside."""

    run: str
    round: int
    content: bytes


def keep(
    connection: Connection, identity: Identity, key: Ed25519PrivateKey, sealed: Sealed, state: bytes
) -> None:
    """Replace what the run goes on from."""
    run = sealed.entry.run
    signature = key.sign(state_message(identity.ledger, run, sealed.hash, state)).hex()
    connection.execute(delete(states).where(states.c.run == run))
    row = {"run": run, "entry": sealed.number, "content": state, "signature": signature}
    connection.execute(insert(states), row)


def read(connection: Connection, run: str | None = None) -> Generator[Row[Any], None, None]:
    """The state of one run or of all, with the entry that each came with."""
    query = _STATES if run is None else _STATES.where(states.c.run == run)
    with connection.execute(query.execution_options(yield_per=1)) as found:
        yield from found


def is_whole(row: Row[Any], identity: Identity) -> bool:
    """Is it as it was written, by who holds the ledger's key, with that entry of that run?"""
    if not isinstance(row.content, bytes) or row.of != row.run:
        return False
    message = state_message(identity.ledger, row.run, row.hash, row.content)
    return keys.verified(keys.from_hex(identity.key), row.signature, message)


_STATES = select(states, entries.c.round, entries.c.hash, entries.c.run.label("of")).join(
    entries, isouter=True
)
