"""Solutions: closed form and iteration agree, and the edges are exact."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import changed, games, rngs

from pigou import AccuracyLoss, Degenerate, Game, Setting, equilibrium, optimum
from pigou.game import WeightSpec
from pigou.solve import Outcome

SAME = 1e-12  # closed form against Newton
BOTH = AccuracyLoss(1.0, 2.0)


def game(
    alpha: list[float],
    *,
    loss: AccuracyLoss = BOTH,
    weights: WeightSpec = "mean",
    spread: float = 0.0,
) -> Game:
    return Game(Setting(len(alpha), loss, 0.5, weights, spread), alpha)


@settings(deadline=None, max_examples=200)
@given(games(spread="zero"))
def test_closed_form_and_newton_agree(of: Game) -> None:
    """A price of 1e-300 and a spread of 1e-300 change nothing but the way to the answer."""
    n = of.setting.n
    closed, priced = equilibrium(of), equilibrium(of, np.full(n, 1e-300))
    assert closed.status.outcome is Outcome.CLOSED_FORM
    assert closed.iterations == 0
    assert priced.status.outcome is Outcome.CONVERGED
    spread = Game(changed(of.setting, spread=1e-300), of.alpha)
    for one, other in (
        (closed, priced),
        (closed, equilibrium(spread)),
        (optimum(of), optimum(spread)),
    ):
        np.testing.assert_allclose(other.sigma, one.sigma, rtol=SAME)
        assert other.error == pytest.approx(one.error, rel=SAME)
        assert 0 < other.iterations <= 10


@settings(deadline=None, max_examples=100)
@given(games(spread="positive"))
def test_both_iterations_agree(of: Game) -> None:
    """Two sums and a scalar equation without prices, a pass over all clients a step with them."""
    one, other = equilibrium(of), equilibrium(of, np.full(of.setting.n, 1e-300))
    np.testing.assert_allclose(other.sigma, one.sigma, rtol=SAME)
    assert other.error == pytest.approx(one.error, rel=SAME)


@settings(deadline=None, max_examples=100)
@given(games(), rngs(), st.sampled_from([1e-3, 1.0, 1e3]))
def test_the_iteration_is_newton_s(of: Game, rng: np.random.Generator, scale: float) -> None:
    """A right slope doubles the digits each step; halving the distance would take 40 steps."""
    price = scale * rng.uniform(0, 1, of.setting.n)
    assert equilibrium(of, price).iterations <= 8


@settings(deadline=None, max_examples=100)
@given(games())
def test_the_error_and_costs_reported_are_those_of_the_noise(of: Game) -> None:
    for found in (equilibrium(of), optimum(of)):
        assert found.error == pytest.approx(of.error(found.sigma), rel=SAME)
        np.testing.assert_allclose(found.costs, of.costs(found.sigma), rtol=SAME)
        assert found.social_cost == pytest.approx(found.costs.sum(), rel=SAME)


@settings(deadline=None, max_examples=100)
@given(games(spread="zero", weights="mean"))
def test_the_closed_form_of_the_theory(of: Game) -> None:
    """linear K^2 + 2 quadratic H K^3 = a H with sigma = K g (section 2)."""
    weights, loss, a = of.setting.weights, of.setting.loss, of.setting.privacy_scale
    g = np.cbrt(of.alpha / ((1.0 - of.alpha) * weights**2))
    h = math.sqrt(float((weights**2 * g**2).sum()))
    ratio = equilibrium(of).sigma / g
    k = float(ratio.mean())
    np.testing.assert_allclose(ratio, k, rtol=SAME)
    assert loss.linear * k**2 + 2.0 * loss.quadratic * h * k**3 == pytest.approx(a * h, rel=1e-11)


def test_costs_are_computed_on_first_access_only() -> None:
    found = optimum(game([0.2, 0.5]))
    assert "costs" not in vars(found)
    assert found.costs is found.costs
    assert "social_cost" not in vars(found)


def test_solutions_are_read_only() -> None:
    of = game([0.2, 0.5, 0.8])
    for found in (optimum(of), equilibrium(of), equilibrium(of, [1.0, 1.0, 1.0])):
        with pytest.raises(ValueError, match="read-only"):
            found.sigma[0] = 1.0
        with pytest.raises(ValueError, match="read-only"):
            found.costs[0] = 1.0


@pytest.mark.parametrize("loss", [BOTH, AccuracyLoss(1.0, 0.0), AccuracyLoss(0.0, 1.0)])
@pytest.mark.parametrize("spread", [0.0, 0.3])
@pytest.mark.parametrize("price", [None, [0.0, 1.0, 0.0]])
def test_without_privacy_concerns_no_noise_and_no_cost_of_it(
    loss: AccuracyLoss, spread: float, price: list[float] | None
) -> None:
    of = game([0.0, 0.5, 0.0], loss=loss, spread=spread)
    for found in (equilibrium(of, price), optimum(of)):
        assert found.sigma[[0, 2]].tolist() == [0.0, 0.0]
        assert found.sigma[1] > 0
        assert found.costs[0] == found.costs[2] == loss(found.error)


@pytest.mark.parametrize("spread", [0.3, 1e-9])
def test_if_nobody_minds_the_error_is_that_of_the_data(spread: float) -> None:
    of = game([0.0, 0.0], spread=spread)
    for found in (equilibrium(of), optimum(of), equilibrium(of, [1.0, 2.0])):
        assert found.sigma.tolist() == [0.0, 0.0]
        assert found.error == pytest.approx(math.sqrt(spread / 2.0), rel=1e-15)


@pytest.mark.parametrize("loss", [BOTH, AccuracyLoss(1.0, 0.0), AccuracyLoss(0.0, 1.0)])
@pytest.mark.parametrize("spread", [0.0, 0.3])
@pytest.mark.parametrize("price", [None, [0.0, 0.0, 1.0]])
def test_a_client_that_wants_only_privacy_adds_noise_without_limit(
    loss: AccuracyLoss, spread: float, price: list[float] | None
) -> None:
    of = game([0.5, 1.0, 0.2], loss=loss, spread=spread)
    found = equilibrium(of, price)
    assert found.status.outcome is Outcome.UNLIMITED
    assert found.status.clients == (1,)
    assert str(found.status) == "some clients gain from adding noise without limit: 1"
    assert found.sigma[1] == found.error == found.social_cost == math.inf
    assert found.costs.tolist() == [math.inf, 0.0, math.inf]


def test_every_client_without_limit_is_named() -> None:
    found = equilibrium(game([1.0, 0.5, 1.0, 0.0]))
    assert found.status.clients == (0, 2)
    assert found.costs.tolist() == [0.0, math.inf, 0.0, math.inf]
    many = equilibrium(game([1.0] * 30 + [0.5])).status
    assert len(many.clients) == 30
    assert str(many).endswith("8, 9, …")


def test_the_limit_of_alpha_to_1_is_that_edge() -> None:
    """Noise, error and the others' costs grow without bound; the client's own cost goes to 0."""
    solved = [equilibrium(game([0.5, 1.0 - 10.0**-k, 0.2])) for k in (3, 6, 9, 12)]
    assert (np.diff([found.error for found in solved]) > 0).all()
    assert (np.diff([found.costs[0] for found in solved]) > 0).all()
    assert (np.diff([found.costs[1] for found in solved]) < 0).all()
    assert solved[-1].costs[0] > 1e3
    assert solved[-1].costs[1] < 1e-3


@pytest.mark.parametrize("price", [[1.0, 1.0, 1.0], [0.0, 1e-9, 0.0]])
def test_a_price_holds_it_back(price: list[float]) -> None:
    found = equilibrium(game([0.5, 1.0, 0.2]), price)
    assert found.status.outcome is Outcome.CONVERGED
    assert np.isfinite(found.sigma).all()
    # all it pays is the privacy cost and the bill: a / sigma + b sigma^2 at its least
    assert found.sigma[1] == pytest.approx((0.5 / (2.0 * price[1])) ** (1 / 3), rel=SAME)


def test_the_optimum_bounds_it_too() -> None:
    found = optimum(game([0.5, 1.0, 0.2]))
    assert found.status.outcome is Outcome.CLOSED_FORM
    assert np.isfinite(found.sigma).all()


@pytest.mark.parametrize("price", [None, [1.0, 1.0, 0.0, 0.0]])
@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_clients_of_weight_0_stay_out(price: list[float] | None, spread: float) -> None:
    """The active ones play among themselves; the others hide all, or nothing if they need not."""
    of = game([0.2, 0.5, 0.9, 0.0], weights=[0.4, 0.6, 0.0, 0.0], spread=spread)
    active = game([0.2, 0.5], weights=[0.4, 0.6], spread=spread)
    found = equilibrium(of, price)
    alone = equilibrium(active, None if price is None else price[:2])
    np.testing.assert_allclose(found.sigma[:2], alone.sigma, rtol=SAME)
    assert found.sigma[2:].tolist() == [math.inf, 0.0]
    assert found.error == pytest.approx(alone.error, rel=SAME)
    psi = BOTH(found.error)
    np.testing.assert_allclose(found.costs[2:], [0.1 * psi, psi], rtol=SAME)
    assert not found.status.clients


def test_an_inactive_client_is_not_named_without_limit() -> None:
    found = equilibrium(game([0.2, 0.5, 1.0], weights=[0.4, 0.6, 0.0]))
    assert found.status.outcome is Outcome.CLOSED_FORM
    assert found.costs[2] == 0.0
    others = equilibrium(game([1.0, 0.5, 1.0], weights=[0.4, 0.6, 0.0]))
    assert others.status.clients == (0,)


@pytest.mark.parametrize("loss", [BOTH, AccuracyLoss(1.0, 0.0), AccuracyLoss(0.0, 1.0)])
def test_next_to_a_client_without_limit_those_who_do_not_mind_stay_silent(
    loss: AccuracyLoss,
) -> None:
    """The limit as that client's alpha goes to 1: others' noise is bounded if quadratic > 0."""
    found = equilibrium(game([0.0, 1.0, 0.5], loss=loss))
    near = equilibrium(game([0.0, 1.0 - 1e-15, 0.5], loss=loss))
    assert found.sigma[0] == near.sigma[0] == 0.0
    if loss.quadratic > 0:
        assert found.sigma[2] == pytest.approx(near.sigma[2], rel=1e-4)
    else:
        assert found.sigma[2] == math.inf
        assert near.sigma[2] > 100


def test_the_optimum_counts_those_who_only_use_the_model() -> None:
    of = game([0.2, 0.5, 0.9], weights=[0.4, 0.6, 0.0])
    found = optimum(of)
    m, a, phi = 0.8 + 0.5 + 0.1, 0.5, BOTH.slope_over_error(found.error)
    expected = np.cbrt([0.2 * a / (m * 0.16 * phi), 0.5 * a / (m * 0.36 * phi)])
    np.testing.assert_allclose(found.sigma[:2], expected, rtol=SAME)


@settings(deadline=None, max_examples=40)
@given(games(most=1))
def test_one_client_alone_does_what_is_best(of: Game) -> None:
    np.testing.assert_allclose(equilibrium(of).sigma, optimum(of).sigma, rtol=SAME)


@settings(deadline=None, max_examples=40)
@given(games(least=2, most=2), st.floats(0.0, 10.0))
def test_two_clients_satisfy_their_conditions(of: Game, price: float) -> None:
    setting = of.setting
    found = equilibrium(of, [price, price])
    phi = setting.loss.slope_over_error(found.error)
    harm = (1.0 - of.alpha) * setting.weights**2 * phi + 2.0 * price
    gain = of.alpha * setting.privacy_scale / found.sigma**3
    np.testing.assert_allclose(harm, gain, rtol=1e-11)


def test_games_without_a_finite_answer_are_named() -> None:
    with pytest.raises(Degenerate, match="alpha must not be 1 for every client"):
        optimum(game([1.0, 1.0]))
    silent = game([0.0, 0.0])
    for solve in (optimum, equilibrium, lambda of: equilibrium(of, [1.0, 1.0])):
        with pytest.raises(Degenerate, match="alpha must not be 0 for every client when spread"):
            solve(silent)
    only_idle = game([0.0, 0.0, 0.9], weights=[0.5, 0.5, 0.0])
    for solve in (optimum, equilibrium, lambda of: equilibrium(of, [1.0, 1.0, 0.0])):
        with pytest.raises(Degenerate, match="alpha"):
            solve(only_idle)


def test_if_all_want_only_privacy_there_is_an_equilibrium_but_no_optimum() -> None:
    found = equilibrium(game([1.0, 1.0]))
    assert found.status.clients == (0, 1)
    assert found.costs.tolist() == [0.0, 0.0]
    assert found.social_cost == 0.0
