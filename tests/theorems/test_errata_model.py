"""E10 to E13: epsilon, vectors, the order of noise, and the number of rounds."""

import math

import numpy as np
import pytest
from dp_accounting import get_epsilon_gaussian
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import norm
from tests.strategies import rngs
from tests.theorems.errata_by_hand import (
    Model,
    committed_point,
    following,
    half_and_half,
    mean_equilibrium,
    mean_optimum,
    mle_equilibrium,
    mle_optimum,
    random_model,
)

Floats = NDArray[np.float64]

DELTA = 1e-5
C = math.sqrt(2.0 * math.log(1.25 / DELTA))
models = st.builds(random_model, st.integers(2, 10), rngs())


def delta_of(epsilon: float, mu: float) -> float:
    """The exact delta of Gaussian releases with mu = sqrt(T) S / sigma in all (Balle & Wang)."""
    first = norm.cdf(mu / 2.0 - epsilon / mu)
    return float(first - math.exp(epsilon) * norm.cdf(-mu / 2.0 - epsilon / mu))


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 0.999])
def test_e10_claim_one_release_with_epsilon_below_one(epsilon: float) -> None:
    assert delta_of(epsilon, mu=epsilon / C) <= DELTA


def test_e10_failure_the_papers_own_noise_leaves_the_range() -> None:
    for model in (Model((0.2, 0.5, 0.8)), half_and_half(10), half_and_half(100)):
        assert model.a / min(mle_optimum(model)) > 1.0
    three = Model((0.2, 0.5, 0.8))
    assert max(three.a / s for s in mle_optimum(three)) == pytest.approx(3.025, abs=1e-3)
    assert max(three.a / s for s in mle_equilibrium(three)) > 1.0


def test_e10_failure_outside_the_range_the_bound_ends_at_about_eight() -> None:
    assert delta_of(8.41, mu=8.41 / C) < DELTA
    assert delta_of(8.43, mu=8.43 / C) > DELTA


@pytest.mark.parametrize("rounds", [5, 35])
def test_e10_failure_rounds_compose(rounds: int) -> None:
    model = half_and_half(100)
    epsilon = model.a / mle_optimum(model)[-1]
    assert epsilon == pytest.approx(1.151, abs=1e-3)
    assert delta_of(epsilon, mu=epsilon / C) <= DELTA
    assert delta_of(epsilon, mu=math.sqrt(rounds) * epsilon / C) > 10.0 * DELTA
    if rounds == 35:  # another library's accountant, one-dimensional Gaussian of the same mu
        exact = get_epsilon_gaussian(C / (epsilon * math.sqrt(rounds)), DELTA)
        assert exact == pytest.approx(6.527, abs=1e-3)


def mean_squared_away(
    sigma: list[float], honest: Floats, draws: int, seed: int
) -> tuple[Floats, Floats]:
    """E ||w_i - mean_{j != i} w_j||^2 / d of client 0, per draw: with noise, and without client 0's
    own noise. ``honest`` has shape (draws, N, d)."""
    rng = np.random.default_rng(seed)
    n, d = len(sigma), honest.shape[2]
    noise = rng.normal(0.0, 1.0, (draws, n, d)) * np.array(sigma)[None, :, None]
    uploads = honest + noise
    silent = uploads.copy()
    silent[:, 0] -= noise[:, 0]
    others = uploads[:, 1:].mean(axis=1)
    with_noise = ((uploads[:, 0] - others) ** 2).mean(axis=1)
    return with_noise, ((silent[:, 0] - others) ** 2).mean(axis=1)


@pytest.mark.parametrize(("spread", "shift"), [(0.0, 0.0), (0.3, 0.0), (0.3, 1.0)])
def test_e11_slope_stays_and_bills_move(spread: float, shift: float) -> None:
    """Monte Carlo: sigma_0^2 adds itself to the deviation, whatever v and u are."""
    draws, n, d = 20_000, 4, 3
    sigma = [0.9, 0.5, 0.4, 0.3]
    rng = np.random.default_rng(11)
    honest = rng.normal(0.0, math.sqrt(spread), (draws, n, d))
    honest[:, 0] += math.sqrt(shift)
    with_noise, without = mean_squared_away(sigma, honest, draws, seed=12)
    added = with_noise - without
    assert abs(added.mean() - sigma[0] ** 2) < 5.0 * added.std() / math.sqrt(draws)
    total = sigma[0] ** 2 + spread + shift + sum(s**2 + spread for s in sigma[1:]) / (n - 1) ** 2
    assert abs(with_noise.mean() - total) < 5.0 * with_noise.std() / math.sqrt(draws)
    if spread:
        noise_alone = sigma[0] ** 2 + sum(s**2 for s in sigma[1:]) / (n - 1) ** 2
        assert with_noise.mean() > noise_alone + 0.3


@pytest.mark.parametrize("d", [10, 1000])
def test_e11_failure_summed_squares_are_priced_d_times(d: int) -> None:
    """E ||noise||^2 = d sigma^2: the slope of the charge is d times the marginal harm."""
    rng = np.random.default_rng(d)
    draws = 2_000
    squares = (rng.normal(0.0, 0.7, (draws, d)) ** 2).sum(axis=1)
    error = squares.std() / math.sqrt(draws)
    assert abs(squares.mean() - d * 0.49) < 5.0 * error
    assert squares.mean() > 0.49 * d / 2.0 > 0.49


@settings(deadline=None, max_examples=60)
@given(models, rngs())
def test_e12_the_most_sensitive_add_the_least_noise(model: Model, rng: np.random.Generator) -> None:
    """Under the MLE rule; with any one weight for all, more sensitive clients add more."""
    order = np.argsort(model.alpha)
    for sigma in (mle_equilibrium(model), mle_optimum(model)):
        assert (np.diff(np.array(sigma)[order]) < 0).all()
    for sigma in (mean_equilibrium(model), mean_optimum(model)):
        assert (np.diff(np.array(sigma)[order]) > 0).all()
    weights = rng.dirichlet(np.full(model.n, 5.0))
    committed = committed_point(model, weights.tolist(), [model.weight] * model.n)
    scaled = np.array(committed) * weights ** (2.0 / 3.0)  # at equal weight
    assert (np.diff(scaled[order]) > 0).all()


@settings(deadline=None, max_examples=60)
@given(models)
def test_e12_privacy_loss_is_proportional_to_sensitivity(model: Model) -> None:
    loss = model.a / np.array(mle_optimum(model))
    np.testing.assert_allclose(loss / np.array(model.alpha), loss[0] / model.alpha[0], rtol=1e-9)


def rounds(model: Model, sigma: list[float]) -> float:
    """Proposition 1: T = L ||w0 - w*|| / Delta with ||w0 - w*|| = kappa / 16."""
    return model.smoothness * model.kappa / 16.0 / following(sigma)


def test_e13_rounds_depend_on_what_clients_do_afterwards() -> None:
    model = half_and_half(100)
    obedient, selfish = rounds(model, mle_optimum(model)), rounds(model, mle_equilibrium(model))
    assert obedient > 10.0 * selfish
    assert obedient == pytest.approx(34.33, abs=0.01)


def test_e13_rounds_depend_on_the_types() -> None:
    low, high = (Model((alpha,) * 100) for alpha in (0.25, 0.75))
    assert rounds(low, mle_optimum(low)) > 2.9 * rounds(high, mle_optimum(high))


@pytest.mark.parametrize("alpha", [0.999, 0.9999, 0.99999])
def test_e13_less_than_one_round_where_the_price_of_anarchy_grows(alpha: float) -> None:
    model = Model((0.5,) * 99 + (alpha,))
    assert rounds(model, mle_equilibrium(model)) < 1.0
    assert rounds(model, mle_optimum(model)) > 30.0
