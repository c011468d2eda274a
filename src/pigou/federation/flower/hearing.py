"""What a client makes of the server's message: checked, kept in the book, and learnt from."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

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

ROUNDING: Final = 2**-50  # relative, of the products that make a charge


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
    _require_kept(book.contract, told.announcement)
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


def _require_kept(contract: Announcement | None, said: Announcement) -> None:
    """Terms may be revised from round to round; all else is agreed on once for a run."""
    if contract is None or contract.run != said.run:
        return
    old, new = (
        CODEC.encode(replace(each, round=0, attempt=1, largest=0.0, terms=None, error=None))
        for each in (contract, said)
    )
    require(old == new, "announcement", "must keep to the contract of its run", said.run)


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
    contract = book.contract
    if contract is None or (said.run, said.consortium, said.currency) != (
        *(contract.run, contract.consortium, contract.currency),
    ):
        return "it is not of this run, consortium and currency"
    if said.round == 0:
        return ""
    uploads = {digest for each in book.open if each.key[0] == said.round for digest in each.sent}
    if said.upload not in uploads:
        return "it is not for what was uploaded"
    if not _as_announced(said, book):
        return "its terms are not the ones that were announced"
    owed = said.coefficient * said.deviation * MICRO
    if not abs(owed - said.charge) <= 1 + abs(owed) * ROUNDING:
        return f"the charge should be {owed:.0f}"
    due = _refund(said)
    return "" if abs(due - said.refund) < 1 else f"the refund should be {float(due):.0f}"


def _as_announced(said: Statement, book: Book) -> bool:
    """Whether the coefficient is that of the terms announced; with clients absent, terms differ."""
    for opened in book.open:
        terms = opened.announcement.terms
        if opened.key[0] == said.round and terms is not None:
            place = opened.announcement.clients.index(said.client)
            if terms.digest == said.terms:
                return bool(terms.coefficient[place] == said.coefficient)
            if said.billed < np.count_nonzero(terms.active):
                return True
    return False


def _refund(said: Statement) -> Fraction:
    """An equal part of each other charge, by what the statement says of them (sections 3, 9)."""
    entitled = said.billed - said.barred
    if not said.refundable or (said.constant_refund is None and entitled < 2):
        return Fraction(0)
    if said.constant_refund is not None:
        return Fraction(said.constant_refund)
    others = said.total_charge - said.barred_charge - said.charge
    return Fraction(others, entitled - 1) + Fraction(said.barred_charge, entitled)
