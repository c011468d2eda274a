"""The chapter on Fig. 2 from training: both panels, the peaks, and the time it took."""

from typing import Final

import numpy as np

from pigou.paper.errata.record import Table
from pigou.report.words import number
from pigou.reproduce.chart import Chart, averaged
from pigou.reproduce.fig2_chapter import DIVERSE, WELL_BELOW
from pigou.reproduce.fig2_training import (
    ETAS,
    NAME,
    QUICK_SEEDS,
    SEEDS,
    TIMED,
    Trained,
    peak,
    trained,
    types,
)
from pigou.reproduce.part import Chapter, Claim, Part, Request, Sheet, Verdict
from pigou.reproduce.training_grid import Grid, accuracy_chart, mean_and_error
from pigou.reproduce.training_task import N, check, parameters, prepared, said
from pigou.reproduce.treatments import CORRECTED, GROVES, MEAN_UNPRICED, UNPRICED
from pigou.runs import Ready

X_TITLE: Final = "eta: share of clients with the lower privacy sensitivity, 0.25"
SURE: Final = 2.0  # standard errors within which a peak is where it is said to be


def make(request: Request) -> Chapter:
    """The chapter."""
    ready = prepared(request)
    found = trained(ready, types(request, QUICK_SEEDS if request.quick else SEEDS), request)
    x = np.array(ETAS)
    return Chapter(
        name=NAME,
        title="Fig. 2 from training",
        content=(
            _words(ready),
            _chart(found.grid),
            accuracy_chart(
                "fig2_training_accuracy",
                "Fig. 2, second panel: test accuracy",
                x,
                X_TITLE,
                found.grid,
            ),
            _peaks(found.grid),
            _underrated(found.grid),
            _speed(found),
        ),
        summary=_summary(found),
        parameters=parameters(ready, "figures from training"),
        claims=claims(found.grid),
    )


def _words(ready: Ready) -> str:
    return (
        f"{said(ready)} Types are 0.25 for exactly eta N clients and 0.75 for the others. The "
        "paper's mechanism is its two-type one with the corrected prices, and without the rewards, "
        "which do not move the noise. Every client chooses its noise for itself, in every round; "
        "all report truthfully, which under the paper's mechanism is not what is best for them "
        "(E9). Groves, the posted price and the menu lie almost on one another."
    )


def _chart(grid: Grid) -> Chart:
    x = np.array(ETAS)
    seeds = grid.cost[UNPRICED].shape[1]
    return Chart(
        name="fig2_training",
        title="Fig. 2 from training: social cost against the share of insensitive clients",
        caption=f"Social cost of {N} clients, the excess loss measured: mean and one standard "
        f"error either way over {seeds} seeds. A seed's noise points the same way at every eta, so "
        "that curves move up and down together.",
        x_title=X_TITLE,
        y_title="social cost, measured",
        series=tuple(averaged(name, x, cost) for name, cost in grid.cost.items()),
        log_y=True,
    )


def _peaks(grid: Grid) -> Sheet:
    columns = (
        "treatment",
        "highest mean at eta",
        "social cost there",
        "standard error",
        "peak of a parabola",
        "standard error of the peak",
        "peak by the calibrated loss",
    )
    rows = []
    for name, cost in grid.cost.items():
        k = int(np.argmax(cost.mean(axis=1)))
        top, formula = peak(ETAS, cost), peak(ETAS, grid.predicted[name])
        rows.append((name, ETAS[k], *mean_and_error(cost[k]), top.eta, top.error, formula.eta))
    caption = (
        "Where each curve is highest. Parabolas are fitted to the mean over seeds of log social "
        "cost; the last column does the same to the cost by the calibrated loss"
    )
    return Sheet("fig2_training_peaks", Table(caption, columns, tuple(rows)))


def _underrated(grid: Grid) -> str:
    low, high = grid.underrated(UNPRICED)
    least, most = grid.underrated(CORRECTED)
    return (
        f"Social cost as measured is {number(least)} to {number(most)} times that by the "
        f"calibrated loss under the paper's prices, and {number(low)} to {number(high)} times "
        "without prices: that noise is beyond the levels at which the loss was calibrated, and "
        "there the loss grows faster than the fit."
    )


def _speed(found: Trained) -> Sheet:
    batch = found.grid.batch
    runs = batch.excess.size + 1
    rows = (
        ("all in one batch", runs, batch.per_trial(), 1.0),
        ("one at a time", TIMED, found.alone, found.faster),
    )
    columns = ("way", "runs timed", "seconds per run", "times the batch's")
    caption = f"{runs} runs of this figure took {number(batch.seconds)} seconds in one batch"
    return Sheet("fig2_training_speed", Table(caption, columns, rows))


def _summary(found: Trained) -> str:
    grid, batch = found.grid, found.grid.batch
    mean = grid.ratio(MEAN_UNPRICED, GROVES)
    return (
        f"{_peak_words(grid)} {_pricing_words(grid)} With mean weights the ratio is "
        f"{number(float(mean.min()))} to {number(float(mean.max()))}, against Groves. "
        f"{batch.excess.size + 1} runs in one batch took {number(batch.per_trial())} seconds "
        f"each, one at a time {number(found.alone)}."
    )


def _peak_words(grid: Grid) -> str:
    top, formula = peak(ETAS, grid.cost[UNPRICED]), peak(ETAS, grid.predicted[UNPRICED])
    highest = ETAS[int(np.argmax(grid.cost[UNPRICED].mean(axis=1)))]
    return (
        f"In training the mean social cost without prices is highest at eta = {highest:g}; a "
        f"parabola peaks at {number(top.eta)} ± {number(top.error)}, and the same by the "
        f"calibrated loss at {number(formula.eta)}."
    )


def _pricing_words(grid: Grid) -> str:
    ratio = grid.ratio(UNPRICED, CORRECTED)
    return (
        f"Without prices it is {number(float(ratio.min()))} to {number(float(ratio.max()))} times "
        f"that with the paper's prices, most at eta = {ETAS[int(np.argmax(ratio))]:g}."
    )


def claims(grid: Grid) -> tuple[Claim, Claim]:
    """The paper's statements on the figure, judged by training."""
    top = peak(ETAS, grid.cost[UNPRICED])
    inside = Verdict.CORRECTED if ETAS[0] < top.eta < ETAS[-1] else Verdict.NOT
    there = abs(top.eta - DIVERSE) <= SURE * top.error
    diverse = Claim(
        place="Fig. 2",
        statement="In training: social cost without pricing is highest where types are most "
        "diverse (η → 0.5).",
        verdict=Verdict.REPRODUCED if there else inside,
        evidence=_peak_words(grid),
        tests=(
            "tests/reproduce/test_fig2_training.py::test_the_unpriced_curve_rises_and_falls",
            "tests/reproduce/test_fig2_training.py::test_the_shape_holds_on_mnist",
        ),
    )
    ratio = grid.ratio(UNPRICED, CORRECTED)
    pricing = Claim(
        place="Fig. 2",
        statement="In training: the pricing scheme reduces the social cost significantly.",
        verdict=Verdict.REPRODUCED if ratio.min() > 1.0 / WELL_BELOW else Verdict.NOT,
        evidence=f"{_pricing_words(grid)} Prices are the corrected ones, and clients truthful; "
        "truth is not an equilibrium of the scheme (E9).",
        tests=("tests/reproduce/test_fig2_training.py::test_prices_save_at_every_eta",),
    )
    return diverse, pricing


FIG2_TRAINING: Final = Part(NAME, make, check)
