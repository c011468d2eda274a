"""The N first-order conditions, and social cost itself, given to scipy's general solvers.

Conditions are written here from the derivatives of the costs, not from theory (1).
"""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import minimize, minimize_scalar, root
from tests.strategies import Floats, games, rngs

from pigou import AccuracyLoss, Game, Setting, equilibrium, optimum
from pigou.mechanisms import Pigouvian

TOLERANCE = 1e-8  # root's own, in log sigma


def marginal_costs(game: Game, log_sigma: Floats, harm: Floats, price: Floats) -> Floats:
    """log of what more noise costs client i over what it saves it: 0 where i is content."""
    setting, loss = game.setting, game.setting.loss
    sigma = np.exp(log_sigma)
    error = np.sqrt((setting.weights**2 * (sigma**2 + setting.spread)).sum())
    accuracy = harm * (loss.linear + 2.0 * loss.quadratic * error) / error
    privacy = game.alpha * setting.privacy_scale / sigma
    harm_of_noise = (accuracy * setting.weights**2 + 2.0 * price) * sigma**2
    return np.asarray(np.log(harm_of_noise / privacy))


def by_root(game: Game, harm: Floats, price: Floats) -> Floats:
    """From everybody's answer to an error of 1, far from the solution as a rule."""
    start = np.log(np.full(game.setting.n, equilibrium(game).error))

    def conditions(x: Floats) -> list[float]:
        return list(marginal_costs(game, x, harm, price))

    found = root(conditions, start, method="lm", tol=1e-13)
    assert found.success, found.message
    return np.asarray(np.exp(found.x))


@settings(deadline=None, max_examples=40)
@given(games(least=1, most=10))
def test_optimum(game: Game) -> None:
    n = game.setting.n
    expected = by_root(game, np.full(n, (1.0 - game.alpha).sum()), np.zeros(n))
    np.testing.assert_allclose(optimum(game).sigma, expected, rtol=TOLERANCE)


@settings(deadline=None, max_examples=40)
@given(games(least=1, most=10), rngs())
def test_equilibrium_priced_and_not(game: Game, rng: np.random.Generator) -> None:
    n = game.setting.n
    for price in (np.zeros(n), rng.uniform(0, 3, n)):
        expected = by_root(game, 1.0 - game.alpha, price)
        np.testing.assert_allclose(equilibrium(game, price).sigma, expected, rtol=TOLERANCE)


@settings(deadline=None, max_examples=20)
@given(games(least=3, most=6))
def test_no_client_finds_a_better_noise(game: Game) -> None:
    """The priced game's answer against a general one-dimensional search for every client."""
    terms = Pigouvian().terms(game.setting, game.alpha)
    target = optimum(game)

    def own_total(log_s: float, i: int) -> float:
        sigma = target.sigma.copy()
        sigma[i] = np.exp(log_s)
        return float(game.costs(sigma)[i] + terms.unit_price[i] * sigma[i] ** 2)

    for i in range(game.setting.n):
        at = float(np.log(target.sigma[i]))
        found = minimize_scalar(own_total, bounds=(at - 3, at + 3), args=(i,), method="bounded")
        assert own_total(at, i) <= found.fun * (1.0 + 1e-14)
        assert abs(found.x - at) < 1e-3  # a flat minimum: the square root of rounding


@pytest.mark.parametrize("n", [2, 5, 40])
def test_minimising_social_cost_itself(n: int) -> None:
    rng = np.random.default_rng(n)
    setting = Setting(n, AccuracyLoss.bound(16.0, 2.0), 0.5, rng.dirichlet(np.full(n, 5.0)), 0.2)
    game = Game(setting, rng.uniform(0.1, 0.9, n))
    best = optimum(game)

    def social_cost(log_sigma: Floats) -> float:
        return game.social_cost(np.exp(log_sigma))

    found = minimize(social_cost, np.zeros(n), method="BFGS", tol=1e-7)
    np.testing.assert_allclose(np.exp(found.x), best.sigma, rtol=1e-4)
    assert best.social_cost <= found.fun <= best.social_cost * (1.0 + 1e-8)
