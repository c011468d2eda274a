"""Fig. 2 from training: it rises, falls, and prices lie far below; on digits and on MNIST."""

import numpy as np
import pytest
from tests.reproduce.named_tests import exists
from tests.reproduce.trained import QUICK, on_digits, on_mnist

from pigou.paper.errata.cases import HIGH, LOW
from pigou.reproduce.fig2_training import ETAS, Trained, peak, plan, types
from pigou.reproduce.fig2_training_chapter import claims
from pigou.reproduce.part import Verdict
from pigou.reproduce.training import Measured
from pigou.reproduce.training_grid import Grid, run
from pigou.reproduce.treatments import CORRECTED, GROVES, MEAN_UNPRICED, MENU, POSTED, UNPRICED
from pigou.runs import Ready

AT = (0.1, 0.5, 0.9)


def trained(ready: Ready, names: tuple[str, ...], seeds: int) -> Grid:
    return run(ready.task, plan(ready, types(QUICK, seeds, AT), AT, names))


@pytest.fixture(scope="module")
def grid() -> Grid:
    return trained(on_digits(), (UNPRICED, CORRECTED, GROVES, POSTED, MENU), seeds=2)


def test_exactly_the_share_eta_has_the_lower_type() -> None:
    alpha = types(QUICK, 3)
    np.testing.assert_allclose((alpha == LOW).mean(axis=2), np.repeat([ETAS], 3, axis=0).T)
    assert set(np.unique(alpha)) == {LOW, HIGH}
    assert (np.diff(alpha, axis=0) <= 0).all()  # who has it at one eta has it at all larger ones
    assert (alpha[4, 0] != alpha[4, 1]).any()


def ways(grid: Grid) -> list[np.ndarray]:
    """From 0.1 up to 0.5, and from 0.9 back up to it: differences of log social cost, by seed, as
    a seed's noise scales its whole curve."""
    low, middle, high = np.log(grid.cost[UNPRICED])
    return [middle - low, middle - high]


def test_the_unpriced_curve_rises_and_falls() -> None:
    """On digits single seeds differ by as much as the curve bends: their mean is what is asked."""
    assert all(way.mean() > 0 for way in ways(trained(on_digits(), (UNPRICED,), seeds=10)))


def test_prices_save_at_every_eta(grid: Grid) -> None:
    for name in (CORRECTED, GROVES, POSTED, MENU):
        assert (grid.cost[UNPRICED] > 4.0 * grid.cost[name]).all()  # seed by seed
        assert (grid.accuracy[name].mean(axis=1) > grid.accuracy[UNPRICED].mean(axis=1)).all()
    np.testing.assert_allclose(grid.cost[MENU], grid.cost[GROVES], rtol=0.05)
    np.testing.assert_allclose(grid.cost[POSTED], grid.cost[GROVES], rtol=0.15)


def test_a_peak_is_found_where_a_parabola_has_it() -> None:
    eta = np.array(ETAS)
    for top in (0.25, 0.6):
        curve = np.exp(3.0 - np.square(eta - top))
        seeds = np.outer(curve, [0.2, 1.0, 7.0])  # scaling a seed's curve moves no peak
        found = peak(ETAS, seeds)
        assert found.eta == pytest.approx(top)
        assert found.error == pytest.approx(0.0, abs=1e-9)
    assert peak(ETAS, np.exp(np.outer(eta, [1.0, 2.0]))).eta == ETAS[-1]  # no top inside
    assert peak(ETAS, np.exp(np.outer(-eta, [1.0, 2.0]))).eta == ETAS[0]


def test_the_error_of_a_peak_is_its_spread_over_repeats() -> None:
    eta, rng = np.array(ETAS), np.random.default_rng(0)
    repeats = [
        peak(ETAS, np.exp(-np.square(eta - 0.5)[:, None] + 0.02 * rng.standard_normal((9, 10))))
        for _ in range(200)
    ]
    spread = np.std([each.eta for each in repeats])
    said = np.sqrt(np.mean(np.square([each.error for each in repeats])))
    assert said == pytest.approx(spread, rel=0.25)


def drawn(top: float, ratio: float) -> Grid:
    """A grid whose unpriced curve has its top there, so many times above the priced one."""
    tops = top + np.array([-0.02, 0.0, 0.02])  # seed by seed
    curve = np.exp(-np.square(np.array(ETAS)[:, None] - tops))
    cost = dict.fromkeys((UNPRICED, MEAN_UNPRICED), curve * ratio)
    cost |= dict.fromkeys((CORRECTED, GROVES), curve)
    accuracy = dict.fromkeys(cost, np.full(curve.shape, 0.7))
    one = np.ones(1)
    return Grid(cost, cost, accuracy, Measured(one, one, one, one, one, 0.9, 1.0))


@pytest.mark.parametrize(
    ("top", "verdict"),
    [(0.5, Verdict.REPRODUCED), (0.7, Verdict.CORRECTED), (1.4, Verdict.NOT)],
)
def test_the_verdict_on_the_peak_follows_the_curve(top: float, verdict: Verdict) -> None:
    diverse, _ = claims(drawn(top, 9.0))
    assert diverse.verdict is verdict
    assert all(exists(test) for test in diverse.tests)


def test_the_verdict_on_prices_follows_the_ratio() -> None:
    for ratio, verdict in ((9.0, Verdict.REPRODUCED), (1.5, Verdict.NOT)):
        _, pricing = claims(drawn(0.5, ratio))
        assert pricing.verdict is verdict
        assert f"{ratio:g}" in pricing.evidence
        assert all(exists(test) for test in pricing.tests)


def test_times_are_compared_per_run(grid: Grid) -> None:
    assert Trained(grid, 3.0 * grid.batch.per_trial()).faster == pytest.approx(3.0)


@pytest.mark.long
def test_the_shape_holds_on_mnist() -> None:
    grid = trained(on_mnist(), (UNPRICED, CORRECTED), seeds=12)
    for way in ways(grid):  # beyond two standard errors
        assert way.mean() > 2.0 * way.std(ddof=1) / np.sqrt(way.size)
    assert (grid.cost[UNPRICED] > 4.0 * grid.cost[CORRECTED]).all()
    assert (grid.accuracy[UNPRICED] < grid.accuracy[CORRECTED]).all()
