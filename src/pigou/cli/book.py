"""Where a run's bills go: into the ledger first, then to the clients."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pigou.cli.files import made, writing, written
from pigou.errors import PigouError
from pigou.ledger import Ledger
from pigou.ledger.documents import to_plain
from pigou.ledger.errors import LedgerUnavailable
from pigou.ledger.journal import Filter
from pigou.terms import Posted, Round

STATEMENTS = "statements.jsonl"


class Book:
    """One run's place in a ledger, and the file of the signed statements that were released."""

    def __init__(self, ledger: Ledger, run: str, folder: Path) -> None:
        self._ledger, self._run = ledger, run
        self._file = folder / STATEMENTS

    def keep(self, settled: Round, state: bytes) -> None:
        """Post a round; only what is in the ledger is released."""
        try:
            posted = self._ledger.post(settled, state)
        except LedgerUnavailable as error:
            raise LedgerUnavailable(f"{error}; to go on: --resume {self._run}") from error
        self._release(posted)

    def state(self) -> bytes:
        """What the run goes on from; the statements up to there are released again."""
        kept = self._ledger.state(self._run)
        if kept is None:
            raise PigouError(
                f"the ledger holds no round of run {self._run!r} to go on from: start it without "
                "--resume, in an empty folder"
            )
        settled = [
            sealed.entry.round
            for sealed in self._ledger.entries(Filter(self._run))
            if sealed.entry.kind != "reversal"
        ]
        written(self._file, "")
        for round_ in settled:
            posted = self._ledger.posted(self._run, round_)
            assert posted is not None
            self._release(posted)
        return kept.content

    def _release(self, posted: Posted) -> None:
        lines = [
            json.dumps(to_plain(signed), sort_keys=True, ensure_ascii=False) + "\n"
            for signed in posted.statements
        ]
        with writing(self._file), self._file.open("a", encoding="utf-8") as file:
            file.writelines(lines)


@contextmanager
def open_book(
    run: str, folder: Path, url: str | None, key: Path | None, *, resume: bool
) -> Iterator[Book]:
    """The ledger at the URL, or one in the run's folder; made new, but not to resume from.

    The folder is made only if the ledger can be had.
    """
    where = url or f"sqlite:///{folder / 'ledger.db'}"
    if resume:
        Ledger(where, write=False).close()  # an error where there is none
    elif url is None:
        made(folder)
    with Ledger(where, key) as ledger:
        made(folder)
        yield Book(ledger, run, folder)
