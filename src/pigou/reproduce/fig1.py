"""Fig. 1 from the formulas: social cost against the realised variance of the types.

Types are normal with mean 0.5, truncated to (0, 1). The paper does not say how wide: the width is
what moves the variance. Every width is drawn many times, because the unpriced outcome of the
paper's rule is heavy-tailed: a client whose alpha is close to 1 gets almost all of the weight.
"""

# ruff: noqa: RUF001
# The page's Greek letters and signs are meant.

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from pigou.checks import FloatArray
from pigou.comparison import play
from pigou.game import Game, Setting
from pigou.mechanisms import Groves, Mechanism, PostedPrice, Unpriced
from pigou.paper import PaperPricing, complete
from pigou.population import TruncatedNormal
from pigou.report.words import number
from pigou.reproduce import formulas
from pigou.reproduce.chart import MIDDLE_SHARE, Chart, banded
from pigou.reproduce.part import Chapter, Claim, Parameter, Part, Progress, Request, Verdict
from pigou.reproduce.treatments import (
    CORRECTED,
    GROVES,
    MEAN_UNPRICED,
    POSTED,
    PRINTED,
    UNPRICED,
)

NAME: Final = "fig1-formulas"
MEAN: Final = 0.5
WIDTHS: Final = (0.02, 0.05, 0.08, 0.11, 0.14, 0.17, 0.2, 0.24, 0.3, 0.4, 0.7)
QUICK_WIDTHS: Final = WIDTHS[::2]
DRAWS, QUICK_DRAWS = 250, 30
LARGEST_VARIANCE: Final = 1.0 / 12.0  # of the uniform, to which the truncated normal widens
FLAT: Final = 1.25  # a priced curve whose largest median is below so many times its least is flat
STEEP: Final = 2.0  # and an unpriced one beyond so many times rises steeply

Outcome = Callable[[Game], float]


def _played(mechanism: Mechanism) -> Outcome:
    return lambda game: play(game, mechanism).social_cost


TREATMENTS: Mapping[str, Outcome] = MappingProxyType(
    {
        UNPRICED: lambda game: complete.equilibrium(game).social_cost,
        PRINTED: _played(PaperPricing(verbatim=True)),
        CORRECTED: _played(PaperPricing()),
        MEAN_UNPRICED: _played(Unpriced()),
        GROVES: _played(Groves()),
        POSTED: _played(PostedPrice(mean_alpha=MEAN)),
    }
)


@dataclass(frozen=True, eq=False)
class Draws:
    """Social costs of every treatment, (widths, draws), and the realised variances."""

    variance: FloatArray
    cost: Mapping[str, FloatArray]

    def growth(self, treatment: str) -> float:
        """The median at the largest variance over that at the smallest."""
        median = np.median(self.cost[treatment], axis=1)
        return float(median[-1] / median[0])

    def rise(self, treatment: str) -> float:
        """The largest median over the smallest."""
        median = np.median(self.cost[treatment], axis=1)
        return float(median.max() / median.min())


def games(setting: Setting, width: float, draws: int, rng: np.random.Generator) -> Iterator[Game]:
    """Games whose types are drawn from the normal of this width."""
    population = TruncatedNormal(MEAN, width)
    return (Game(setting, population.sample(setting.n, rng)) for _ in range(draws))


def drawn(
    setting: Setting,
    widths: tuple[float, ...],
    draws: int,
    rng: np.random.Generator,
    treatments: Mapping[str, Outcome] = TREATMENTS,
    done: Callable[[int], None] = lambda _: None,
) -> Draws:
    """Every treatment on the same draws; ``done`` is told how many widths are."""
    variance = np.zeros((len(widths), draws))
    cost = {name: np.zeros((len(widths), draws)) for name in treatments}
    for k, width in enumerate(widths):
        for draw, game in enumerate(games(setting, width, draws, rng)):
            variance[k, draw] = np.var(game.alpha)
            for name, outcome in treatments.items():
                cost[name][k, draw] = outcome(game)
        done(k + 1)
    return Draws(variance.mean(axis=1), MappingProxyType(cost))


def chart(found: Draws, n: int) -> Chart:
    """Medians and bands."""
    draws = found.cost[UNPRICED].shape[1]
    return Chart(
        name="fig1",
        title="Fig. 1: without prices, diverse types are expensive",
        caption=f"Social cost of {n} clients from the formulas: median of {draws} draws at every "
        f"width of the normal, and the band that holds {100 * MIDDLE_SHARE:g} % of them. A "
        f"truncated normal cannot have a variance beyond {number(LARGEST_VARIANCE)}.",
        x_title="realised variance of the privacy sensitivities alpha",
        y_title="social cost",
        series=tuple(banded(name, found.variance, cost) for name, cost in found.cost.items()),
        log_y=True,
    )


def make(request: Request) -> Chapter:
    """The chapter."""
    widths = QUICK_WIDTHS if request.quick else WIDTHS
    draws = QUICK_DRAWS if request.quick else DRAWS
    setting = formulas.setting()

    def done(many: int) -> None:
        request.watch(Progress(NAME, many, len(widths), f"{draws} draws each"))

    found = drawn(setting, widths, draws, request.generator(NAME), done=done)
    return Chapter(
        name=NAME,
        title="Fig. 1 from the formulas",
        content=(_words(found), chart(found, setting.n)),
        summary=_summary(found),
        parameters=(*formulas.PARAMETERS, _width(widths)),
        claims=(_claim(found), _improvement(found)),
    )


def _words(found: Draws) -> str:
    tail = np.quantile(found.cost[UNPRICED][-1], 1.0 - (1.0 - MIDDLE_SHARE) / 2.0)
    median = np.median(found.cost[UNPRICED][-1])
    return (
        "Types are drawn from a normal distribution with mean 0.5, truncated to (0, 1) and made "
        "wider and wider. The paper's rule without prices, and its prices twice: with β as "
        "printed (E4) and corrected. Beside them mean weights: without prices, with the Groves "
        "mechanism's, and with a posted price that knows the mean type only. All clients are "
        "truthful and selfish. Without prices the paper's rule is heavy-tailed: at the largest "
        f"variance one draw in ten costs more than {number(float(tail / median))} times the "
        "median, because whoever cares least about accuracy is given almost all of the weight."
    )


def _summary(found: Draws) -> str:
    return (
        f"From the least to the largest variance the median social cost without prices grows "
        f"{number(found.growth(UNPRICED))} times under the paper's rule and "
        f"{number(found.growth(MEAN_UNPRICED))} times with mean weights; with the paper's prices "
        f"corrected {number(found.growth(CORRECTED))} times, as printed "
        f"{number(found.growth(PRINTED))} times, with Groves {number(found.growth(GROVES))} times."
    )


def _claim(found: Draws) -> Claim:
    shape = found.rise(UNPRICED) > STEEP and found.rise(CORRECTED) < FLAT
    printed = found.rise(PRINTED) < FLAT
    verdict = Verdict.NOT
    if shape:
        verdict = Verdict.REPRODUCED if printed else Verdict.CORRECTED
    return Claim(
        place="Fig. 1",
        statement="Without pricing social cost rises substantially with the variance of α_i; "
        "with the pricing scheme it stays low.",
        verdict=verdict,
        evidence=f"{_summary(found)} The largest median is {number(found.rise(CORRECTED))} times "
        f"the least with β corrected, and {number(found.rise(PRINTED))} times as printed (E4).",
        tests=(
            "tests/reproduce/test_fig1.py::test_unpriced_rises_and_corrected_prices_stay_flat",
            "tests/reproduce/test_fig1.py::test_prices_as_printed_do_not_stay_flat",
        ),
    )


def _improvement(found: Draws) -> Claim:
    """Median cost without prices over that with them."""
    medians = [np.median(found.cost[name], axis=1) for name in (UNPRICED, CORRECTED)]
    ratio = medians[0] / medians[1]
    grows = bool((np.diff(ratio) > 0).all())
    return Claim(
        place="Section V",
        statement="The improvement is greater as the diversity of clients' types increases.",
        verdict=Verdict.REPRODUCED if grows else Verdict.NOT,
        evidence="Median social cost without prices over that with the paper's, corrected: "
        f"{number(ratio[0])} times at the least variance, {number(ratio[-1])} times at the "
        f"largest, {'rising all the way' if grows else 'not rising all the way'}.",
        tests=("tests/reproduce/test_fig1.py::test_prices_save_more_the_more_diverse_types_are",),
    )


def _width(widths: tuple[float, ...]) -> Parameter:
    return Parameter(
        symbol="sd of α",
        meaning="width of the normal that the types of Fig. 1 are drawn from, before truncation",
        value=f"{widths[0]:g} to {widths[-1]:g}",
        source="varied: it is what moves the variance",
        used_in="Fig. 1",
    )


FIG1: Final = Part(NAME, make)
