"""Section 3: E D_i moves one for one with client i's own variance; its net bill, by exactly b_i.

Expectations are computed here from the weights that a deviation gives to each upload.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import Floats, games, rngs

from pigou import AccuracyLoss, Game, Setting
from pigou.mechanisms import Pigouvian, billing
from pigou.terms import Terms

EPS = float(np.finfo(float).eps)
DEVIATIONS = 6.0  # standard deviations: one false alarm in 5e8 draws


def deviation_weights(n: int) -> Floats:
    """Row i: w_i minus the plain mean of the others, as weights on the uploads."""
    return np.eye(n) - (1.0 - np.eye(n)) / (n - 1)


def setting(n: int, spread: Floats | float = 0.0, divergence: Floats | float = 0.0) -> Setting:
    loss = AccuracyLoss(1.0, 1.0)
    return Setting(n, loss, 0.5, spread=spread, divergence=divergence)


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 20), rngs())
def test_expected_deviations(n: int, rng: np.random.Generator) -> None:
    """For independent noise of mean zero E(sum_k a_k w_k)^2 = sum_k a_k^2 s_k."""
    sigma, spread, divergence = rng.uniform(0, 3, n), rng.uniform(0, 1, n), rng.uniform(0, 1, n)
    exact = deviation_weights(n) ** 2 @ (sigma**2 + spread) + divergence
    computed = billing.expected_deviations(setting(n, spread, divergence), sigma)
    np.testing.assert_allclose(computed, exact, rtol=n * EPS * 10)


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 20), rngs(), st.floats(0.1, 100.0))
def test_the_slope_of_a_deviation_in_its_own_variance_is_1(
    n: int, rng: np.random.Generator, more: float
) -> None:
    here = setting(n, rng.uniform(0, 1, n), rng.uniform(0, 1, n))
    sigma = rng.uniform(0, 3, n)
    i = int(rng.integers(n))
    raised = sigma.copy()
    raised[i] = np.sqrt(sigma[i] ** 2 + more)
    rise = billing.expected_deviations(here, raised) - billing.expected_deviations(here, sigma)
    rounding = 10 * n * EPS * (more + 20.0)
    assert abs(rise[i] - more) <= rounding
    others = np.delete(rise, i)
    np.testing.assert_allclose(others, more / (n - 1) ** 2, atol=rounding)


@settings(deadline=None, max_examples=60)
@given(games(least=3), rngs(), st.floats(0.1, 10.0), st.integers(1, 7))
def test_net_of_the_refund_the_slope_is_the_unit_price(
    game: Game, rng: np.random.Generator, more: float, count: int
) -> None:
    """Whatever the others do: the correction from b to b-hat undoes what refunds give back."""
    n = game.setting.n
    terms = Pigouvian(rounds=count, money=3.0).terms(game.setting, game.alpha)
    sigma = rng.uniform(0, 3, n)
    before = billing.expected_bills(game.setting, terms, sigma)
    for i in range(n):
        raised = sigma.copy()
        raised[i] = np.sqrt(sigma[i] ** 2 + more)
        after = billing.expected_bills(game.setting, terms, raised)
        slope = (after.net[i] - before.net[i]) / more
        rounding = 100 * n * EPS * (after.charge.sum() + before.charge.sum()) / more
        assert abs(slope - 3.0 * terms.unit_price[i]) <= rounding
        assert abs(after.net.sum()) <= rounding * more


@settings(deadline=None, max_examples=40)
@given(st.integers(3, 30), rngs())
def test_the_charge_solves_for_the_net_slope(n: int, rng: np.random.Generator) -> None:
    """b = (I + c I - c 1 1') b-hat, c = 1/(N-1)^3, solved here as a linear system."""
    price = rng.uniform(0, 2, n)
    c = 1.0 / (n - 1) ** 3
    exact = np.linalg.solve((1.0 + c) * np.eye(n) - c * np.ones((n, n)), price)
    terms = Terms("any", np.full(n, 1.0 / n), price)
    np.testing.assert_allclose(terms.charge, exact, rtol=1e-12)


def test_simulated_uploads_have_slope_1() -> None:
    """The same noise drawn at two sizes: the difference of D_i over that of sigma_i^2.

    With m the mean of the others' noise, D = sum (sigma z - m)^2 / d and the slope is
    sum z^2 / d - 2 sum z m / (d (sigma_1 + sigma_0)): variance 2/d + 4 E m^2 / (d (...)^2).
    """
    n, d, low, high = 5, 400_000, 0.5, 2.0
    rng = np.random.default_rng(20230225)
    noise, common = rng.standard_normal((n, d)), rng.standard_normal(d)
    deviation = {}
    for own in (low, high):
        sigma = np.array([own, 0.3, 0.8, 1.5, 1.0])
        uploads = common + sigma[:, None] * noise
        deviation[own] = billing.compare(uploads, np.ones(n, np.bool_)).deviation[0]
    slope = (deviation[high] - deviation[low]) / (high**2 - low**2)
    others = (0.3**2 + 0.8**2 + 1.5**2 + 1.0**2) / (n - 1) ** 2
    sd = np.sqrt(2.0 / d + 4.0 * others / (d * (high + low) ** 2))
    assert abs(slope - 1.0) <= DEVIATIONS * sd
    assert DEVIATIONS * sd < 0.02  # tight enough to tell 1 from (N-1)/N or its square


@pytest.mark.parametrize("n", [2, 3, 8])
def test_simulated_deviations_have_the_expected_mean(n: int) -> None:
    """D_i is a mean of d squares of mean E D_i: its standard deviation is E D_i sqrt(2/d)."""
    d = 300_000
    rng = np.random.default_rng(n)
    here = setting(n, spread=np.linspace(0.1, 0.5, n))
    sigma = rng.uniform(0.2, 2.0, n)
    scale = np.sqrt(sigma**2 + here.spread)
    uploads = rng.standard_normal(d) + scale[:, None] * rng.standard_normal((n, d))
    expected = billing.expected_deviations(here, sigma)
    measured = billing.compare(uploads, here.active).deviation
    assert (np.abs(measured / expected - 1.0) <= DEVIATIONS * np.sqrt(2.0 / d)).all()
