"""E2: sigma* is an equilibrium for committed weights only; otherwise clients leave."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import rngs
from tests.theorems.errata_by_hand import (
    UNLIMITED,
    Model,
    committed,
    committed_point,
    following,
    half_and_half,
    mle_equilibrium,
    precision_weights,
    random_model,
)

models = st.builds(random_model, st.integers(2, 8), rngs())
MOVES = [math.exp(x / 20.0) for x in range(-120, 121) if x]  # of one client's noise
STEP = 1e-3
EXPONENT = 4.0 / 3.0


def cost_following(model: Model, sigma: list[float], client: int, noise: float) -> float:
    moved = [noise if j == client else s for j, s in enumerate(sigma)]
    return model.own_cost(client, moved, following(moved))


def curvature(model: Model, sigma: list[float], client: int) -> float:
    """d^2 J_i / d(log sigma_i)^2, weights following."""
    at = [
        cost_following(model, sigma, client, sigma[client] * math.exp(k * STEP)) for k in (-1, 0, 1)
    ]
    return (at[0] - 2.0 * at[1] + at[2]) / STEP**2


@settings(deadline=None, max_examples=40)
@given(models)
def test_claim_nobody_gains_when_weights_are_committed(model: Model) -> None:
    sigma = mle_equilibrium(model)
    weights = precision_weights(sigma)
    for i in range(model.n):
        own = model.own_cost(i, sigma, committed(sigma, weights))
        for move in MOVES:
            moved = [s * move if j == i else s for j, s in enumerate(sigma)]
            assert model.own_cost(i, moved, committed(moved, weights)) > own


@settings(deadline=None, max_examples=60)
@given(models)
def test_failure_a_client_with_less_than_half_the_precision_leaves(model: Model) -> None:
    sigma = mle_equilibrium(model)
    for i, share in enumerate(precision_weights(sigma)):
        if share < 0.5:
            stay = cost_following(model, sigma, i, sigma[i])
            assert cost_following(model, sigma, i, UNLIMITED) < stay


@pytest.mark.parametrize(("linear", "square"), [(1.0, 0.0), (1.0, 1.0), (0.0, 1.0)])
def test_failure_the_share_below_which_clients_leave(linear: float, square: float) -> None:
    """Between 1/2 (square loss) and 0.618 (linear loss), where 1 - p - p^2 = 0.

    In x = 1/sigma, with T the total precision (1 if the client stays), its cost is f(T) + m x,
    f = linear T^(-1/2) + square T^(-1), and m is such that x is stationary.
    """

    def leaving_pays(share: float) -> bool:
        own, others = math.sqrt(share), 1.0 - share  # the total precision is 1
        price = linear * own + 2.0 * square * own  # -d/dx of the loss, at T = 1
        stay = linear + square + price * own
        return bool(stay > linear / math.sqrt(others) + square / others)

    assert leaving_pays(0.499)
    assert not leaving_pays(0.619)
    golden = (math.sqrt(5.0) - 1.0) / 2.0
    if square == 0.0:
        assert leaving_pays(golden - 1e-6)
        assert not leaving_pays(golden + 1e-6)
    if linear == 0.0:
        assert not leaving_pays(0.501)


@pytest.mark.parametrize("n", range(2, 12))
def test_failure_a_local_maximum_of_the_own_cost_when_more_than_three_are_equal(n: int) -> None:
    model = Model((0.5,) * n)
    sign = curvature(model, mle_equilibrium(model), 0)
    assert sign < -1e-3 if n > 3 else sign > 1e-3


@settings(deadline=None, max_examples=30)
@given(st.builds(random_model, st.integers(2, 6), rngs()), st.floats(-0.01, 0.01))
def test_failure_re_committing_multiplies_every_difference_by_four_thirds(
    model: Model, nudge: float
) -> None:
    star = mle_equilibrium(model)
    sigma = [s * math.exp(nudge if i == 0 else 0.0) for i, s in enumerate(star)]
    accuracy = [1.0 - alpha for alpha in model.alpha]
    again = committed_point(model, precision_weights(sigma), accuracy)
    for i in range(1, model.n):
        before = math.log(sigma[0] / star[0]) - math.log(sigma[i] / star[i])
        after = math.log(again[0] / star[0]) - math.log(again[i] / star[i])
        assert after == pytest.approx(EXPONENT * before, abs=1e-10)


def test_failure_one_client_ends_with_almost_all_of_the_weight() -> None:
    model = half_and_half(10)
    accuracy = [1.0 - alpha for alpha in model.alpha]
    sigma = mle_equilibrium(model)
    sigma[0] *= 0.99
    share = 0.0
    for _ in range(30):
        weights = precision_weights(sigma)
        share = weights[0]
        sigma = committed_point(model, weights, accuracy)
    assert share > 0.999
