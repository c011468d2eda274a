"""From a settled round to its entry: all checks come before the book is touched."""

import math
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from pigou.errors import InvalidArgument, require
from pigou.ledger.entry import (
    LARGEST,
    OWN,
    SHARED,
    Entry,
    Sealed,
    lines_of,
    own_of,
    shared_of,
    totals,
)
from pigou.terms import Round, Statement


def of_round(settled: Round) -> Entry:
    """The entry of a round; a typed error where the round is not one to be booked."""
    _check_round(settled)
    statements = tuple(sorted(settled.statements, key=attrgetter("client")))
    lines = lines_of(settled.consortium, statements)
    turnover = sum(abs(line.amount) for line in lines)
    require(turnover <= LARGEST, "round", "must move less than 2^63 micro-units", turnover)
    return Entry(
        consortium=settled.consortium,
        run=settled.run,
        round=settled.round,
        kind=settled.kind,
        currency=settled.currency,
        terms=settled.terms,
        mean=statements[0].mean if statements else "",
        constant_refund=statements[0].constant_refund if statements else None,
        postings=lines,
        statements=statements,
    )


def reversal(of: Sealed, reason: str) -> Entry:
    """The entry that takes another one back: the same lines with the opposite sign."""
    text("reason", reason)
    require(of.entry.kind != "reversal", "round", "must not be a reversal", of.entry.title)
    return Entry(
        consortium=of.entry.consortium,
        run=of.entry.run,
        round=of.entry.round,
        kind="reversal",
        currency=of.entry.currency,
        terms=of.entry.terms,
        reverses=of.number,
        reason=reason,
        postings=tuple(line._replace(amount=-line.amount) for line in of.entry.postings),
        statements=(),
    )


def to_round(entry: Entry) -> Round:
    """The round that an entry was made of."""
    reserve = sum(statement.net for statement in entry.statements)
    return Round(
        consortium=entry.consortium,
        run=entry.run,
        round=entry.round,
        kind="transfers" if entry.kind == "transfers" else "round",
        currency=entry.currency,
        terms=entry.terms,
        statements=entry.statements,
        reserve=reserve,
    )


def text(argument: str, value: object) -> None:
    """Printable text, not empty: what every database takes and shows as it is."""
    require(_named([value]), argument, "must be printable text, not empty", value)


Column = Sequence[Any]  # one field of all statements: rules look at whole columns, for speed


def _named(values: Column) -> bool:
    return _printable(values) and all(values)


def _printable(values: Column) -> bool:
    try:
        return "".join(values).isprintable()
    except TypeError:
        return False


def _whole(values: Column) -> bool:
    return _only(int, values) and min(values) >= -LARGEST and max(values) <= LARGEST


def _finite(values: Column) -> bool:
    return _only(float, values) and all(map(math.isfinite, values))


def _truth(values: Column) -> bool:
    return _only(bool, values)


def _only(kind: type, values: Column) -> bool:
    return set(map(type, values)) == {kind}


OWN_RULES: tuple[tuple[str, Callable[[Column], bool], str], ...] = (
    ("client", _named, "must be printable text, not empty"),
    ("upload", _printable, "must be printable text"),
    ("deviation", _finite, "must be a finite float"),
    ("coefficient", _finite, "must be a finite float"),
    ("charge", _whole, "must be an integer of 64 bits"),
    ("refund", _whole, "must be an integer of 64 bits"),
    ("refundable", _truth, "must be true or false"),
)


def _check_round(settled: Round) -> None:
    for name in ("consortium", "run", "currency", "terms"):
        text(name, getattr(settled, name))
    for name in ("round", "reserve"):
        value = getattr(settled, name)
        require(_whole([value]), name, "must be an integer of 64 bits", value)
    known = settled.kind in ("round", "transfers")
    require(known, "kind", 'must be "round" or "transfers"', settled.kind)
    fits = settled.round >= 1 if settled.kind == "round" else settled.round == 0
    require(fits, "round", "must be 1 or more, and 0 for transfers", settled.round)
    if settled.statements:
        _check_own(settled.statements)
    names = {statement.client for statement in settled.statements}
    constraint = "must hold one statement per client"
    require(len(names) == len(settled.statements), "statements", constraint, len(names))
    owed = sum(statement.charge - statement.refund for statement in settled.statements)
    require(
        owed == settled.reserve, "reserve", f"must equal the clients' sum, {owed}", settled.reserve
    )
    if settled.statements:
        _check_shared(settled)


def _check_own(statements: tuple[Statement, ...]) -> None:
    """This runs for every client of every round."""
    columns = dict(zip(OWN, zip(*map(own_of, statements), strict=True), strict=True))
    for name, holds, constraint in OWN_RULES:
        if not holds(columns[name]):
            bad = next(each for each in statements if not holds([getattr(each, name)]))
            raise InvalidArgument(f"{name} of {bad.client!r}", constraint, getattr(bad, name))


def _check_shared(settled: Round) -> None:
    """All statements must say the same of the round, and what they say of all must be so."""
    first = settled.statements[0]
    require(_printable([first.mean]), "mean", "must be printable text", first.mean)
    constant = first.constant_refund
    fits = constant is None or _whole([constant])
    require(fits, "constant_refund", "must be an integer of 64 bits, or None", constant)
    charges = [(each.charge, each.refundable) for each in settled.statements]
    true: dict[str, Any] = {
        "consortium": settled.consortium,
        "run": settled.run,
        "round": settled.round,
        "terms": settled.terms,
        "currency": settled.currency,
        "mean": first.mean,
        "constant_refund": first.constant_refund,
        **totals(settled.kind, charges),
    }
    wanted = tuple(true[name] for name in SHARED)
    if all(map(wanted.__eq__, map(shared_of, settled.statements))):
        return
    bad = next(each for each in settled.statements if shared_of(each) != wanted)
    name = next(name for name in SHARED if getattr(bad, name) != true[name])
    constraint = f"must be {true[name]!r}, as the round has it"
    raise InvalidArgument(f"{name} of {bad.client!r}", constraint, getattr(bad, name))
