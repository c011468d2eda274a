"""Section 2: one equilibrium and one optimum, reached from wherever the clients start.

The best responses are computed here from the first-order condition of one client, by bracketing,
with the others' noise fixed: nothing of the package's fixed point is used.
"""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from tests.strategies import Floats, games, rngs

from pigou import Game, equilibrium, optimum

ROOT_TOLERANCE = 1e-13  # brentq's, of log sigma
SWEEPS = 40  # each cuts the distance in log sigma to a third at least: 20 / 3^40 < 2e-18
TOLERANCE = 1e-11  # the root's, times 1 / (1 - 1/3), and 30 roundings on the way


def best_response(game: Game, i: int, sigma: Floats, own_harm: float, price: float) -> float:
    """The s at which own_harm rho^2 psi'(Delta) s / Delta + 2 b s = alpha a / s^2."""
    setting, loss = game.setting, game.setting.loss
    variances = setting.weights**2 * (sigma**2 + setting.spread)
    background = variances.sum() - setting.weights[i] ** 2 * sigma[i] ** 2
    weight2, gain = setting.weights[i] ** 2, game.alpha[i] * setting.privacy_scale

    def log_excess(log_s: float) -> float:
        s = math.exp(log_s)
        error = math.sqrt(max(background, 0.0) + weight2 * s**2)
        slope = loss.linear + 2.0 * loss.quadratic * error
        return math.log(own_harm * weight2 * slope * s / error + 2.0 * price * s) - math.log(
            gain / s**2
        )

    return math.exp(brentq(log_excess, -40.0, 40.0, xtol=ROOT_TOLERANCE, rtol=1e-15))


def play(game: Game, start: Floats, harm: Floats, price: Floats) -> Floats:
    """Clients answer one another in turn, again and again."""
    sigma = start.copy()
    for _ in range(SWEEPS):
        before = sigma.copy()
        for i in range(game.setting.n):
            sigma[i] = best_response(game, i, sigma, float(harm[i]), float(price[i]))
        if np.abs(np.log(sigma / before)).max() < ROOT_TOLERANCE:
            break
    return sigma


def starts(rng: np.random.Generator, n: int) -> list[Floats]:
    low, high = np.full(n, 1e-4), np.full(n, 1e4)
    return [low, high, 10.0 ** rng.uniform(-4, 4, n)]


@settings(deadline=None, max_examples=50)
@given(games(most=5), rngs(), st.sampled_from([0.0, 0.01, 1.0, 100.0]))
def test_best_responses_lead_to_the_equilibrium(
    game: Game, rng: np.random.Generator, price_scale: float
) -> None:
    n = game.setting.n
    price = price_scale * rng.uniform(0, 1, n)
    expected = equilibrium(game, price).sigma
    for start in starts(rng, n):
        reached = play(game, start, 1.0 - game.alpha, price)
        np.testing.assert_allclose(reached, expected, rtol=TOLERANCE)


@settings(deadline=None, max_examples=50)
@given(games(most=5), rngs())
def test_one_client_at_a_time_leads_to_the_optimum(game: Game, rng: np.random.Generator) -> None:
    """Social cost is convex in sigma: going down one coordinate at a time ends at the least."""
    n = game.setting.n
    expected = optimum(game).sigma
    harm, free = np.full(n, (1.0 - game.alpha).sum()), np.zeros(n)
    for start in starts(rng, n):
        np.testing.assert_allclose(play(game, start, harm, free), expected, rtol=TOLERANCE)
