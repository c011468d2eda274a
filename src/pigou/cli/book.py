"""Where a run's bills go: into the ledger first, then to the clients.

A statement is released as a file of its own, statements/CLIENT/round-N.json: signed, and as
`pigou ledger check-statement` takes it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pigou.cli.files import made, writing
from pigou.errors import PigouError
from pigou.ledger import Ledger
from pigou.ledger.documents import write_statement
from pigou.ledger.store import sqlite_url
from pigou.runs import Kept
from pigou.terms import Posted, Round

STATEMENTS = "statements"
LONGEST_NAME = 60


class Book:
    """One run's place in a ledger, and the folder of the statements that were released."""

    def __init__(self, ledger: Ledger, run: str, clients: Sequence[str], folder: Path) -> None:
        self._ledger, self._run = ledger, run
        self._folders = dict(zip(clients, _folders(clients, folder / STATEMENTS), strict=True))
        self.last: int | None = None  # the last round in the ledger

    def keep(self, settled: Round, state: bytes, new: bytes) -> None:
        """Post a round; only what is in the ledger is released."""
        posted = self._ledger.post(settled, state, new)
        self.last = settled.round
        self._release(posted)

    def kept(self) -> Kept:
        """What the run goes on from; the statements up to there are released again."""
        kept = self._ledger.state(self._run)
        if kept is None:
            raise PigouError(
                f"the ledger holds no round of run {self._run!r} to go on from: start it without "
                "--resume, in an empty folder"
            )
        for round_ in range(kept.round + 1):
            posted = self._ledger.posted(self._run, round_)
            if posted is not None:
                self._release(posted)
        self.last = kept.round
        return Kept(kept.content, kept.history)

    def _release(self, posted: Posted) -> None:
        for signed in posted.statements:
            folder = made(self._folders[signed.statement.client])
            file = folder / f"round-{signed.statement.round}.json"
            with writing(file):
                write_statement(file, signed)


@contextmanager
def open_book(
    run: str,
    clients: Sequence[str],
    folder: Path,
    url: str | None,
    key: Path | None,
    *,
    resume: bool,
) -> Iterator[Book]:
    """The ledger at the URL, or one in the run's folder; made new, but not to resume from.

    The folder is made only if the ledger can be had.
    """
    where = url or sqlite_url(folder / "ledger.db")
    if resume:
        Ledger(where, write=False).close()  # an error where there is none
    elif url is None:
        made(folder)
    with Ledger(where, key) as ledger:
        made(folder)
        yield Book(ledger, run, clients, folder)


def _folders(clients: Sequence[str], parent: Path) -> list[Path]:
    """One per client, named after it as far as file systems allow, and distinct on any."""
    names = [_plain(client) for client in clients]
    if len({name.casefold() for name in names}) < len(names):
        names = [f"{k}-{name}" for k, name in enumerate(names)]
    return [parent / name for name in names]


def _plain(client: str) -> str:
    letters = [c if c.isalnum() or c in "-_. '" else "-" for c in client[:LONGEST_NAME]]
    return "".join(letters).strip(". ") or "client"
