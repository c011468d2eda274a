"""E4 and E5: the printed coefficient bends incentives, the printed payment breaks the budget."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import rngs
from tests.theorems.errata_by_hand import (
    Model,
    committed,
    half_and_half,
    mle_optimum,
    precision_weights,
    random_model,
)

models = st.builds(random_model, st.integers(2, 8), rngs())
STEP = 1e-4
DRAWS = 40_000


def printed_beta(model: Model, sigma: list[float]) -> list[float]:
    n, alpha = model.n, model.alpha
    bottom = 2 * (n - 1) ** 2 * sum((1 - a) * s**3 for a, s in zip(alpha, sigma, strict=True))
    return [
        n**2 * sum((1 - alpha[j]) * alpha[j] for j in range(n) if j != i) * model.a / bottom
        for i in range(n)
    ]


def corrected_beta(model: Model, sigma: list[float]) -> list[float]:
    n, alpha = model.n, model.alpha
    return [
        n**2
        * alpha[i]
        * model.a
        * sum(1 - alpha[j] for j in range(n) if j != i)
        / (2 * (n - 1) ** 2 * sigma[i] ** 3 * model.weight)
        for i in range(n)
    ]


def slope(model: Model, sigma: list[float], client: int, beta: float) -> float:
    """d/d log sigma_i of cost plus expected charge, over the privacy cost; weights committed."""
    weights = precision_weights(sigma)
    share = ((model.n - 1) / model.n) ** 2

    def total(noise: float) -> float:
        moved = [noise if j == client else s for j, s in enumerate(sigma)]
        own = model.own_cost(client, moved, committed(moved, weights))
        return own + beta * share * noise**2

    up, down = (total(sigma[client] * math.exp(sign * STEP)) for sign in (1, -1))
    privacy = model.alpha[client] * model.a / sigma[client]
    return (up - down) / (2.0 * STEP) / privacy


@settings(deadline=None, max_examples=60)
@given(models)
def test_corrected_beta_holds_everybody_at_sigma_double_star(model: Model) -> None:
    sigma = mle_optimum(model)
    for i, beta in enumerate(corrected_beta(model, sigma)):
        assert abs(slope(model, sigma, i, beta)) < 1e-5


@pytest.mark.parametrize("n", [2, 3, 10])
@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
def test_claim_printed_beta_is_right_for_equal_types(n: int, alpha: float) -> None:
    model = Model((alpha,) * n)
    sigma = mle_optimum(model)
    np.testing.assert_allclose(printed_beta(model, sigma), corrected_beta(model, sigma), rtol=1e-10)


@settings(deadline=None, max_examples=60)
@given(st.builds(random_model, st.integers(2, 8), rngs()))
def test_failure_with_unequal_types_somebody_leaves_sigma_double_star(model: Model) -> None:
    sigma = mle_optimum(model)
    slopes = [slope(model, sigma, i, beta) for i, beta in enumerate(printed_beta(model, sigma))]
    if max(model.alpha) - min(model.alpha) > 0.1:
        assert max(map(abs, slopes)) > 1e-2


@pytest.mark.parametrize("n", [10, 100])
def test_failure_the_less_sensitive_hide_less_and_the_others_more(n: int) -> None:
    model = half_and_half(n)
    sigma = mle_optimum(model)
    beta = printed_beta(model, sigma)
    assert slope(model, sigma, 0, beta[0]) > 0.1  # more noise costs it: it adds less
    assert slope(model, sigma, n - 1, beta[-1]) < -0.1


def charges(beta: list[float], sigma: list[float], seed: int) -> tuple[float, float]:
    """The mean over clients of the paper's charge, over scalar rounds: average, standard error."""
    rng = np.random.default_rng(seed)
    uploads = rng.normal(0.0, sigma, (DRAWS, len(sigma)))
    away = uploads - uploads.mean(axis=1, keepdims=True)
    each = (away**2 * beta).mean(axis=1)
    return float(each.mean()), float(each.std() / math.sqrt(DRAWS))


def balanced_q(beta: list[float], sigma: list[float]) -> float:
    n = len(sigma)
    total = 0.0
    for i in range(n):
        others = sum(sigma[j] ** 2 for j in range(n) if j != i)
        total += beta[i] * (((n - 1) / n) ** 2 * sigma[i] ** 2 + others / n**2)
    return total / n


def printed_q(beta: list[float], sigma: list[float]) -> float:
    n = len(sigma)
    return 2 * (n - 1) ** 2 / n * sum(b * s for b, s in zip(beta, sigma, strict=True))


@pytest.mark.parametrize(
    "model", [Model((0.2, 0.5, 0.8)), half_and_half(10), Model((0.5,) * 10)], ids=lambda m: m.n
)
@pytest.mark.parametrize("beta_of", [printed_beta, corrected_beta])
def test_failure_q_as_printed_does_not_give_back_what_is_charged(
    model: Model, beta_of: Callable[[Model, list[float]], list[float]]
) -> None:
    sigma = mle_optimum(model)
    beta = beta_of(model, sigma)
    average, error = charges(beta, sigma, seed=model.n)
    assert abs(average - balanced_q(beta, sigma)) < 5.0 * error
    assert abs(average - printed_q(beta, sigma)) > 100.0 * error


def test_failure_q_depends_on_the_unit_of_the_uploads_and_charges_do_not() -> None:
    """The same game with noise in a unit 1,000 times smaller: kappa, L and a follow it."""
    model = Model((0.2, 0.5, 0.8))
    finer = Model(model.alpha, model.kappa / 1e3, model.smoothness * 1e3, model.a * 1e3)
    sigma, other = mle_optimum(model), mle_optimum(finer)
    np.testing.assert_allclose(other, np.array(sigma) * 1e3, rtol=1e-10)
    beta, changed = corrected_beta(model, sigma), corrected_beta(finer, other)
    assert balanced_q(changed, other) == pytest.approx(balanced_q(beta, sigma), rel=1e-9)
    assert printed_q(changed, other) == pytest.approx(printed_q(beta, sigma) / 1e3, rel=1e-9)


@pytest.mark.parametrize("n", [2, 5, 40])
def test_fairness_a_missing_square_alone_does_not_explain_it(n: int) -> None:
    sigma, beta = [0.3] * n, [2.0] * n
    squared = printed_q(beta, [s**2 for s in sigma])
    assert squared == pytest.approx(2 * n * (n - 1) * balanced_q(beta, sigma), rel=1e-12)
