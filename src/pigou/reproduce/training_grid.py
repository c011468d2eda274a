"""Trained figures: every treatment at every point of an axis with every seed, in one batch.

A seed means the same draws of types and the same noise numbers for every treatment and point, so
that curves are compared on equal terms.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from pigou.checks import FloatArray
from pigou.federation.task import Supervised
from pigou.paper.errata.record import Cell
from pigou.reproduce.chart import Chart, Series, averaged
from pigou.reproduce.part import Progress, Request
from pigou.reproduce.training import Measured, Tell, Trial, measure, unheard
from pigou.reproduce.training_task import ROUNDS

WITHOUT_NOISE: Final = "no noise"

Curves = Mapping[str, FloatArray]  # (points, seeds) of every treatment
At = Callable[[str, int, int], Trial]  # of a treatment, at a point, with a seed


@dataclass(frozen=True, eq=False)
class Plan:
    """What to run: ``at`` makes each trial."""

    treatments: Sequence[str]
    points: int
    seeds: int
    at: At

    @property
    def runs(self) -> int:
        """How many runs that is, with the one without noise."""
        return len(self.treatments) * self.points * self.seeds + 1

    def trials(self) -> list[Trial]:
        """All of them: treatment after treatment, point after point, seed after seed."""
        places = np.ndindex(len(self.treatments), self.points, self.seeds)
        return [self.at(self.treatments[k], point, seed) for k, point, seed in places]

    def curves(self, values: FloatArray) -> Curves:
        """Values in the order of the trials, by treatment."""
        shaped = values.reshape(len(self.treatments), self.points, self.seeds)
        return MappingProxyType(dict(zip(self.treatments, shaped, strict=True)))


@dataclass(frozen=True, eq=False)
class Grid:
    """What was measured."""

    cost: Curves  # social cost, with the excess loss as measured
    predicted: Curves  # by the calibrated loss, for the same noise
    accuracy: Curves
    batch: Measured

    def ratio(self, treatment: str, other: str) -> FloatArray:
        """Mean social cost of one treatment over that of another, at every point."""
        return np.asarray(self.cost[treatment].mean(axis=1) / self.cost[other].mean(axis=1))

    def underrated(self, treatment: str) -> tuple[float, float]:
        """Least and largest mean social cost as measured over that by the calibrated loss."""
        means = self.cost[treatment].mean(axis=1) / self.predicted[treatment].mean(axis=1)
        return float(means.min()), float(means.max())


def run(task: Supervised, plan: Plan, tell: Tell = unheard) -> Grid:
    """All trials in one batch; ``tell`` hears of each round."""
    found = measure(task, plan.trials(), tell)
    return Grid(
        cost=plan.curves(found.social_cost),
        predicted=plan.curves(found.predicted),
        accuracy=plan.curves(found.accuracy),
        batch=found,
    )


def told(request: Request, part: str, facts: str) -> Tell:
    """Rounds as the progress of a part."""
    return lambda rounds: request.watch(Progress(part, rounds, ROUNDS, facts))


def accuracy_chart(name: str, title: str, x: FloatArray, x_title: str, grid: Grid) -> Chart:
    """The second panel: test accuracy, and what it is without noise."""
    curves = [averaged(each, x, values) for each, values in grid.accuracy.items()]
    best = Series(WITHOUT_NOISE, x, np.full(x.size, grid.batch.quiet_accuracy))
    seeds = next(iter(grid.accuracy.values())).shape[1]
    return Chart(
        name=name,
        title=title,
        caption="Test accuracy of the same runs: mean and one standard error either way over "
        f"{seeds} seeds. Always guessing the more frequent class gives about one half.",
        x_title=x_title,
        y_title="test accuracy",
        series=(*curves, best),
    )


def mean_and_error(values: FloatArray) -> tuple[Cell, Cell]:
    """Over seeds."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size))
