"""Fig. 1 from the formulas: shapes as inequalities, and what must hold draw by draw."""

from dataclasses import replace

import numpy as np
import pytest

from pigou.reproduce import fig1, formulas
from pigou.reproduce.fig1 import Draws
from pigou.reproduce.part import Request, Verdict
from pigou.reproduce.treatments import (
    CORRECTED,
    GROVES,
    MEAN_UNPRICED,
    POSTED,
    PRINTED,
    UNPRICED,
)
from pigou.solve import optimum

WIDTHS = (0.02, 0.14, 0.3, 0.7)
DRAWS = 40
ROUNDING = 1e-9  # relative: what solvers leave


@pytest.fixture(scope="module")
def found() -> Draws:
    rng = Request().generator("test")
    return fig1.drawn(formulas.setting(), WIDTHS, DRAWS, rng)


def medians(found: Draws, treatment: str) -> np.ndarray:
    return np.asarray(np.median(found.cost[treatment], axis=1))


def test_variance_grows_with_the_width_and_stays_below_the_uniform_s(found: Draws) -> None:
    assert (np.diff(found.variance) > 0).all()
    sampling = 1.0 + 4.0 * np.sqrt(0.8 / (DRAWS * formulas.N))  # 4 standard errors, kurtosis 1.8
    assert found.variance[-1] < fig1.LARGEST_VARIANCE * sampling


def test_unpriced_rises_and_corrected_prices_stay_flat(found: Draws) -> None:
    for treatment in (UNPRICED, MEAN_UNPRICED):
        assert (np.diff(medians(found, treatment)) > 0).all()
    assert found.growth(UNPRICED) > fig1.STEEP
    for treatment in (CORRECTED, GROVES, POSTED):
        assert found.rise(treatment) < fig1.FLAT


def test_prices_as_printed_do_not_stay_flat(found: Draws) -> None:
    assert found.rise(PRINTED) > fig1.STEEP


def test_prices_save_more_the_more_diverse_types_are(found: Draws) -> None:
    ratio = medians(found, UNPRICED) / medians(found, CORRECTED)
    assert (np.diff(ratio) > 0).all()
    assert ratio[0] > 1.0


def test_without_prices_the_papers_rule_is_heavy_tailed(found: Draws) -> None:
    """Nine draws in ten lie further above the median than they lie below it."""
    low, middle, high = np.quantile(found.cost[UNPRICED][-1], [0.1, 0.5, 0.9])
    assert high / middle > middle / low


def test_in_every_draw_the_order_is_that_of_the_theorems(found: Draws) -> None:
    """Groves reaches the least for mean weights, and the mean's least is below the MLE rule's."""
    least = found.cost[GROVES]
    for treatment in (POSTED, MEAN_UNPRICED, CORRECTED):
        assert (found.cost[treatment] >= least * (1.0 - ROUNDING)).all()
    assert (found.cost[PRINTED] >= found.cost[CORRECTED] * (1.0 - ROUNDING)).all()


def test_groves_is_the_optimum_of_the_same_draws() -> None:
    setting, rng = formulas.setting(20), Request().generator("same")
    games = list(fig1.games(setting, 0.3, 5, rng))
    again = fig1.drawn(setting, (0.3,), 5, Request().generator("same"))
    expected = [optimum(game).social_cost for game in games]
    np.testing.assert_allclose(again.cost[GROVES][0], expected, rtol=ROUNDING)
    assert again.variance[0] == pytest.approx(np.mean([np.var(game.alpha) for game in games]))


def test_draws_depend_on_the_seed_and_the_purpose_alone() -> None:
    def cost(seed: int, purpose: str) -> list[float]:
        rng = Request(seed=seed).generator(purpose)
        treatments = {GROVES: fig1.TREATMENTS[GROVES]}
        found = fig1.drawn(formulas.setting(5), (0.3,), 3, rng, treatments)
        return [float(each) for each in found.cost[GROVES][0]]

    assert cost(1, "a") == cost(1, "a")
    assert cost(1, "a") != cost(2, "a")
    assert cost(1, "a") != cost(1, "b")


def test_the_verdict_follows_the_numbers(found: Draws) -> None:
    assert fig1._claim(found).verdict is Verdict.CORRECTED
    same = replace(found, cost={**found.cost, PRINTED: found.cost[CORRECTED]})
    assert fig1._claim(same).verdict is Verdict.REPRODUCED
    flat = replace(found, cost={**found.cost, UNPRICED: found.cost[GROVES]})
    assert fig1._claim(flat).verdict is Verdict.NOT
    assert fig1._improvement(flat).verdict is Verdict.NOT


def test_the_chart_has_the_medians_within_their_bands(found: Draws) -> None:
    chart = fig1.chart(found, formulas.N)
    assert [series.name for series in chart.series] == list(fig1.TREATMENTS)
    for series in chart.series:
        assert series.low is not None
        assert series.high is not None
        assert (series.low <= series.y).all()
        assert (series.y <= series.high).all()
        assert (series.x == found.variance).all()
