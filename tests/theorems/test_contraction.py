"""Section 2: best responses contract in log sigma, by 1/3 or more; so does the map T of the error.

The simultaneous best-response map is computed here by bisection on each client's own condition.
"""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import Floats, games, rngs

from pigou import AccuracyLoss, Game, Setting, equilibrium

HALVINGS = 60  # of an interval of 60 in log sigma: 5e-17
ROUNDING = 1e-13  # of a log sigma below 30, from some ten operations


def best_responses(game: Game, sigma: Floats, price: Floats) -> Floats:
    """Every client's answer to the others' sigma: where marginal cost and gain are equal."""
    setting, loss = game.setting, game.setting.loss
    own = setting.weights**2
    total = own * (sigma**2 + setting.spread)
    background = np.array([np.delete(total, i).sum() for i in range(total.size)])
    background += own * setting.spread
    low, high = np.full(total.size, -30.0), np.full(total.size, 30.0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        s = np.exp(middle)
        phi = loss.linear / np.sqrt(background + own * s**2) + 2.0 * loss.quadratic
        harm = ((1.0 - game.alpha) * own * phi + 2.0 * price) * s**3
        too_much = harm > game.alpha * setting.privacy_scale
        low, high = np.where(too_much, low, middle), np.where(too_much, middle, high)
    return np.asarray(np.exp((low + high) / 2.0))


def distance(one: Floats, other: Floats) -> float:
    return float(np.abs(np.log(one) - np.log(other)).max())


@settings(deadline=None, max_examples=40)
@given(games(), rngs(), st.sampled_from([0.0, 0.1, 10.0]), st.floats(0.01, 4.0))
def test_simultaneous_best_responses_contract(
    game: Game, rng: np.random.Generator, price_scale: float, apart: float
) -> None:
    n = game.setting.n
    price = price_scale * rng.uniform(0, 1, n)
    one = 10.0 ** rng.uniform(-2, 2, n)
    other = one * np.exp(apart * rng.uniform(-1, 1, n))
    answers = distance(best_responses(game, one, price), best_responses(game, other, price))
    assert answers <= distance(one, other) / 3.0 + ROUNDING


@settings(deadline=None, max_examples=25)
@given(games(), rngs(), st.sampled_from([0.0, 0.1, 10.0]))
def test_playing_on_reaches_the_equilibrium_geometrically(
    game: Game, rng: np.random.Generator, price_scale: float
) -> None:
    n = game.setting.n
    price = price_scale * rng.uniform(0, 1, n)
    end = equilibrium(game, price).sigma
    sigma = 10.0 ** rng.uniform(-2, 2, n)
    away = distance(sigma, end)
    for _ in range(40):
        sigma = best_responses(game, sigma, price)
        assert distance(sigma, end) <= away / 3.0 + 2.0 * ROUNDING
        away = distance(sigma, end)
    assert away <= 3.0 * ROUNDING


@settings(deadline=None, max_examples=60)
@given(games(), rngs(), st.floats(-3.0, 3.0), st.sampled_from([-20.0, 20.0]))
def test_the_map_of_the_error_has_slope_between_0_and_a_third(
    game: Game, rng: np.random.Generator, log_error: float, far: float
) -> None:
    price = rng.choice([0.0, 1.0], game.setting.n) * rng.uniform(0, 5, game.setting.n)
    rise = log_t(game, price, log_error + 0.5) - log_t(game, price, log_error)
    assert -ROUNDING <= rise <= 0.5 / 3.0 + ROUNDING
    end, x = math.log(equilibrium(game, price).error), far
    for _ in range(30):
        x, away = log_t(game, price, x), abs(x - end)
        assert abs(x - end) <= away / 3.0 + ROUNDING
    assert abs(x - end) <= 2.0 * ROUNDING


def test_a_third_is_reached_so_no_smaller_factor_would_do() -> None:
    quiet = Setting(2, AccuracyLoss(1.0, 0.0), 0.5)
    game = Game(quiet, [0.3, 0.6])
    rise = log_t(game, np.zeros(2), 1.0) - log_t(game, np.zeros(2), 0.0)
    assert abs(rise - 1.0 / 3.0) < ROUNDING


def log_t(game: Game, price: Floats, log_error: float) -> float:
    """log T at this log error, theory (1), written out."""
    setting, loss = game.setting, game.setting.loss
    own = setting.weights**2
    phi = loss.linear / math.exp(log_error) + 2.0 * loss.quadratic
    noise = np.cbrt(
        game.alpha * setting.privacy_scale / ((1.0 - game.alpha) * own * phi + 2.0 * price)
    )
    return 0.5 * math.log(float((own * (noise**2 + setting.spread)).sum()))
