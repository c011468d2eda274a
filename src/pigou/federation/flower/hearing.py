"""What a client makes of the server's message: checked, kept in the book, and learnt from."""

from dataclasses import dataclass

import numpy as np
from flwr.app import RecordDict

from pigou.errors import InvalidArgument, require
from pigou.federation.conduct import Outcome
from pigou.federation.flower import signing
from pigou.federation.flower.book import Bill, Book, Open
from pigou.federation.flower.profile import Profile
from pigou.federation.flower.records import CODEC, field, note_in
from pigou.federation.protocol import Announcement
from pigou.terms import MICRO, SignedStatement, Statement


@dataclass(frozen=True, eq=False)
class Told:
    """What the server said to one client."""

    announcement: Announcement
    statements: tuple[Statement | SignedStatement, ...]


def hear(content: RecordDict, profile: Profile) -> Told:
    """The server's words, if it signed them for this client."""
    note = note_in(content)
    announcement, statements = (field(note, name, bytes) for name in ("announcement", "statements"))
    if profile.server_key is not None:
        words = signing.told(profile.name, announcement, statements)
        signing.check(profile.server_key, field(note, "signature", bytes), words, "the server")
    said, bills = CODEC.decode(announcement), CODEC.decode(statements)
    right = isinstance(said, Announcement) and isinstance(bills, tuple)
    require(right, "message", "must hold an announcement and statements", type(said).__name__)
    listed = profile.name in said.clients
    require(listed, "announcement", f"must name {profile.name}", list(said.clients))
    return Told(said, bills)


def heard(book: Book, told: Told, profile: Profile) -> Book:
    """The book with new bills, and the lessons of the rounds that they close."""
    book = book.under(told.announcement)
    for signed in told.statements:
        bill = Bill(signed)
        if not isinstance(bill.statement, Statement) or bill.statement.client != profile.name:
            raise InvalidArgument("statement", f"must be for {profile.name}", signed)
        book = book.billed(Bill(signed, _objection(bill.statement, book)))
    now = told.announcement.round, told.announcement.attempt
    for opened in sorted(book.open, key=lambda each: each.key):
        if opened.key != now:
            book = _closed(book, opened, profile)
    return book


def _closed(book: Book, opened: Open, profile: Profile) -> Book:
    """A round's lesson, by what it cost."""
    said, cohort = opened.announcement, profile.cohort(opened.announcement, book)
    net = np.full(cohort.members.size, np.nan)
    bill = book.bill_of(said.run, said.round)
    later = any(
        each.announcement.round == said.round and each.key > opened.key for each in book.open
    )
    if bill is not None and said.terms is not None and not later:
        net[profile.row] = bill.statement.net / (MICRO * said.terms.money)
    conduct = cohort.conduct.learn(cohort.view(said), opened.play, Outcome(net))
    return book.learnt(opened, conduct)


def _objection(said: Statement, book: Book) -> str:
    """What is wrong with a bill, as far as a client can tell from its own book alone."""
    if said.round == 0:
        return ""
    uploads = {digest for each in book.open if each.key[0] == said.round for digest in each.sent}
    if said.upload not in uploads:
        return "it is not for what was uploaded"
    owed = np.rint(said.coefficient * said.deviation * MICRO)
    return "" if abs(owed - said.charge) <= 1 else f"the charge should be {owed:.0f}"
