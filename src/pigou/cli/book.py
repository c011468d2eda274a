"""Where a run's bills go: into the ledger first, then to the clients."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from pigou.cli.files import writing, written
from pigou.errors import PigouError
from pigou.ledger import Ledger
from pigou.ledger.booking import to_round
from pigou.ledger.journal import Filter
from pigou.terms import Round

STATEMENTS = "statements.jsonl"


class Book:
    """One run's place in a ledger, and the file of the statements that were released."""

    def __init__(self, ledger: Ledger, run: str, folder: Path) -> None:
        self._ledger, self._run = ledger, run
        self._file = folder / STATEMENTS
        written(self._file, "")

    def keep(self, settled: Round, state: bytes) -> None:
        """Post a round; only what is in the ledger is released."""
        self._ledger.post(settled, state)
        self._release(settled)

    def state(self) -> bytes:
        """What the run goes on from; the statements up to there are released again."""
        kept = self._ledger.state(self._run)
        if kept is None:
            raise PigouError(f"the ledger holds no run {self._run!r} to go on with")
        for sealed in self._ledger.entries(Filter(self._run)):
            if sealed.entry.kind != "reversal":
                self._release(to_round(sealed.entry))
        return kept.content

    def _release(self, settled: Round) -> None:
        lines = [
            json.dumps(asdict(statement), sort_keys=True, ensure_ascii=False) + "\n"
            for statement in settled.statements
        ]
        with writing(self._file), self._file.open("a", encoding="utf-8") as file:
            file.writelines(lines)


@contextmanager
def open_book(
    run: str, folder: Path, url: str | None, key: Path | None, *, resume: bool
) -> Iterator[Book]:
    """The ledger at the URL, or one in the run's folder; made new, but not to resume from."""
    where = url or f"sqlite:///{folder / 'ledger.db'}"
    if resume:
        Ledger(where, write=False).close()  # an error where there is none
    with Ledger(where, key) as ledger:
        yield Book(ledger, run, folder)
