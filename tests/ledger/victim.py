"""A process that posts rounds and says where it is, until somebody kills it.

Its marks on the pipe: B a transaction has begun (and holds the lock), C it is about to commit,
A and a number: the round is acknowledged, E and a name: an error ended it, D: it is done.
"""

import time
from multiprocessing.connection import Connection
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Barrier
from typing import Any

from sqlalchemy import event
from tests.ledger.rounds import random_round

from pigou.ledger import Ledger
from pigou.ledger.errors import LedgerError

CLIENTS = 20
SLOW = 0.0005  # seconds per statement: so that transactions are open for a good part of the time


def post_rounds(pipe: Connection, url: str, key: str, run: str, last: int) -> None:
    """Go on from where the run is, up to its last round."""
    try:
        with Ledger(url, key) as ledger:
            _announce(ledger, pipe)
            state = ledger.state(run)
            first = 1 if state is None else int(state.content) + 1
            for k in range(first, last + 1):
                ledger.post(random_round(run, k, CLIENTS), str(k).encode())
                pipe.send_bytes(b"A%d" % k)
        pipe.send_bytes(b"D")
    except LedgerError as error:
        pipe.send_bytes(b"E" + type(error).__name__.encode())


def _announce(ledger: Ledger, pipe: Connection) -> None:
    engine = ledger._store.engine

    def writes(connection: Any) -> bool:
        return bool(connection.get_execution_options().get("writes"))

    def begun(connection: Any) -> None:
        if writes(connection):
            pipe.send_bytes(b"B")

    def committing(connection: Any) -> None:
        if writes(connection):
            pipe.send_bytes(b"C")

    def slowly(connection: Any, *_: Any) -> None:
        if writes(connection):
            time.sleep(SLOW)

    event.listen(engine, "begin", begun)
    event.listen(engine, "commit", committing)
    event.listen(engine, "after_cursor_execute", slowly)


def open_together(url: str, key: str, start: Barrier, said: "SimpleQueue[str]") -> None:
    """Open a ledger when everybody is ready; say what went wrong, or nothing."""
    start.wait()
    try:
        Ledger(url, key).close()
    except Exception as error:
        said.put(repr(error))
    else:
        said.put("")
