"""Noise chosen against noise announced."""

import numpy as np

from pigou.report.charts.noise_by_client import noise_by_client, on_log_axis
from pigou.report.charts.noise_by_round import FEW, noise_by_round
from pigou.report.crowd import EACH, GROUPS, NAMED
from pigou.report.markup import Html, chart, paragraph
from pigou.report.reading import main, noisy, of_target
from pigou.report.section import Section
from pigou.report.words import counted, number
from pigou.runs import RunRecord, TreatmentRecord

CLOSE = 0.05  # within this share of the target counts as on target


def noise(record: RunRecord) -> Section:
    """Who added how much noise."""
    shown, title = main(record), "Noise chosen and noise announced"
    if shown is None or not np.isfinite(shown.sigma).any():
        return Section.of("noise", title, paragraph("Nobody uploaded anything with noise."))
    return Section.of(
        "noise",
        title,
        paragraph(_words(shown)),
        *_not_drawn(record),
        chart("noise-by-client", noise_by_client(record), _by_client(len(record.clients))),
        chart("noise-by-round", noise_by_round(record), _by_round(len(record.clients))),
    )


def _words(treatment: TreatmentRecord) -> str:
    if treatment.name == "unpriced":
        return "This run had no prices, and so announced no noise to aim at."
    if treatment.target is None:
        return "This mechanism announces prices only, and no noise to aim at."
    ratios = of_target(treatment)
    known = ratios[np.isfinite(ratios)]
    if not known.size:
        return "Nobody who was told how much noise to add uploaded anything."
    near = int((np.abs(known - 1.0) <= CLOSE).sum())
    return (
        f"With prices, {near:,} of {counted(known.size, 'client')} were within "
        f"{100 * CLOSE:g} % of the announced noise in their last upload; noise over target was "
        f"{number(float(np.median(known)))} in the middle, from {number(float(known.min()))} to "
        f"{number(float(known.max()))}."
    )


def _not_drawn(record: RunRecord) -> list[Html]:
    zero = sum(int((each.sigma == 0).any(axis=0).sum()) for each in noisy(record))
    endless = sum(int(np.isinf(each.sigma).any(axis=0).sum()) for each in noisy(record))
    told = []
    if zero and on_log_axis(record):
        told.append("Noise of 0 cannot stand on a log axis: where it was added, a dot is missing.")
    if endless:
        told.append("Unlimited noise is not drawn.")
    return [paragraph(" ".join(told))] if told else []


def _by_client(n: int) -> str:
    if n <= NAMED:
        return "Standard deviation, per number of the model, of each client's last upload."
    if n <= EACH:
        return "Standard deviation of each client's last upload; every dot is one client."
    each = f"{GROUPS} groups of like clients"
    return f"Standard deviation of last uploads, {each}: median, and a bar over the middle 90 %."


def _by_round(n: int) -> str:
    if n <= FEW:
        return "The same across rounds, one panel per client."
    return "The same across rounds: the median client, shaded from the 5th to the 95th percentile."
