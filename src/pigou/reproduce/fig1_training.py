"""Fig. 1 from training: social cost, its excess loss measured, against the variance of the types.

The widths are some of those of the figure from the formulas, and so is the draw of the types: a
normal with mean 0.5, truncated to (0, 1). One seed's types at all widths are the same quantiles.
"""

from typing import Final

import numpy as np

from pigou.checks import FloatArray
from pigou.game import Game
from pigou.paper.errata.record import Cell, Table
from pigou.population import TruncatedNormal
from pigou.report.words import number
from pigou.reproduce.chart import MIDDLE_SHARE, Chart, banded
from pigou.reproduce.fig1 import FLAT, MEAN, STEEP, WIDTHS
from pigou.reproduce.part import Chapter, Claim, Part, Request, Sheet, Verdict
from pigou.reproduce.training import Trial, trial
from pigou.reproduce.training_grid import Grid, Plan, accuracy_chart, run, told
from pigou.reproduce.training_task import ROUNDS, N, check, parameters, prepared, said
from pigou.reproduce.treatments import (
    CORRECTED,
    GROVES,
    MEAN_UNPRICED,
    POSTED,
    PRINTED,
    UNPRICED,
)
from pigou.runs import Ready

NAME: Final = "fig1-training"
TRAINED_WIDTHS: Final = WIDTHS[::2]
TREATMENTS: Final = (UNPRICED, PRINTED, CORRECTED, MEAN_UNPRICED, GROVES, POSTED)
SEEDS, QUICK_SEEDS = 10, 2
X_TITLE: Final = "realised variance of the privacy sensitivities alpha"


def types(request: Request, seeds: int) -> FloatArray:
    """alpha of every width, seed and client."""
    populations = [TruncatedNormal(MEAN, width) for width in TRAINED_WIDTHS]
    return np.array(
        [
            [each.sample(N, request.generator(f"{NAME} {seed}")) for seed in range(seeds)]
            for each in populations
        ]
    )


def plan(ready: Ready, alpha: FloatArray, names: tuple[str, ...] = TREATMENTS) -> Plan:
    """These treatments of all these types."""

    def at(treatment: str, point: int, seed: int) -> Trial:
        return trial(treatment, Game(ready.setting, alpha[point, seed]), ROUNDS, seed)

    return Plan(names, alpha.shape[0], alpha.shape[1], at)


def growth(curve: FloatArray) -> float:
    """The median at the largest variance over that at the smallest."""
    median = np.median(curve, axis=1)
    return float(median[-1] / median[0])


def make(request: Request) -> Chapter:
    """The chapter."""
    ready = prepared(request)
    alpha = types(request, QUICK_SEEDS if request.quick else SEEDS)
    here = plan(ready, alpha)
    grid = run(ready.task, here, told(request, NAME, f"{here.runs} runs at once"))
    x = alpha.var(axis=2).mean(axis=1)
    return Chapter(
        name=NAME,
        title="Fig. 1 from training",
        content=(
            _words(ready),
            _chart(x, grid),
            accuracy_chart(
                "fig1_training_accuracy", "Fig. 1, second panel: test accuracy", x, X_TITLE, grid
            ),
            _sheet(grid),
        ),
        summary=_summary(grid),
        parameters=parameters(ready, "figures from training"),
        claims=(claim(grid),),
    )


def _words(ready: Ready) -> str:
    return (
        f"{said(ready)} Every client chooses its noise for itself under the prices that are "
        "posted, in every round. Accuracy is counted as the training loss that was measured at "
        "the end, above that of the same training without noise; privacy costs are the mean over "
        "rounds. Nothing of the paper's convergence bound is used."
    )


def _chart(x: FloatArray, grid: Grid) -> Chart:
    seeds = grid.cost[UNPRICED].shape[1]
    return Chart(
        name="fig1_training",
        title="Fig. 1 from training: without prices, diverse types are expensive",
        caption=f"Social cost of {N} clients, the excess loss measured: median of {seeds} seeds, "
        f"and the band that holds the middle {MIDDLE_SHARE:.0%} of them.",
        x_title=X_TITLE,
        y_title="social cost, measured",
        series=tuple(banded(name, x, cost) for name, cost in grid.cost.items()),
        log_y=True,
    )


def _sheet(grid: Grid) -> Sheet:
    columns = (
        "treatment",
        "median at the least variance",
        "at the largest",
        "growth",
        "growth by the calibrated loss",
    )
    rows = []
    for name, cost in grid.cost.items():
        ends: list[Cell] = [float(np.median(cost[k])) for k in (0, -1)]
        rows.append((name, *ends, growth(cost), growth(grid.predicted[name])))
    caption = "Social cost as measured, from the least to the largest variance of the types"
    return Sheet("fig1_training_growth", Table(caption, columns, tuple(rows)))


def _summary(grid: Grid) -> str:
    grown = {name: number(growth(cost)) for name, cost in grid.cost.items()}
    return (
        f"In training, from the least to the largest variance, the median social cost without "
        f"prices grows {grown[UNPRICED]} times under the paper's rule and {grown[MEAN_UNPRICED]} "
        f"times with mean weights; with the paper's prices corrected {grown[CORRECTED]} times, as "
        f"printed {grown[PRINTED]} times, with Groves {grown[GROVES]} times."
    )


def claim(grid: Grid) -> Claim:
    """The paper's statement on the figure, judged by training."""
    shape = growth(grid.cost[UNPRICED]) > STEEP and growth(grid.cost[CORRECTED]) < FLAT
    verdict = Verdict.NOT
    if shape:
        printed = growth(grid.cost[PRINTED]) < FLAT
        verdict = Verdict.REPRODUCED if printed else Verdict.CORRECTED
    return Claim(
        place="Fig. 1",
        statement="The same in training: without pricing social cost rises with the variance; "
        "with pricing it stays low.",
        verdict=verdict,
        evidence=_summary(grid),
        tests=(
            "tests/reproduce/test_fig1_training.py::test_unpriced_rises_and_priced_stays_low",
            "tests/reproduce/test_fig1_training.py::test_the_shape_holds_on_mnist",
        ),
    )


FIG1_TRAINING: Final = Part(NAME, make, check)
