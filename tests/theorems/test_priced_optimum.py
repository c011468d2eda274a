"""Section 3: with price (2) the one equilibrium is the optimum; refunds leave that as it is."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from tests.strategies import Floats, games, rngs

from pigou import Game, equilibrium, optimum
from pigou.mechanisms import Pigouvian, billing
from pigou.terms import Terms

SOLVED = 1e-11  # relative: two solvers, each good to some 1e-13
FACTORS = np.exp(np.linspace(-2.0, 2.0, 81))  # of its own noise that a client may try


def total(game: Game, terms: Terms, sigma: Floats, i: int) -> float:
    """What client i pays if all play sigma: its cost and its expected net bill."""
    bills = billing.expected_bills(game.setting, terms, sigma)
    return float(game.costs(sigma)[i] + bills.net[i])


@settings(deadline=None, max_examples=100)
@given(games(least=3, most=30))
def test_the_priced_equilibrium_is_the_optimum(game: Game) -> None:
    terms = Pigouvian().terms(game.setting, reports=game.alpha)
    best, priced = optimum(game), equilibrium(game, unit_price=terms.unit_price)
    assert terms.sigma is not None
    np.testing.assert_allclose(terms.sigma, best.sigma, rtol=0)
    np.testing.assert_allclose(priced.sigma, best.sigma, rtol=SOLVED)
    np.testing.assert_allclose(priced.error, best.error, rtol=SOLVED)
    np.testing.assert_allclose(priced.social_cost, best.social_cost, rtol=SOLVED)


@settings(deadline=None, max_examples=50)
@given(games(least=3, low=0.0, high=1.0), rngs())
def test_it_holds_for_those_who_arrive_and_all_who_use_the_model_count(
    game: Game, rng: np.random.Generator
) -> None:
    n = game.setting.n
    present = rng.permutation(n)[: int(rng.integers(3, n + 1))]
    terms = Pigouvian().terms(game.setting, game.alpha, present=present)
    here = Game(game.setting.restricted(present), game.alpha)
    assert sorted(np.flatnonzero(terms.active)) == sorted(present)
    priced = equilibrium(here, terms.unit_price).sigma
    np.testing.assert_allclose(priced[present], optimum(here).sigma[present], rtol=SOLVED)
    harm = (1.0 - game.alpha).sum() - (1.0 - game.alpha)  # M_-i, the absent ones included
    phi = here.setting.loss.slope_over_error(optimum(here).error)
    expected = harm * phi * here.setting.weights**2 / 2.0
    np.testing.assert_allclose(terms.unit_price, expected, rtol=1e-12)


@settings(deadline=None, max_examples=50)
@given(games(least=3))
def test_both_forms_of_the_price_agree(game: Game) -> None:
    terms = Pigouvian().terms(game.setting, game.alpha)
    m, a = (1.0 - game.alpha).sum(), game.setting.privacy_scale
    others = m - (1.0 - game.alpha)
    by_noise = game.alpha * a * others / (2.0 * m * optimum(game).sigma ** 3)
    np.testing.assert_allclose(terms.unit_price, by_noise, rtol=SOLVED)


@settings(deadline=None, max_examples=40)
@given(games(least=3, most=6), st.sampled_from(["zero-sum", "constant"]))
def test_nobody_gains_from_other_noise_once_bills_and_refunds_count(
    game: Game, refund: str
) -> None:
    constant = Pigouvian(refund="constant")
    mechanism = constant if refund == "constant" else Pigouvian()
    terms = mechanism.terms(game.setting, game.alpha)
    target = optimum(game).sigma
    for i in range(game.setting.n):
        honest = total(game, terms, target, i)
        for factor in FACTORS:
            tried = target.copy()
            tried[i] *= factor
            rounding = 1e-12 * (game.social_cost(tried) + abs(honest))
            assert total(game, terms, tried, i) >= honest - rounding


@settings(deadline=None, max_examples=20)
@given(games(least=1, most=5))
def test_no_profile_costs_society_less_than_the_optimum(game: Game) -> None:
    best = optimum(game)
    scale = best.social_cost

    def social_cost(log_factor: Floats) -> float:
        return game.social_cost(best.sigma * np.exp(log_factor)) / scale

    away = minimize(social_cost, np.full(game.setting.n, 0.7), method="BFGS")
    assert away.fun >= 1.0 - 1e-12
    assert away.fun <= 1.0 + 1e-5  # where it stops its gradient is 1e-5 or less


@settings(deadline=None, max_examples=50)
@given(games(least=3), st.floats(1.02, 3.0))
def test_another_price_does_not_reach_the_optimum(game: Game, factor: float) -> None:
    terms = Pigouvian().terms(game.setting, game.alpha)
    best = optimum(game)
    for price in (terms.unit_price * factor, terms.unit_price / factor):
        missed = equilibrium(game, price)
        assert missed.social_cost > best.social_cost
