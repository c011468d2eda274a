"""The posted price: near the optimum without asking anybody anything (section 4)."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import changed, games, rngs

from pigou import AccuracyLoss, Game, Setting, equilibrium, optimum
from pigou.mechanisms import Pigouvian, PostedPrice
from pigou.mechanisms.billing import error_estimate, expected_deviations
from pigou.mechanisms.deviations import compare

PAPER = AccuracyLoss.bound(16.0, 2.0)
ROUNDING = 1e-12
DRAWS = 300


def uniform_games(n: int, draws: int) -> list[Game]:
    rng = np.random.default_rng(n)
    setting = Setting(n, PAPER, 0.5)
    return [Game(setting, rng.uniform(0.1, 0.9, n)) for _ in range(draws)]


@pytest.mark.parametrize("n", [100, 400])
def test_ten_rounds_come_within_a_few_parts_in_ten_thousand(n: int) -> None:
    """Types uniform between 0.1 and 0.9, mean_alpha = 0.5: the median and 99 % of the draws."""
    excess = [PostedPrice().converge(game).ratio[-1] - 1.0 for game in uniform_games(n, DRAWS)]
    assert min(excess) >= -ROUNDING
    assert np.median(excess) <= 5e-4
    assert np.quantile(excess, 0.99) <= 3e-3


@pytest.mark.parametrize("n", [100, 400])
def test_the_realised_mean_leaves_a_part_in_ten_thousand(n: int) -> None:
    for game in uniform_games(n, 100):
        price = PostedPrice(float(game.alpha.mean()))
        assert price.converge(game).ratio[-1] - 1.0 <= 1e-4


@given(game=games(least=3), low=st.floats(-6.0, 6.0), apart=st.floats(0.01, 12.0))
@settings(deadline=None, max_examples=60)
def test_estimates_approach_each_other_from_any_two_starts(
    game: Game, low: float, apart: float
) -> None:
    """A round divides the distance in log(error) by three at least, so that prices converge."""
    starts = math.exp(low), math.exp(low + apart)
    paths = [PostedPrice().converge(game, 25, start) for start in starts]
    first, second = (np.log(path.error) for path in paths)
    distance = np.abs(np.append(apart, second - first))
    assert (distance[1:] <= distance[:-1] / 3.0 + ROUNDING).all()
    np.testing.assert_allclose(paths[0].price[-1], paths[1].price[-1], rtol=1e-9)


@given(game=games(least=3))
@settings(deadline=None, max_examples=40)
def test_limit_prices_are_those_of_the_error_played(game: Game) -> None:
    """Section 4's formula at the fixed point, and best responses to it."""
    setting = game.setting
    path = PostedPrice(0.3).converge(game, 40)
    slope = setting.loss.linear / path.error[-1] + 2.0 * setting.loss.quadratic
    expected = (setting.n - 1) * 0.7 * slope * setting.weights**2 / 2.0
    np.testing.assert_allclose(path.price[-1], expected, rtol=1e-9)
    played = equilibrium(game, path.price[-1])
    assert played.error == pytest.approx(path.error[-1], rel=ROUNDING)
    assert path.ratio[-1] == pytest.approx(played.social_cost / optimum(game).social_cost)


@given(game=games(least=3), alpha=st.floats(0.1, 0.9))
@settings(deadline=None, max_examples=40)
def test_equal_clients_of_the_assumed_type_play_the_optimum_at_once(
    game: Game, alpha: float
) -> None:
    equal = Game(game.setting, np.full(game.setting.n, alpha))
    path = PostedPrice(alpha).converge(equal, 3)
    known = Pigouvian().terms(equal.setting, equal.alpha)
    np.testing.assert_allclose(path.ratio, 1.0, atol=1e-9)
    np.testing.assert_allclose(path.price, np.tile(known.unit_price, (3, 1)), rtol=1e-9)


@given(game=games(least=3), rng=rngs())
@settings(deadline=None, max_examples=60)
def test_expected_deviations_show_the_error_exactly(game: Game, rng: np.random.Generator) -> None:
    """Whatever the noise, the weights, the spread, and the divergence, which is no error."""
    n = game.setting.n
    setting = changed(game.setting, divergence=rng.exponential(1.0, n))
    sigma = np.exp(rng.normal(0.0, 1.0, n))
    error = Game(setting, game.alpha).error(sigma)
    shown = expected_deviations(setting, sigma)
    assert error_estimate(setting, setting.weights, shown) == pytest.approx(error, rel=1e-9)
    terms = PostedPrice().terms(setting)
    assert PostedPrice().revise(setting, terms, shown).error == pytest.approx(error, rel=1e-9)


def test_deviations_of_real_uploads_show_the_error_without_bias() -> None:
    """Delta^2 from uploads with noise and sampling spread, over many rounds."""
    n, size, rounds = 8, 500, 200
    rng = np.random.default_rng(11)
    sigma, spread = np.linspace(0.2, 2.0, n), np.linspace(0.5, 0.1, n)
    setting = Setting(n, PAPER, 0.5, rng.dirichlet(np.full(n, 3.0)), spread)
    scale = np.sqrt(sigma**2 + spread)[:, None]
    estimates = []
    for _ in range(rounds):
        uploads = 0.7 + scale * rng.normal(0.0, 1.0, (n, size))
        shown = compare(uploads, setting.active).deviation
        found = error_estimate(setting, setting.weights, shown)
        assert found is not None
        estimates.append(found**2)
    truth = Game(setting, np.full(n, 0.5)).error(sigma) ** 2
    deviation = np.std(estimates) / math.sqrt(rounds)
    assert abs(np.mean(estimates) - truth) <= 4.0 * deviation
    assert deviation <= 0.01 * truth


@pytest.mark.parametrize(
    ("assumed", "least", "most"), [(0.75, 1.02, 1.15), (0.0, 1.02, 1.15), (0.95, 1.4, 2.0)]
)
def test_a_wrong_mean_costs_little_unless_it_is_very_wrong(
    assumed: float, least: float, most: float
) -> None:
    """True mean about 0.5; mbar = 1 - assumed = 0.25, 1 and 0.05."""
    for game in uniform_games(100, 10):
        path = PostedPrice(assumed).converge(game, 30, start=1.0)
        assert least <= path.ratio[-1] <= most


def test_feeding_divergence_into_the_error_would_lower_prices_badly() -> None:
    """Why the public divergence is taken off: SC/OPT 1.02, 1.13, 1.34 for u = 1, 10, 100."""
    game = uniform_games(100, 1)[0]
    plain = game.setting
    found = []
    for divergence in (1.0, 10.0, 100.0):
        diverse = Game(changed(plain, divergence=divergence), game.alpha)
        assert PostedPrice().converge(diverse).ratio[-1] < 1.003
        terms = PostedPrice().terms(plain)
        for _ in range(10):
            played = equilibrium(game, terms.unit_price)
            shown = expected_deviations(diverse.setting, played.sigma)
            terms = PostedPrice().revise(plain, terms, shown)  # knows of no divergence
        found.append(equilibrium(game, terms.unit_price).social_cost / optimum(game).social_cost)
    np.testing.assert_allclose(found, [1.02, 1.13, 1.34], rtol=0.05)
