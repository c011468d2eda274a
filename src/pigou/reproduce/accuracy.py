"""Test accuracy without noise, with prices and without: ten paired seeds, and other privacy scales.

A seed draws the clients' types and all their noise; the treatments of a seed share both, so that
differences are paired. The data are split once: nothing else is random in training without noise.
The order is judged at the default privacy scale; fixed factors of it show where it can be seen.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.stats import t as student

from pigou.checks import FloatArray
from pigou.game import Game, Setting
from pigou.mechanisms import Pigouvian, Unpriced
from pigou.paper.errata.record import Cell, Table
from pigou.report.words import listed, number
from pigou.reproduce.chart import Chart, Series, averaged
from pigou.reproduce.part import Chapter, Part, Request, Sheet
from pigou.reproduce.training import Trial, measure
from pigou.reproduce.training_grid import WITHOUT_NOISE, mean_and_error, told
from pigou.reproduce.training_task import ROUNDS, check, parameters, prepared, said
from pigou.runs import Ready

NAME: Final = "accuracy"
SEEDS: Final = 10
FACTORS: Final = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)  # of the default privacy scale
QUICK_FACTORS: Final = (1e-3, 1.0)
LEVEL: Final = 0.01  # of the paired two-sided t tests, both of which must reject equality
PRICED, UNPRICED = "priced", "unpriced"


@dataclass(frozen=True, eq=False)
class Accuracies:
    """Test accuracy: (factors, seeds) of both treatments, and the one number without noise."""

    factors: tuple[float, ...]
    quiet: float
    priced: FloatArray
    unpriced: FloatArray

    def differences(self, k: int) -> tuple[FloatArray, FloatArray]:
        """No noise minus priced, and priced minus unpriced, by seed, at factor k."""
        return self.quiet - self.priced[k], self.priced[k] - self.unpriced[k]

    @property
    def default(self) -> int:
        """The place of the default privacy scale among the factors."""
        return self.factors.index(1.0)

    def ordered(self, k: int) -> bool:
        """Whether no noise > priced > unpriced, both significantly."""
        return all(significant(each) for each in self.differences(k))


def significant(differences: FloatArray) -> bool:
    """Whether paired differences are above 0 by the t test at ``LEVEL``."""
    seeds = differences.size
    error = float(differences.std(ddof=1)) / np.sqrt(seeds)
    return bool(differences.mean() > student.ppf(1.0 - LEVEL / 2.0, seeds - 1) * error)


def trials(ready: Ready, seeds: int, factors: tuple[float, ...]) -> list[Trial]:
    """Priced and unpriced, at every factor, for every seed's types."""
    made = []
    for factor in factors:
        here = ready.setting
        scale = factor * here.privacy_scale
        weights, v, u = here.weights, here.spread, here.divergence
        setting = Setting(here.n, here.loss, scale, weights, v, u)
        for mechanism in (Pigouvian(rounds=ROUNDS), Unpriced(rounds=ROUNDS)):
            for seed in range(seeds):
                game = Game(setting, ready.with_seed(seed).scenario.types())
                made.append(Trial(game, mechanism, seed))
    return made


def measured(ready: Ready, factors: tuple[float, ...], request: Request) -> Accuracies:
    """All runs in one batch."""
    facts = f"{SEEDS} seeds, {len(factors)} scales"
    found = measure(ready.task, trials(ready, SEEDS, factors), told(request, NAME, facts))
    shaped = found.accuracy.reshape(len(factors), 2, SEEDS)
    return Accuracies(factors, found.quiet_accuracy, shaped[:, 0], shaped[:, 1])


def make(request: Request) -> Chapter:
    """The chapter."""
    ready = prepared(request)
    found = measured(ready, QUICK_FACTORS if request.quick else FACTORS, request)
    scale = ready.setting.privacy_scale
    return Chapter(
        name=NAME,
        title="Test accuracy: no noise, priced, unpriced",
        content=(
            _words(ready, found),
            _table(found),
            _said(found),
            _scan(found, scale),
            _chart(found, scale),
        ),
        summary=_said(found),
        parameters=parameters(ready, "figures from training"),
    )


def _words(ready: Ready, found: Accuracies) -> str:
    return (
        f"{said(ready)} Types are drawn from a normal with mean 0.5 and standard deviation 0.2, "
        "truncated to (0.02, 0.98). Priced: Pigouvian prices, mean weights. Loss, clip and privacy "
        "scale were fixed before any run with noise. Each of the "
        f"{found.priced.shape[1]} seeds draws types and noise, which all treatments share; "
        "without noise nothing is random but the split of the data, which all seeds share, so that "
        "its standard error is 0."
    )


def _table(found: Accuracies) -> Sheet:
    harm, gain = found.differences(found.default)
    rows = (
        (WITHOUT_NOISE, found.quiet, 0.0),
        (PRICED, *mean_and_error(found.priced[found.default])),
        (UNPRICED, *mean_and_error(found.unpriced[found.default])),
        (f"{WITHOUT_NOISE} minus {PRICED}, paired", *mean_and_error(harm)),
        (f"{PRICED} minus {UNPRICED}, paired", *mean_and_error(gain)),
    )
    caption = f"Test accuracy after {ROUNDS} rounds at the default privacy scale, {harm.size} seeds"
    return Sheet("accuracy", Table(caption, ("", "mean", "standard error"), rows))


def _scan(found: Accuracies, scale: float) -> Sheet:
    columns = (
        "factor",
        "privacy scale",
        "priced",
        "standard error",
        "unpriced",
        "standard error ",
        "no noise minus priced",
        "standard error  ",
        "priced minus unpriced",
        "standard error   ",
        "order significant",
    )
    rows = []
    for k, factor in enumerate(found.factors):
        parts = (found.priced[k], found.unpriced[k], *found.differences(k))
        numbers: list[Cell] = [cell for part in parts for cell in mean_and_error(part)]
        rows.append((factor, factor * scale, *numbers, "yes" if found.ordered(k) else "no"))
    caption = f"The same at other privacy scales, in fixed factors of the default, {number(scale)}"
    last = (len(columns) - 1,)
    return Sheet("accuracy_by_scale", Table(caption, columns, tuple(rows)), words=last)


def _chart(found: Accuracies, scale: float) -> Chart:
    x = scale * np.array(found.factors)
    return Chart(
        name="accuracy_by_scale_chart",
        title="Test accuracy against the privacy scale",
        caption="Mean and one standard error either way over the seeds of the table.",
        x_title="privacy scale a: what privacy is worth, in units of loss",
        y_title="test accuracy",
        series=(
            Series(WITHOUT_NOISE, x, np.full(x.size, found.quiet)),
            averaged(PRICED, x, found.priced),
            averaged(UNPRICED, x, found.unpriced),
        ),
        log_x=True,
    )


def _said(found: Accuracies) -> str:
    at = [mean_and_error(part[found.default]) for part in (found.priced, found.unpriced)]
    priced, unpriced = (f"{number(float(m))} ± {number(float(e))}" for m, e in at)
    verdict = "are" if found.ordered(found.default) else "are not both"
    there = [f"{factor:g}" for k, factor in enumerate(found.factors) if found.ordered(k)]
    tried = listed([f"{factor:g}" for factor in found.factors], len(found.factors))
    where = f"at {listed(there, len(there))} times" if there else "at none"
    return (
        f"Test accuracy without noise {number(found.quiet)}, priced {priced}, unpriced {unpriced}: "
        f"the differences {verdict} significant at {LEVEL:.0%} at the default privacy scale. Tried "
        f"at {tried} times that scale, the order is significant {where}."
    )


ACCURACY: Final = Part(NAME, make, check)
