"""What ``pigou run`` prints when a run has ended."""

import math
from pathlib import Path
from typing import TYPE_CHECKING

from pigou.cli.output import print_lines, print_table, short

if TYPE_CHECKING:
    from pigou.checks import FloatArray
    from pigou.runs import RunRecord, TreatmentRecord

HEADERS = (
    "\n",
    "\naccuracy",
    "\nloss",
    "social\ncost",
    "over\noptimum",
    "\nbudget",
    "largest\nbill",
    "epsilon,\nleast to most",
)
LABELS = {"unpriced": "Without prices", "priced": "With prices"}


def show(record: "RunRecord", folder: Path, report: Path) -> None:
    """A row per treatment, what it says, and where everything is."""
    rounds = f"{record.rounds} rounds" if record.rounds > 1 else "1 round"
    mechanism = record.scenario["mechanism"]["name"]
    title = f"{record.scenario['name']} · {rounds} · mechanism: {mechanism} · run {record.run}"
    print_lines(title, record.split, "")
    print_table(HEADERS, [_row(each, record) for each in record.treatments])
    print_lines("", *_notes(record), "", f"Files: {folder}", f"Report: {report}")


def _row(each: "TreatmentRecord", record: "RunRecord") -> list[str]:
    name, accuracy = each.name, f"{100 * each.accuracy[-1]:.1f} %"
    if not each.rounds:
        return [name, accuracy, _number(each.loss[-1]), "", "", "", "", _span(each.epsilon)]
    return [
        name,
        accuracy,
        _number(each.loss[-1]),
        _number(each.social_cost[-1]),
        _number(each.ratio[-1]),
        f"{short(each.reserve[-1])} {record.currency}",
        _largest_bill(each, record),
        _span(each.epsilon),
    ]


def _largest_bill(each: "TreatmentRecord", record: "RunRecord") -> str:
    from pigou.report.reading import called  # which brings plotly

    most = int(each.total.argmax())
    if each.total[most] <= 0:
        return "none"
    return f"{short(each.total[most])} {record.currency} ({called(record.clients[most])})"


def _number(value: float) -> str:
    return "infinite" if math.isinf(value) else short(value)


def _span(values: "FloatArray") -> str:
    least, most = _number(values.min()), _number(values.max())
    return least if least == most else f"{least} to {most}"


def _notes(record: "RunRecord") -> list[str]:
    from pigou.report.words import over_least

    notes = [
        "Accuracy on test samples and training loss: after the last round. Social cost: of the",
        "noise of the last round to everybody, in lost accuracy and lost privacy, before money.",
        "Epsilon: what all uploads of a client reveal of it; exact, at "
        f"delta = {record.delta:g}. The less, the more private.",
    ]
    told = [
        f"{LABELS[each.name]} that is {over_least(float(each.ratio[-1]))}."
        for each in record.treatments
        if each.name in LABELS and each.rounds
    ]
    notes += [" ".join(told)] if told else []
    for each in record.treatments:
        if each.stopped:
            notes.append(f"{each.name} stopped after {each.rounds} rounds: {each.stopped}.")
        if each.certificate is not None and not each.certificate.ok:
            failing = [line for line in each.certificate.text.splitlines() if "FAILS" in line]
            notes += [f"Certificate: {line}" for line in failing]
    return notes
