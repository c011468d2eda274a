"""E3: at given noise MLE has the smaller error; at the optimum the mean has the smaller cost."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import rngs
from tests.theorems.errata_by_hand import (
    Model,
    committed,
    following,
    half_and_half,
    mean_cost,
    mean_equilibrium,
    mean_optimum,
    mle_cost,
    mle_equilibrium,
    mle_optimum,
    random_model,
)

models = st.builds(random_model, st.integers(2, 12), rngs(), st.just(0.02), st.just(0.98))
ROUNDING = 1e-10  # relative: two bisections to 1e-13, at a stationary point of the cost


@settings(deadline=None, max_examples=100)
@given(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=20))
def test_claim_smaller_error_at_given_noise(sigma: list[float]) -> None:
    mean = committed(sigma, [1.0 / len(sigma)] * len(sigma))
    assert following(sigma) <= mean * (1.0 + 1e-12)


@settings(deadline=None, max_examples=100)
@given(models)
def test_failure_the_mean_costs_less_at_the_optimum(model: Model) -> None:
    """For any types and loss; equal only if the types are."""
    mean, mle = mean_cost(model, mean_optimum(model)), mle_cost(model, mle_optimum(model))
    assert mean <= mle * (1.0 + ROUNDING)
    if max(model.alpha) - min(model.alpha) > 0.01:
        assert mean < mle


@settings(deadline=None, max_examples=100)
@given(st.lists(st.floats(0.01, 1.0), min_size=2, max_size=20))
def test_failure_because_of_the_power_means(alpha: list[float]) -> None:
    """At the same error, sum alpha / sigma: (sum a^(2/3))^(3/2) / N <= (sum a^2)^(1/2)."""
    mean = math.fsum(a ** (2.0 / 3.0) for a in alpha) ** 1.5 / len(alpha)
    assert mean <= math.sqrt(math.fsum(a * a for a in alpha)) * (1.0 + 1e-12)


def test_failure_the_numbers_at_one_hundred_clients() -> None:
    model = half_and_half(100)
    assert mean_cost(model, mean_optimum(model)) == pytest.approx(88.0, abs=0.05)
    assert mle_cost(model, mle_optimum(model)) == pytest.approx(95.3, abs=0.05)
    assert mean_cost(model, mean_equilibrium(model)) == pytest.approx(547.0, abs=0.5)
    assert mle_cost(model, mle_equilibrium(model)) == pytest.approx(665.0, abs=0.5)


@pytest.mark.parametrize("n", [5, 6, 10, 30])
def test_failure_unpriced_the_mean_costs_less_from_five_clients_on(n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(100):
        model = random_model(n, rng, low=0.02, high=0.98)
        mean = mean_cost(model, mean_equilibrium(model))
        assert mean < mle_cost(model, mle_equilibrium(model))


@pytest.mark.parametrize(
    ("alpha", "least_gain"),
    [((0.9, 0.95), 6e-3), ((0.99, 0.995, 0.995), 9e-4)],
)
def test_not_always_with_two_or_three_clients(alpha: tuple[float, ...], least_gain: float) -> None:
    model = Model(alpha)
    mean = mean_cost(model, mean_equilibrium(model))
    assert mle_cost(model, mle_equilibrium(model)) < mean * (1.0 - least_gain)


def test_not_always_with_four_clients_either() -> None:
    """psi = Delta^2, where both costs have closed forms; 40 digits, the difference is 1e-7."""
    with mp.workdps(40):
        alpha = [mp.mpf("0.999")] + [mp.mpf("0.9991")] * 3
        ratio = [a / (1 - a) for a in alpha]
        weight = sum(1 - a for a in alpha)
        # MLE: 2 (1-a_i) Delta^4 = a_i sigma_i, so sigma_i = 2 Delta^4 / ratio_i (scale a = 1).
        norm = mp.sqrt(sum(r * r for r in ratio))
        error = mp.cbrt(norm / 2)
        sigma = [2 * error**4 / r for r in ratio]
        assert abs(mp.sqrt(1 / sum(s**-2 for s in sigma)) - error) < mp.mpf(10) ** -35
        mle = weight * error**2 + sum(a / s for a, s in zip(alpha, sigma, strict=True))
        # Mean: 2 (1-a_i) sigma_i / N^2 = a_i / sigma_i^2.
        sigma = [mp.cbrt(16 * r / 2) for r in ratio]
        square = sum(s**2 for s in sigma) / 16
        mean = weight * square + sum(a / s for a, s in zip(alpha, sigma, strict=True))
        assert mle < mean
        assert mle > mean * (1 - mp.mpf("1e-6"))
