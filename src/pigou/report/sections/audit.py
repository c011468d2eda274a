"""What the noise audit found."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from pigou.report import look
from pigou.report.charts import audit as charts
from pigou.report.crowd import NAMED
from pigou.report.markup import Html, chart, paragraph
from pigou.report.reading import client_name, flagged, main, named
from pigou.report.section import Section
from pigou.report.words import counted, percent
from pigou.runs import RunRecord, TreatmentRecord

MOST: Final = 60  # rows of the map where not all clients are on it


def audit(record: RunRecord) -> Section:
    """Whose noise was not as announced, in which rounds."""
    shown, title = main(record), "Noise audit"
    if shown is None:
        return Section.of("audit", title, paragraph("Nothing with noise was uploaded."))
    return Section.of(
        "audit",
        title,
        paragraph(_rule(record, shown)),
        paragraph(" ".join(_found(record, shown))),
        *_charts(record, shown),
    )


def _rule(record: RunRecord, shown: TreatmentRecord) -> str:
    told = (
        "Nobody shows how much noise it added, but the distances between uploads do: the audit "
        "tests each client's in every round, and in all rounds so far together"
    )
    if shown.target is None:
        return (
            f"{told}. No noise was announced ({look.LABELS[shown.name]}), so that each client is "
            "compared with the bulk of the others. That is a rule of thumb: no error rate is "
            "guaranteed, and honest clients of unusual type are flagged too."
        )
    return (
        f"{told}, against the announced noise. The chance that it ever flags any honest client in "
        f"the run is at most {percent(record.family_error)}, if the differences between honest "
        f"updates are as stated or measured and small beside the noise. {_penalty(record)}"
    )


def _penalty(record: RunRecord) -> str:
    table: Any = record.scenario.get("audit")
    barred = isinstance(table, dict) and bool(table.get("bar_refund"))
    return (
        "In this run, a client that fails it gets no refund for that round; the money goes to the "
        "others."
        if barred
        else "In this run, failing it has no consequence for the bill."
    )


def _found(record: RunRecord, shown: TreatmentRecord) -> Iterator[str]:
    found = flagged(shown)
    who = np.flatnonzero(found.any(axis=0))
    if not who.size:
        yield "No client was flagged in any round."
        return
    first = int(np.flatnonzero(found.any(axis=1))[0]) + 1
    yield (
        f"Flagged at least once: {named(record, who)} ({who.size:,} of "
        f"{counted(len(record.clients), 'client')}), first in round {first}."
    )
    often = who[np.argsort(-found[:, who].sum(axis=0), kind="stable")]
    most = int(found[:, often[0]].sum())
    name = client_name(record, often[0])
    yield f"Most often: {name}, in {most:,} of {counted(shown.rounds, 'round')}."


def _charts(record: RunRecord, shown: TreatmentRecord) -> Iterator[Html]:
    n, found = len(record.clients), flagged(shown).sum(axis=0)
    caption = "What the audit says of each client in each round"
    who = list(range(n))
    if n > NAMED:
        yield chart("flag-counts", charts.flag_counts(shown), "How many clients got which flag.")
        ranked = np.argsort(-found, kind="stable")
        who = ranked[: min(MOST, int((found > 0).sum()))].tolist()
        caption += ", for those flagged most often; the others are not drawn"
    if who:
        yield chart("flags", charts.flag_map(record, shown, who), f"{caption}.")
