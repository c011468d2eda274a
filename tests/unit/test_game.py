"""The model's own quantities, against the formulas of section 1 written out."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import changed, games, rngs

from pigou import AccuracyLoss, Game, InvalidArgument, Setting
from pigou.game import without_own

LOSS = AccuracyLoss(2.0, 3.0)
ROUNDING = 1e-13  # relative: sums of at most 12 terms


def setting(n: int = 3, loss: AccuracyLoss = LOSS) -> Setting:
    return Setting(n, loss, 0.5)


def test_the_paper_s_bound_fills_in_the_loss() -> None:
    loss = AccuracyLoss.bound(kappa=16.0, smoothness=2.0)
    assert (loss.linear, loss.quadratic) == (16.0, 4.0)
    assert loss(0.5) == 16.0 * 0.5 * (1.0 + 0.5 / (2.0 * 2.0))


@pytest.mark.parametrize(("linear", "quadratic"), [(2.0, 3.0), (2.0, 0.0), (0.0, 3.0)])
def test_the_loss_and_its_slope(linear: float, quadratic: float) -> None:
    loss, at, step = AccuracyLoss(linear, quadratic), 0.7, 1e-6
    assert loss(at) == pytest.approx(linear * at + quadratic * at**2, rel=1e-15)
    slope = (loss(at + step) - loss(at - step)) / (2.0 * step)
    assert loss.slope_over_error(at) * at == pytest.approx(slope, rel=1e-9)
    assert loss(math.inf) == math.inf
    assert loss(0.0) == 0.0


def test_loss_coefficients_become_floats() -> None:
    loss = AccuracyLoss(1, np.float64(0.5))
    assert (type(loss.linear), type(loss.quadratic)) == (float, float)
    assert loss == AccuracyLoss(1.0, 0.5)


@settings(deadline=None, max_examples=60)
@given(games(), rngs())
def test_costs_are_those_of_section_1(game: Game, rng: np.random.Generator) -> None:
    setting, loss = game.setting, game.setting.loss
    sigma = 10.0 ** rng.uniform(-2, 2, setting.n)
    error = math.sqrt(float(np.sum(setting.weights**2 * (sigma**2 + setting.spread))))
    psi = loss.linear * error + loss.quadratic * error**2
    costs = (1.0 - game.alpha) * psi + game.alpha * setting.privacy_scale / sigma
    assert game.error(sigma) == pytest.approx(error, rel=ROUNDING)
    np.testing.assert_allclose(game.costs(sigma), costs, rtol=ROUNDING)
    assert game.social_cost(sigma) == pytest.approx(costs.sum(), rel=ROUNDING)
    assert game.accuracy_weight == pytest.approx((1.0 - game.alpha).sum(), rel=ROUNDING)
    np.testing.assert_array_equal(game.costs(list(sigma)), game.costs(sigma))


def test_nothing_times_infinity_is_nothing() -> None:
    game = Game(setting(), [0.0, 1.0, 0.5])
    quiet = game.costs([0.0, 1.0, 1.0])
    assert quiet[0] == LOSS(game.error([0.0, 1.0, 1.0]))  # no noise, no privacy cost
    loud = game.costs([0.0, math.inf, 1.0])
    assert loud.tolist() == [math.inf, 0.0, math.inf]
    assert game.social_cost([0.0, math.inf, 1.0]) == math.inf
    nobody_minds = Game(setting(), [1.0, 1.0, 1.0])
    assert nobody_minds.social_cost([math.inf] * 3) == 0.0
    assert Game(setting(), [0.0, 0.5, 0.5]).costs([0.0, 0.0, 1.0])[1] == math.inf


@pytest.mark.parametrize("scale", [1e-150, 1e-300, 1e150, 1e300])
def test_the_error_neither_under_nor_overflows(scale: float) -> None:
    noise = np.array([3.0, 4.0, 0.0]) * scale
    assert Game(setting(), [0.5] * 3).error(noise) == pytest.approx(5.0 / 3.0 * scale, rel=1e-15)


def test_clients_of_weight_0_add_nothing_but_count_in_m() -> None:
    game = Game(Setting(3, LOSS, 0.5, [0.4, 0.6, 0.0], [0.1, 0.2, 1e9]), [0.2, 0.5, 0.9])
    assert game.error([1.0, 2.0, math.inf]) == pytest.approx(
        math.sqrt(0.16 * 1.1 + 0.36 * 4.2), rel=1e-15
    )
    assert game.accuracy_weight == pytest.approx(0.8 + 0.5 + 0.1, rel=1e-15)
    assert game.setting.active.tolist() == [True, True, False]
    assert game.setting.n_active == 2


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 40), rngs())
def test_the_others_weight_does_not_cancel(n: int, rng: np.random.Generator) -> None:
    """One client with nearly all of M: M - (1 - alpha) would leave nothing of the rest."""
    alpha = 1.0 - 10.0 ** rng.uniform(-15, -13, n)
    alpha[rng.integers(n)] = 0.0
    others = Game(setting(n), alpha).others_weight()
    exact = [math.fsum(np.delete(1.0 - alpha, i)) for i in range(n)]
    np.testing.assert_allclose(others, exact, rtol=ROUNDING)


def test_weights_by_numbers_of_samples() -> None:
    here = Setting.data_size([10, 30, 0], LOSS, 0.5, spread=[0.1, 0.2, 0.3])
    np.testing.assert_allclose(here.weights, [0.25, 0.75, 0.0], rtol=1e-15)
    assert here.n == 3
    assert here.spread.tolist() == [0.1, 0.2, 0.3]
    huge = Setting.data_size([1e308, 1e308], LOSS, 0.5)
    np.testing.assert_array_equal(huge.weights, [0.5, 0.5])


def test_mean_weights_and_shared_spreads_take_no_memory() -> None:
    many = Setting(10**9, LOSS, 0.5, spread=0.3)
    assert many.weights.strides == many.spread.strides == many.divergence.strides == (0,)
    assert many.n_active == 10**9


@settings(deadline=None, max_examples=60)
@given(games(least=2), rngs())
def test_those_who_arrive_share_the_weight(game: Game, rng: np.random.Generator) -> None:
    n = game.setting.n
    mask = np.zeros(n, np.bool_)
    mask[rng.permutation(n)[: int(rng.integers(1, n + 1))]] = True
    here = game.setting.restricted(mask)
    assert here.n == n
    np.testing.assert_array_equal(here.active, mask)
    assert here.weights.sum() == pytest.approx(1.0, rel=1e-15)
    kept = game.setting.weights[mask]
    np.testing.assert_allclose(here.weights[mask], kept / kept.sum(), rtol=ROUNDING)
    by_index = game.setting.restricted(np.flatnonzero(mask))
    np.testing.assert_array_equal(by_index.weights, here.weights)
    again = here.restricted(mask)
    np.testing.assert_allclose(again.weights, here.weights, rtol=1e-15)
    assert Game(here, game.alpha).accuracy_weight == game.accuracy_weight


def test_a_setting_of_which_nobody_arrives() -> None:
    here = Setting(3, LOSS, 0.5, [0.5, 0.5, 0.0])
    for nobody in ([], [2], [False] * 3):
        with pytest.raises(InvalidArgument, match="present must leave a client of positive weight"):
            here.restricted(nobody)


def test_what_was_passed_in_can_change_afterwards() -> None:
    weights, spread, alpha = np.array([0.5, 0.5]), np.array([0.1, 0.2]), np.array([0.3, 0.6])
    game = Game(Setting(2, LOSS, 0.5, weights, spread), alpha)
    for array in (weights, spread, alpha):
        array[:] = 9.0
    assert game.setting.weights.tolist() == [0.5, 0.5]
    assert game.setting.spread.tolist() == [0.1, 0.2]
    assert game.alpha.tolist() == [0.3, 0.6]
    for kept in (game.setting.weights, game.setting.spread, game.alpha):
        with pytest.raises(ValueError, match="read-only"):
            kept[0] = 1.0
    assert changed(game.setting, privacy_scale=2.0).privacy_scale == 2.0


def test_copies_are_the_same_and_cannot_be_changed_either() -> None:
    setting = Setting(3, LOSS, 0.5, [0.2, 0.3, 0.5], [0.1, 0.2, 0.0], 0.3)
    game = Game(setting, [0.3, 0.6, 0.9])
    for again in (copy.copy(game), copy.deepcopy(game), pickle.loads(pickle.dumps(game))):
        assert again.setting.loss == LOSS
        assert again.setting.privacy_scale == 0.5
        parts = [(again, "alpha")]
        parts += [(again.setting, name) for name in ("weights", "spread", "divergence")]
        for part, name in parts:
            same = game if name == "alpha" else setting
            np.testing.assert_array_equal(getattr(part, name), getattr(same, name))
            with pytest.raises(ValueError, match="read-only"):
                getattr(part, name)[0] = 0.5


@pytest.mark.parametrize("shape", [(1,), (2,), (7,), (3, 1), (3, 5)])
def test_sums_without_one_s_own(shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(1).exponential(1.0, shape)
    expected = values.sum(axis=-1, keepdims=True) - values
    np.testing.assert_allclose(without_own(values), expected, atol=1e-14)


def test_sums_without_a_huge_own_lose_nothing() -> None:
    values = np.array([1e-3, 1e30, 2e-3, 4e-3])
    assert without_own(values)[1] == pytest.approx(7e-3, rel=1e-15)
