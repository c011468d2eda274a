"""What came out: three sentences, a table, and what to look at first."""

from collections.abc import Callable, Iterator

import numpy as np

from pigou.report import look
from pigou.report.markup import Html, bullets, element, joined, link, paragraph, table
from pigou.report.reading import (
    absent,
    billed,
    find,
    flagged,
    last_noise,
    main,
    named,
    noisy,
    ratio,
)
from pigou.report.section import Section
from pigou.report.words import SIGMA, counted, listed, money, number, over_least, percent, span
from pigou.runs import RunRecord, TreatmentRecord
from pigou.runs.record import exact_sum


def outcome(record: RunRecord) -> Section:
    """The run in brief."""
    if not any(each.rounds for each in record.treatments):
        nothing = paragraph("No round was closed: there is no outcome to tell.")
        return Section.of("outcome", "What came out", nothing, _notices(record))
    sentences = (_accuracy(record), _cost(record), _money(record))
    chance = "This is one run with one draw of noise: small differences can be chance."
    told = element("p", " ".join(sentences), class_="lead")
    return Section.of(
        "outcome", "What came out", told, _table(record), paragraph(chance), _notices(record)
    )


def _accuracy(record: RunRecord) -> str:
    parts = [
        f"{percent(float(each.accuracy[-1]))} {look.LABELS[each.name]}"
        for each in record.treatments
        if each.rounds
    ]
    rounds = {each.rounds for each in record.treatments if each.rounds}
    when = counted(rounds.pop(), "round") if len(rounds) == 1 else "its last round"
    share = "this share of the test samples right"
    return f"After {when} the shared model gets {share}: {listed(parts)}."


def _cost(record: RunRecord) -> str:
    parts = [
        f"{over_least(float(ratio(each)[-1]))} {look.LABELS[each.name]}"
        for each in reversed(noisy(record))
    ]
    if not parts:
        return "Without noise nobody's privacy is protected, and no social cost is compared."
    return f"Lost accuracy and lost privacy of everybody together cost {listed(parts)}."


def _money(record: RunRecord) -> str:
    priced = find(record, "priced")
    if priced is None:
        return "Nobody was billed: no round with prices was run."
    if not billed(priced):
        return "Nobody was billed, although there were prices."
    charged, refunded, reserve = _sums(priced)
    told = f"Clients were charged {money(charged, record.currency)} and refunded "
    told += f"{money(refunded, record.currency)} in all; "
    if reserve == 0:
        return told + "nothing is left over."
    whom = "the reserve received" if reserve > 0 else "the reserve had to add"
    return told + f"{whom} {money(abs(reserve), record.currency)}."


def _sums(treatment: TreatmentRecord) -> tuple[float, float, float]:
    """Charged, refunded, and what the reserve holds after the last round."""
    paid = (exact_sum(np.nan_to_num(each).ravel(), 0) for each in _amounts(treatment))
    charged, refunded = (float(each) for each in paid)
    return charged, refunded, float(treatment.reserve[-1])


def _amounts(treatment: TreatmentRecord) -> tuple[np.ndarray, np.ndarray]:
    return treatment.charge, treatment.refund


def _table(record: RunRecord) -> Html:
    shown = [each for each in record.treatments if each.rounds]
    rows = [[name, *(value(each) for each in shown)] for name, value in _rows(record)]
    return table(["", *(look.LABELS[each.name] for each in shown)], rows)


def _rows(record: RunRecord) -> Iterator[tuple[str, Callable[[TreatmentRecord], str]]]:
    yield "test accuracy, at the end", lambda each: percent(float(each.accuracy[-1]))
    yield "training loss, at the end", lambda each: number(float(each.loss[-1]))
    yield f"noise {SIGMA}, last upload", lambda each: span(last_noise(each))
    yield "social cost, last round", lambda each: number(float(each.social_cost[-1]))
    yield "… the least possible", lambda each: number(each.optimum)
    yield "… times the least, last round", lambda each: number(float(ratio(each)[-1]))
    yield "… times the least, all rounds", lambda each: number(float(ratio(each).mean()))
    yield f"privacy loss ε at δ = {record.delta:g}", lambda each: span(each.epsilon)
    for name, k in (("charged", 0), ("refunded", 1), ("left in the reserve", 2)):
        yield f"{name}, {record.currency}", lambda each, k=k: _cell(each, k)  # type: ignore[misc]


def _cell(treatment: TreatmentRecord, k: int) -> str:
    return number(_sums(treatment)[k]) if billed(treatment) else "nothing"


def _notices(record: RunRecord) -> Html:
    """What a reader should not miss."""
    items = [notice for each in record.treatments for notice in _stops(each)]
    shown = main(record)
    if shown is not None:
        items += list(_troubles(record, shown))
    return joined([element("h3", "Look at this first"), bullets(items)]) if items else Html("")


def _stops(treatment: TreatmentRecord) -> Iterator[Html]:
    if treatment.stopped:
        how = f"The run {look.LABELS[treatment.name]} ended early: {treatment.stopped}."
        yield joined([how, " ", link("faults", "Details")])


def _troubles(record: RunRecord, shown: TreatmentRecord) -> Iterator[Html]:
    certificate = shown.certificate
    if certificate is not None and not certificate.ok:
        yield joined(["The ", link("certificate", "certificate"), " does not hold."])
    caught = np.flatnonzero(flagged(shown).any(axis=0))
    if caught.size:
        told = f" flagged {counted(caught.size, 'client')}: {named(record, caught)}."
        yield joined(["The ", link("audit", "noise audit"), told])
    missing, refused = int(absent(shown).sum()), len(shown.refusals)
    if missing or refused:
        many = ", ".join(
            f"{counted(count, noun)} {what}"
            for count, noun, what in (
                (missing, "upload", "missing"),
                (refused, "message", "refused"),
            )
            if count
        )
        yield joined([f"{many}: ", link("faults", "who was missing or refused"), "."])
    bare = int(np.isinf(shown.epsilon).sum())
    if bare:
        told = f"{counted(bare, 'client')} sent an update without noise: no privacy at all ("
        yield joined([told, link("privacy", "privacy"), ")."])
