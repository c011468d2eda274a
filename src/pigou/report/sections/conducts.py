"""How clients fared by how they behaved: who broke the rules, what it gained, who was caught."""

import numpy as np

from pigou.checks import BoolArray
from pigou.report import look
from pigou.report.glossary import BY_THE_RULES, CONDUCTS
from pigou.report.markup import Html, paragraph, table, text
from pigou.report.reading import billed, flagged, last_noise, main
from pigou.report.section import Section
from pigou.report.words import SIGMA, counted, net, places, span
from pigou.runs import RunRecord, TreatmentRecord

TITLE = "Who broke the rules, and what came of it"


def conducts(record: RunRecord) -> Section:
    """One row per conduct."""
    shown = main(record)
    if shown is None:
        return Section.of("conducts", TITLE, paragraph("Nothing with noise was uploaded."))
    breaking = [name for name in dict.fromkeys(shown.conducts) if name not in BY_THE_RULES]
    if not breaking:
        nobody = "Nobody: every simulated client played by the rules."
        return Section.of("conducts", TITLE, paragraph(nobody, " ", _pointer()))
    intro = (
        "Some simulated clients were told to break the rules. Amounts are the mean per client for "
        "the whole run; beside them, how that compares with the mean of those who play by the "
        "rules in the same run. Honest clients of another type or size are billed differently "
        "too, so that only the same run with these clients honest shows the gain in full."
    )
    return Section.of(
        "conducts", TITLE, paragraph(intro), _table(record, shown), paragraph(_pointer())
    )


def _pointer() -> Html:
    return text("A simulation knows how its clients behave. A server sees the audit only.")


def _table(record: RunRecord, shown: TreatmentRecord) -> Html:
    names = sorted(set(shown.conducts), key=lambda name: (name not in BY_THE_RULES, name))
    headers = [
        "conduct",
        "clients",
        f"noise {SIGMA}, last upload",
        "net bill, mean",
        "beside the honest",
    ]
    headers += [f"privacy loss ε, {look.LABELS[shown.name]}", "caught by the audit"]
    rows = [_row(record, shown, name) for name in names]
    return table(headers, rows, words=(0, 2, 3, 4, 5, 6))


def _row(record: RunRecord, shown: TreatmentRecord, name: str) -> list[object]:
    conduct = np.array(shown.conducts)
    who = conduct == name
    honest = np.isin(conduct, BY_THE_RULES)
    meaning = f": {CONDUCTS[name]}" if name in CONDUCTS else ""
    return [
        f"{name}{meaning}",
        int(who.sum()),
        span(last_noise(shown)[who], 3),
        *_money(record, shown, who, honest),
        span(shown.epsilon[who], 3),
        _caught(flagged(shown)[:, who]),
    ]


def _money(
    record: RunRecord, shown: TreatmentRecord, who: BoolArray, honest: BoolArray
) -> tuple[str, str]:
    """Mean net bill, and how it compares with that of the honest."""
    if not billed(shown):
        return "nobody is billed", "—"
    decimals = places(shown.total)
    mean = float(shown.total[who].mean())
    owes = net(round(mean, decimals), decimals, record.currency)
    if bool(honest[who].all()) or not honest.any():
        return owes, "—"
    gain = round(float(shown.total[honest].mean()) - mean, decimals)
    better = "better" if gain > 0 else "worse"
    beside = f"{abs(gain):,.{decimals}f} {record.currency} {better} off" if gain else "the same"
    return owes, beside


def _caught(found: BoolArray) -> str:
    """In words, from (rounds, clients)."""
    total, n = found.shape
    rounds = np.flatnonzero(found.any(axis=1))
    if not rounds.size:
        return "no"
    ever = f"{int(found.any(axis=0).sum()):,} of {counted(n, 'client')}"
    return f"{ever}, in {rounds.size:,} of {counted(total, 'round')}, first in {rounds[0] + 1}"
