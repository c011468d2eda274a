"""What runs go on from, beside the journal and signed: a state per run, replaced with every round,
and a history, to which every round adds its part, so that a long run does not write it all anew.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Literal

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import Connection, Row, delete, insert, select

from pigou.ledger import keys
from pigou.ledger.entry import Sealed, state_message
from pigou.ledger.opening import Identity
from pigou.ledger.schema import entries, histories, states


@dataclass(frozen=True)
class RunState:
    """What a run goes on from after the last round posted; the ledger does not look inside."""

    run: str
    round: int
    content: bytes
    history: tuple[bytes, ...] = ()  # the parts that came with its rounds, in their order


def keep(
    connection: Connection, identity: Identity, key: Ed25519PrivateKey, sealed: Sealed, state: bytes
) -> None:
    """Replace what the run goes on from."""
    run = sealed.entry.run
    signature = key.sign(state_message(identity.ledger, run, sealed.hash, state)).hex()
    connection.execute(delete(states).where(states.c.run == run))
    row = {"run": run, "entry": sealed.number, "content": state, "signature": signature}
    connection.execute(insert(states), row)


def add(
    connection: Connection, identity: Identity, key: Ed25519PrivateKey, sealed: Sealed, part: bytes
) -> None:
    """Add the entry's part to the history of its run."""
    message = state_message(identity.ledger, sealed.entry.run, sealed.hash, part, "history")
    row = {"entry": sealed.number, "content": part, "signature": key.sign(message).hex()}
    connection.execute(insert(histories), row)


def read(connection: Connection, run: str | None = None) -> Generator[Row[Any], None, None]:
    """The state of one run or of all, with the entry that each came with."""
    query = _STATES if run is None else _STATES.where(states.c.run == run)
    with connection.execute(query.execution_options(yield_per=1)) as found:
        yield from found


def read_history(
    connection: Connection, run: str | None = None, last: int | None = None
) -> Generator[Row[Any], None, None]:
    """The parts of the history of one run or of all, up to that entry."""
    query = _HISTORIES if run is None else _HISTORIES.where(entries.c.run == run)
    query = query if last is None else query.where(histories.c.entry <= last)
    with connection.execute(query.execution_options(yield_per=1)) as found:
        yield from found


def is_whole(
    row: Row[Any], identity: Identity, what: Literal["state", "history"] = "state"
) -> bool:
    """Is it as it was written, by who holds the ledger's key, with that entry of that run?"""
    if not isinstance(row.content, bytes) or row.of is None or row.of != row.run:
        return False
    message = state_message(identity.ledger, row.run, row.hash, row.content, what)
    return keys.verified(keys.from_hex(identity.key), row.signature, message)


_STATES = select(states, entries.c.round, entries.c.hash, entries.c.run.label("of")).join(
    entries, isouter=True
)
_HISTORIES = (
    select(histories, entries.c.run, entries.c.hash, entries.c.run.label("of"))
    .join(entries, isouter=True)
    .order_by(histories.c.entry)
)
