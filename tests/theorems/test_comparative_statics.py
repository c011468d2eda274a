"""Section 2 under committed weights: who cares more about privacy adds more noise, and the rest.

Every response is that of an increasing fixed point: raising whatever raises T raises the error.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import Floats, changed, games, rngs

from pigou import AccuracyLoss, Game, Solution, equilibrium, optimum

ROUNDING = 1e-12  # relative, of a solution
SOLVERS = [equilibrium, optimum]
solver = pytest.mark.parametrize("solve", SOLVERS)


def raised(values: Floats, i: int, factor: float) -> Floats:
    more = values.copy()
    more[i] *= factor
    return more


def no_less(after: Solution, before: Solution) -> bool:
    """Nobody adds less noise, and the error is no smaller."""
    sigma: Any = after.sigma >= before.sigma * (1.0 - ROUNDING)
    return bool(sigma.all()) and after.error >= before.error * (1.0 - ROUNDING)


@solver
@settings(deadline=None, max_examples=60)
@given(game=games(high=0.9), rng=rngs(), factor=st.floats(1.001, 1.1))
def test_the_more_sensitive_a_client_the_more_noise(
    solve: Any, game: Game, rng: np.random.Generator, factor: float
) -> None:
    i = int(rng.integers(game.setting.n))
    before, after = solve(game), solve(Game(game.setting, raised(game.alpha, i, factor)))
    assert no_less(after, before)
    own = after.sigma[i] / before.sigma[i]
    assert own >= factor ** (1 / 3) * (1.0 - ROUNDING)  # alpha enters by its cube root at least


@solver
@settings(deadline=None, max_examples=60)
@given(game=games(least=2, weights="mean"))
def test_with_equal_weights_noise_has_the_order_of_the_types(solve: Any, game: Game) -> None:
    order = np.argsort(game.alpha)
    assert (np.diff(solve(game).sigma[order]) >= 0).all()


@settings(deadline=None, max_examples=60)
@given(games(), rngs(), st.floats(1.01, 10.0))
def test_a_higher_price_lowers_noise(game: Game, rng: np.random.Generator, factor: float) -> None:
    price = rng.uniform(0.01, 10.0, game.setting.n)
    i = int(rng.integers(price.size))
    before, after = equilibrium(game, price), equilibrium(game, raised(price, i, factor))
    assert no_less(before, after)
    assert after.sigma[i] < before.sigma[i]
    assert no_less(equilibrium(game), before)


@solver
@settings(deadline=None, max_examples=60)
@given(game=games(), factor=st.floats(1.01, 10.0), rng=rngs())
def test_what_makes_noise_cheaper_or_privacy_dearer_raises_it(
    solve: Any, game: Game, factor: float, rng: np.random.Generator
) -> None:
    setting, loss = game.setting, game.setting.loss
    before = solve(game)
    softer = AccuracyLoss(loss.linear / factor, loss.quadratic / factor)
    i = int(rng.integers(setting.n))
    for more in (
        {"privacy_scale": setting.privacy_scale * factor},
        {"loss": softer},
        {"spread": raised(setting.spread + 0.1, i, factor)},
    ):
        after = solve(Game(changed(setting, **more), game.alpha))
        assert no_less(after, before)
        assert after.error > before.error


@settings(deadline=None, max_examples=60)
@given(games(least=2))
def test_left_alone_clients_add_more_noise_than_is_best_for_all(game: Game) -> None:
    alone, best = equilibrium(game), optimum(game)
    assert no_less(alone, best)
    assert (alone.sigma > best.sigma).all()
    assert alone.social_cost >= best.social_cost * (1.0 - ROUNDING)
