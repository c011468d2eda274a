"""A client's own book: its contract, what it released, and its bills, in a file of its own.

The file is the truth and outlives the node; Flower's ``Context.state`` only caches it, and stands
in for it in simulations. The book is idempotent: a bill counts once per run and round, a release
once per upload, and a round that is asked for again gets the play that was chosen first.
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

import numpy as np
from flwr.app import ConfigRecord, Context

from pigou.errors import PigouError
from pigou.federation.conduct import CONDUCTS, Conduct, Play
from pigou.federation.flower.records import MESSAGE_CLASSES
from pigou.federation.protocol import Announcement
from pigou.federation.wire import Codec
from pigou.privacy import PrivacyAccount
from pigou.privacy.account import Adjacency
from pigou.terms import SignedStatement, Statement

STATE: Final = "pigou-book"


@dataclass(frozen=True)
class Release:
    """One upload of the client's own data, which has cost privacy whether it arrived or not."""

    run: str
    round: int
    attempt: int
    sigma: float
    upload: str  # digest
    clip: float  # that held then


@dataclass(frozen=True)
class Bill:
    """A statement as it came, and what is wrong with it; empty if nothing is."""

    signed: Statement | SignedStatement
    objection: str = ""

    @property
    def statement(self) -> Statement:
        """The statement itself."""
        return self.signed if isinstance(self.signed, Statement) else self.signed.statement


@dataclass(frozen=True, eq=False)
class Open:
    """A round that was played, from what was announced until its bill is known."""

    announcement: Announcement
    play: Play
    sent: tuple[str, ...] = ()  # digests of what was uploaded

    @property
    def key(self) -> tuple[int, int]:
        """Round and attempt."""
        return self.announcement.round, self.announcement.attempt


@dataclass(frozen=True, kw_only=True, eq=False)
class Book:
    """Everything that a client keeps."""

    client: str
    contract: Announcement | None = None  # as last announced, terms included
    releases: tuple[Release, ...] = ()
    bills: tuple[Bill, ...] = ()
    open: tuple[Open, ...] = ()  # of the contract's run
    conduct: Conduct | None = None  # what it has learnt in that run

    @classmethod
    def read(cls, path: Path) -> "Book":
        """The book in a file."""
        try:
            book = codec().decode(path.read_bytes())
        except OSError as error:
            raise PigouError(f"book {path} cannot be read: {error.strerror}") from error
        if not isinstance(book, Book):
            raise PigouError(f"book {path} holds no book")
        return book

    def bill_of(self, run: str, round_: int) -> Bill | None:
        """The bill of a round."""
        mine = (b for b in self.bills if (b.statement.run, b.statement.round) == (run, round_))
        return next(mine, None)

    def account(self, clip: float, adjacency: Adjacency = "zero-out") -> PrivacyAccount:
        """What all releases reveal together, of whatever run."""
        return PrivacyAccount(clip, adjacency, self._noise(clip))

    def precision(self, clip: float) -> float:
        """sum 1 / sigma^2 over the releases (section 8)."""
        with np.errstate(divide="ignore"):
            return float((1.0 / np.square(self._noise(clip))).sum())

    def _noise(self, clip: float) -> tuple[float, ...]:
        """What each release would carry at this clip: S / sigma alone counts (section 8)."""
        return tuple(each.sigma * (clip / each.clip) for each in self.releases)

    def under(self, contract: Announcement) -> Self:
        """The book under what is announced now; another run starts afresh, but for the account."""
        if self.contract is not None and self.contract.run == contract.run:
            return replace(self, contract=contract)
        return replace(self, contract=contract, open=(), conduct=None)

    def billed(self, bill: Bill) -> Self:
        """With one more bill; the first of a round counts."""
        told = bill.statement
        known = self.bill_of(told.run, told.round) is not None
        return self if known else replace(self, bills=(*self.bills, bill))

    def released(self, release: Release) -> Self:
        """With one more release; the very same upload reveals nothing new."""
        known = release in self.releases
        return self if known else replace(self, releases=(*self.releases, release))

    def opened(self, key: tuple[int, int]) -> Open | None:
        """The play of a round and attempt that is not done with."""
        return next((each for each in self.open if each.key == key), None)

    def played(self, now: Open) -> Self:
        """With a play to be billed, in place of the one of the same round and attempt."""
        left = tuple(each for each in self.open if each.key != now.key)
        return replace(self, open=(*left, now))

    def learnt(self, closed: Open, conduct: Conduct) -> Self:
        """With a play done with, and what it taught."""
        left = tuple(each for each in self.open if each.key != closed.key)
        return replace(self, open=left, conduct=conduct)


def codec(*own: type) -> Codec:
    """Bytes for books; conducts of one's own must be named."""
    known = (Book, Release, Bill, Open, Play, *CONDUCTS.values(), *MESSAGE_CLASSES)
    return Codec([*known, *own])


class Shelf:
    """Where a book is kept: its file, with the context as a cache, or the context alone."""

    def __init__(
        self, client: str, path: Path | None, context: Context, codec: Codec, name: str = ""
    ) -> None:
        self._client, self._path, self._context, self._codec = client, path, context, codec
        self._name = f"{STATE} {name}"

    def change(self, edit: Callable[[Book], Book]) -> Book:
        """Edit the book as it stands now; whoever else has it open waits."""
        with _alone(self._path):
            book = edit(self.take())
            self.put(book)
        return book

    def take(self) -> Book:
        """The book as it stands; a new one where there is none."""
        content = self._content()
        book = Book(client=self._client) if content is None else self._codec.decode(content)
        if not isinstance(book, Book) or book.client != self._client:
            raise PigouError(f"book {self._path} is not that of {self._client}")
        return book

    def put(self, book: Book) -> None:
        """Keep the book: in the file, whole and on the disk, before this returns."""
        content = self._codec.encode(book)
        if self._path is not None:
            _write(self._path, content)
        self._context.state[self._name] = ConfigRecord({"book": content})

    def _content(self) -> bytes | None:
        if self._path is not None:
            try:
                return self._path.read_bytes()
            except FileNotFoundError:
                if self._name in self._context.state.config_records:
                    told = f"book {self._path} is gone: put it back, it knows what was released"
                    raise PigouError(told) from None
                return None
            except OSError as error:
                raise PigouError(f"book {self._path} cannot be read: {error.strerror}") from error
        kept = self._context.state.config_records.get(self._name)
        held = None if kept is None else kept.get("book")
        return held if isinstance(held, bytes) else None


@contextmanager
def _alone(path: Path | None) -> Iterator[None]:
    """Nobody else changes books in this folder meanwhile, in whatever process."""
    if path is None:
        yield
        return
    import fcntl  # only real nodes need it, and those do not run on Windows

    try:
        folder = os.open(path.parent, os.O_RDONLY)
    except OSError as error:
        raise PigouError(f"book {path} cannot be written: {error.strerror}") from error
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
        os.fsync(folder)  # or a power cut might bring the old file back
    finally:
        os.close(folder)


def _write(path: Path, content: bytes) -> None:
    """Replace a file by one that is whole, or leave it as it was."""
    try:
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(part).replace(path)
    except OSError as error:
        raise PigouError(f"book {path} cannot be written: {error.strerror}") from error
