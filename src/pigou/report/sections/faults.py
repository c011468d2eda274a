"""Who was missing, what was refused, and what rounds had to say."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from pigou.report import look
from pigou.report.charts.audit import uploads
from pigou.report.markup import Html, chart, element, folded, paragraph, table
from pigou.report.reading import absent
from pigou.report.section import Section
from pigou.report.words import counted
from pigou.runs import RunRecord

MOST: Final = 200  # lines of a table; a summary stands above it


def faults(record: RunRecord) -> Section:
    """Everything that did not go as planned."""
    parts = [*_stopped(record), *_missing(record), *_refused(record), *_notes(record)]
    if not parts:
        parts = [paragraph("Nothing: every client uploaded in every round, nothing was refused.")]
    return Section.of("faults", "Missing clients, refusals and notes", *parts)


def _stopped(record: RunRecord) -> Iterator[Html]:
    for each in record.treatments:
        if each.stopped:
            closed = f"after {counted(each.rounds, 'round')} of {record.rounds:,}"
            how = f"The run {look.LABELS[each.name]} ended early, {closed}: {each.stopped}."
            yield element("p", how, class_="notice")


def _missing(record: RunRecord) -> Iterator[Html]:
    shown = [each for each in record.treatments if each.rounds and absent(each).any()]
    if not shown:
        return
    told = [
        f"{counted(int(absent(each).sum()), 'upload')} of "
        f"{each.rounds * len(record.clients):,} missing {look.LABELS[each.name]}"
        for each in shown
    ]
    yield paragraph(f"{'; '.join(told)}. Prices and weights are then those of whoever is there.")
    caption = "Uploads accepted in each round; those not accepted were refused or never came."
    yield chart("uploads", uploads(record), caption)


def _refused(record: RunRecord) -> Iterator[Html]:
    every = [(each.name, refusal) for each in record.treatments for refusal in each.refusals]
    if not every:
        return
    reasons = Counter(refusal.reason for _, refusal in every)
    yield paragraph(
        f"{counted(len(every), 'message')} refused. A refused message is never part of the shared "
        "model, and never billed."
    )
    yield table(["refused because it was", "messages"], [[k, v] for k, v in reasons.most_common()])
    rows = [
        [look.LABELS[name], each.round or "reports", each.client, each.reason, each.detail]
        for name, each in every[:MOST]
    ]
    headers = ["run", "round", "client", "reason", "detail"]
    yield folded(_summary("refusal", len(every)), table(headers, rows, (0, 2, 3, 4)))


def _notes(record: RunRecord) -> Iterator[Html]:
    rows = [
        [look.LABELS[each.name], t, note]
        for each in record.treatments
        for t, note in enumerate(each.notes, 1)
        if note
    ]
    if rows:
        notes = table(["run", "round", "note"], rows[:MOST], (0, 2))
        yield folded(_summary("note", len(rows)), notes)


def _summary(noun: str, many: int) -> str:
    first = f"The first {MOST} of " if many > MOST else ""
    return f"{first}{counted(many, noun)}, one by one"
