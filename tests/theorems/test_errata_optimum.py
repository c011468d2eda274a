"""E1: sigma** is stationary, optimal for committed weights, and a saddle when they follow noise."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import rngs
from tests.theorems.errata_by_hand import (
    UNLIMITED,
    Model,
    committed,
    half_and_half,
    mle_cost,
    mle_optimum,
    precision_weights,
    random_model,
    second_differences,
)

models = st.builds(random_model, st.integers(2, 6), rngs())
STEP = 1e-4  # of log sigma: first differences then err by 1e-8 relative
RESOLUTION = 1e-4  # relative: below the least true curvature (share of precision >= 1/500), above
# the differences' own error of step^2 = 1e-6


def slope(model: Model, sigma: list[float], client: int) -> float:
    """d SC / d log sigma_i, weights following."""
    up, down = list(sigma), list(sigma)
    up[client] *= math.exp(STEP)
    down[client] *= math.exp(-STEP)
    return (mle_cost(model, up) - mle_cost(model, down)) / (2.0 * STEP)


@settings(deadline=None, max_examples=40)
@given(models)
def test_claim_sigma_double_star_solves_the_first_order_conditions(model: Model) -> None:
    sigma = mle_optimum(model)
    scale = mle_cost(model, sigma)
    for i in range(model.n):
        assert abs(slope(model, sigma, i)) <= 1e-6 * scale


@settings(deadline=None, max_examples=40)
@given(models)
def test_claim_it_is_a_minimum_when_weights_are_committed(model: Model) -> None:
    sigma = mle_optimum(model)
    weights = precision_weights(sigma)
    hessian = second_differences(lambda s: model.social_cost(s, committed(s, weights)), sigma)
    curvatures = np.linalg.eigvalsh(hessian)
    assert curvatures.min() > RESOLUTION * curvatures.max()


@settings(deadline=None, max_examples=40)
@given(models)
def test_failure_one_positive_and_all_other_curvatures_negative(model: Model) -> None:
    sigma = mle_optimum(model)
    curvatures = np.linalg.eigvalsh(second_differences(lambda s: mle_cost(model, s), sigma))
    scale = RESOLUTION * np.abs(curvatures).max()
    assert (curvatures > scale).sum() == 1
    assert (curvatures < -scale).sum() == model.n - 1


@settings(deadline=None, max_examples=20)
@given(models)
def test_failure_one_volunteer_costs_less_than_the_claimed_optimum(model: Model) -> None:
    claimed = mle_cost(model, mle_optimum(model))
    assert volunteer(model) < claimed


@pytest.mark.parametrize(("n", "low", "high"), [(2, 1.79, 1.80), (100, 4.75, 4.76)])
def test_failure_gamma_is_far_from_one(n: int, low: float, high: float) -> None:
    model = half_and_half(n)
    assert low < mle_cost(model, mle_optimum(model)) / volunteer(model) < high


def volunteer(model: Model) -> float:
    """The least social cost over a fine grid of the least sensitive client's noise."""
    first = model.alpha.index(min(model.alpha))
    best = math.inf
    for log_noise in np.linspace(-12.0, 6.0, 2_000).tolist():
        sigma = [UNLIMITED] * model.n
        sigma[first] = math.exp(log_noise)
        best = min(best, mle_cost(model, sigma))
    return best
