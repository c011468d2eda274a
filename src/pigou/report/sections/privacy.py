"""What each client's uploads reveal of it."""

from collections.abc import Iterator

import numpy as np

from pigou.report import look
from pigou.report.charts import privacy as charts
from pigou.report.glossary import ADJACENCY
from pigou.report.markup import Html, bullets, chart, paragraph
from pigou.report.reading import main, noisy
from pigou.report.section import Section
from pigou.report.sections.people import people
from pigou.report.words import SIGMA, counted, number
from pigou.runs import RunRecord, TreatmentRecord


def privacy(record: RunRecord) -> Section:
    """Exact epsilon per client after all rounds, and the paper's figure beside it."""
    shown, title = main(record), "Privacy of each client"
    if shown is None:
        return Section.of("privacy", title, paragraph("Nobody uploaded anything with noise."))
    hidden = ADJACENCY.get(record.adjacency, record.adjacency)
    intro = (
        f"What is hidden: {hidden}. With privacy loss ε, whoever sees all uploads of the run can "
        "hardly tell: either answer makes any sight at most e^ε times likelier than the other, but "
        f"for a chance of δ = {record.delta:g}. The smaller ε, the better; below 1 is strong, "
        "above 10 says little."
    )
    scope = (
        "This is about the whole update of one client. It says nothing finer about single "
        "patients or records: that would need an argument about the local training, which "
        "clipping the update does not give. Here noise is drawn from a seed, as in every "
        "simulation; in a real federation it must not be, or the seed undoes it."
    )
    return Section.of(
        "privacy",
        title,
        paragraph(intro),
        paragraph(scope),
        bullets(_notes(record, shown)),
        *_chart(record),
        _table(record, shown),
    )


def _notes(record: RunRecord, shown: TreatmentRecord) -> Iterator[str]:
    n, words = len(record.clients), look.LABELS[shown.name]
    held = int(shown.paper_condition.sum())
    yield (
        f"Beside it, the paper's figure cS/{SIGMA} of each client's least noisy upload. It speaks "
        f"of one round, not of {shown.rounds:,}, and its proof needs a figure below 1: that held "
        f"for {held:,} of {counted(n, 'client')} ({words})."
    )
    for each in noisy(record):
        name = look.LABELS[each.name]
        bare, nothing = int(np.isinf(each.epsilon).sum()), int((each.epsilon == 0).sum())
        if bare:
            yield f"{counted(bare, 'client')}, {name}: ε is infinite, an upload had no noise."
        if nothing:
            yield f"{counted(nothing, 'client')}, {name}: ε is 0, nothing private was sent."


def _chart(record: RunRecord) -> list[Html]:
    if not any(np.isfinite(charts.drawn(each.epsilon)).any() for each in noisy(record)):
        return [paragraph("No client's ε is finite and above 0: there is nothing to draw.")]
    caption = (
        f"Privacy loss after all rounds at δ = {record.delta:g}, and the paper's figure for one "
        "round. ε of 0 or infinity is not drawn."
    )
    return [chart("epsilon", charts.epsilon(record), caption)]


def _table(record: RunRecord, shown: TreatmentRecord) -> Html:
    headers = ["client", *(f"exact ε, {look.LABELS[each.name]}" for each in noisy(record))]
    headers += [f"the paper's cS/{SIGMA}", "its condition"]

    def row(i: int) -> list[object]:
        exact = [number(float(each.epsilon[i])) for each in noisy(record)]
        held = "held" if shown.paper_condition[i] else "did not hold"
        return [*exact, number(float(shown.paper_epsilon[i])), held]

    return people(record, headers, row, shown.epsilon, words=(len(headers) - 1,))
