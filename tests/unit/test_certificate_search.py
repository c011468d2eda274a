"""The search over one's own noise, and the cost that it searches."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.strategies import games, rngs

from pigou.certificate.facing import expected_bills, facing, net_slopes, without_own
from pigou.certificate.search import best_noise
from pigou.certificate.stakes import CERTAIN, Stakes
from pigou.game import AccuracyLoss, Game, Setting
from pigou.mechanisms import Pigouvian
from pigou.mechanisms.expected import expected_bills as bills_of_the_mechanisms
from pigou.terms import RefundRule, Terms

Floats = NDArray[np.float64]


@st.composite
def stakes_and_noise(draw: st.DrawFn, states: int = 1) -> tuple[Stakes, Floats]:
    """Rows of any kind over twelve decades, and the noise obeyed in each."""
    rng = draw(rngs())
    rows = 5

    def size(*shape: int) -> Floats:
        """Zero one time in four."""
        return 10.0 ** rng.uniform(-6.0, 6.0, shape) * (rng.random(shape) < 0.75)

    chance = rng.dirichlet(np.ones(states)) if states > 1 else CERTAIN
    stakes = Stakes(
        linear=size(rows),
        quadratic=size(rows),
        privacy=size(rows),
        others=size(rows, states),
        weight=10.0 ** rng.uniform(-6.0, 6.0, (rows, states)),
        price=size(rows),
        chance=chance,
    )
    return stakes, 10.0 ** rng.uniform(-6.0, 6.0, rows)


def dense(stakes: Stakes, row: int, sigma: Floats) -> Floats:
    """f on a grid, from its definition."""
    error = np.sqrt(stakes.others[row] ** 2 + stakes.weight[row] ** 2 * sigma[:, None] ** 2)
    accuracy = (stakes.linear[row] * error + stakes.quadratic[row] * error**2) @ stakes.chance
    return np.asarray(accuracy + stakes.privacy[row] / sigma + stakes.price[row] * sigma**2)


@pytest.mark.parametrize("states", [1, 4])
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_no_noise_on_a_dense_grid_is_cheaper(states: int, data: st.DataObject) -> None:
    stakes, obeyed = data.draw(stakes_and_noise(states))
    best = best_noise(stakes, obeyed)
    values = stakes.value(best)
    grid = np.logspace(-20.0, 20.0, 4001)
    for row, value in enumerate(values):
        costs = dense(stakes, row, grid)
        # The search leaves 1e-13 of the cost; sums of three terms round by a few 1e-16 of it.
        assert value <= costs.min() * (1.0 + 1e-12)


@settings(deadline=None, max_examples=60)
@given(stakes_and_noise())
def test_the_best_noise_never_costs_more_than_the_obeyed(case: tuple[Stakes, Floats]) -> None:
    stakes, obeyed = case
    assert (stakes.gain(obeyed, best_noise(stakes, obeyed)) >= 0).all()


@settings(deadline=None, max_examples=60)
@given(stakes_and_noise(3), st.floats(-0.01, 0.01))
def test_changes_are_differences_of_values(case: tuple[Stakes, Floats], step: float) -> None:
    stakes, start = case
    for end in (start * math.exp(step), start * 100.0):
        change = stakes.change_from(start)(end)
        before, after = stakes.value(start), stakes.value(end)
        assert (np.abs(change - (after - before)) <= 1e-14 * (before + after)).all()
        np.testing.assert_allclose(stakes.gain(start, end), -change, rtol=0)


def test_small_changes_keep_their_digits() -> None:
    """f(s) = 1/s + s at s = 1: a step h changes it by h^2 - h^3 + ..., far below rounding of f."""
    one, none = np.ones(1), np.zeros(1)
    stakes = Stakes(one, none, one, none[:, None], one[:, None], none, CERTAIN)
    step = 1e-6
    change = stakes.change_from(one)(one + step)
    # Each of the two parts is known to 1e-16 of h, and they cancel down to h^2.
    assert change[0] == pytest.approx(step**2, rel=1e-16 / step + 2 * step)


@settings(deadline=None, max_examples=60)
@given(stakes_and_noise(2))
def test_curvature_is_the_second_difference(case: tuple[Stakes, Floats]) -> None:
    stakes, sigma = case
    h = 1e-3
    change = stakes.change_from(sigma)
    second = (change(sigma * (1 + h)) + change(sigma * (1 - h))) / h**2
    # The fourth derivative of 1/s leaves 2 h^2 of it; the parts of f round by 1e-16 of them.
    rounding = 1e-15 / h**2 * stakes.value(sigma)
    curvature = stakes.curvature(sigma)
    assert (np.abs(curvature - second) <= 1e-5 * curvature + rounding).all()


@pytest.mark.parametrize("privacy", [0.0, 1.0])
def test_a_price_paid_for_noise_is_no_minimum_and_gains_without_limit(privacy: float) -> None:
    one, none = np.ones(1), np.zeros(1)
    stakes = Stakes(one, none, privacy * one, one[:, None], one[:, None], -2.0 * one, CERTAIN)
    assert stakes.curvature(np.array([3.0]))[0] < 0
    best = best_noise(stakes, one)
    assert best[0] == math.inf
    assert stakes.gain(one, best)[0] == math.inf


@settings(deadline=None, max_examples=60)
@given(games(least=3, most=9))
def test_net_slopes_are_unit_prices_and_bills_those_of_the_mechanisms(game: Game) -> None:
    terms = Pigouvian().terms(game.setting, game.alpha)
    assert terms.sigma is not None
    np.testing.assert_allclose(net_slopes(terms), terms.unit_price, rtol=1e-12)
    ours = expected_bills(game.setting, terms, terms.sigma)
    theirs = bills_of_the_mechanisms(game.setting, terms, terms.sigma)
    np.testing.assert_allclose(ours.charge, theirs.charge, rtol=1e-13)
    np.testing.assert_allclose(ours.refund, theirs.refund, rtol=1e-13)


def with_charge(terms: Terms, charge: Floats) -> Terms:
    """Terms whose charges are not those that make the net slope the unit price."""
    wrong = dataclasses.replace(terms)
    object.__setattr__(wrong, "charge", charge)
    return wrong


@settings(deadline=None, max_examples=30)
@given(games(least=3, most=9), st.floats(1e-10, 1.0))
def test_charges_that_do_not_make_the_unit_price_are_seen(game: Game, wrong: float) -> None:
    terms = Pigouvian().terms(game.setting, game.alpha)
    charge = terms.charge * np.append(1.0 + wrong, np.ones(game.setting.n - 1))
    slopes = net_slopes(with_charge(terms, charge))
    expected = terms.unit_price[0] + wrong * terms.charge[0]
    assert slopes[0] == pytest.approx(expected, rel=1e-12)


def test_bills_are_linear_in_the_variance_of_own_noise_with_the_net_slope() -> None:
    rng = np.random.default_rng(4)
    sigma, alpha = rng.uniform(0.1, 1.0, 5), rng.uniform(0.1, 0.9, 5)
    setting = Setting(5, AccuracyLoss(1.0, 1.0), 0.5, rng.dirichlet(np.ones(5)), 0.2, 0.1)
    kinds: tuple[RefundRule, ...] = ("zero-sum", "constant")
    for refund in kinds:
        terms = Pigouvian(refund=refund).terms(setting, alpha)
        for client in range(5):
            louder = sigma.copy()
            louder[client] += 0.7
            before = expected_bills(setting, terms, sigma).net[client]
            after = expected_bills(setting, terms, louder).net[client]
            variance = louder[client] ** 2 - sigma[client] ** 2
            assert (after - before) / variance == pytest.approx(terms.unit_price[client], rel=1e-9)
            fixed = facing(setting, terms, sigma).fixed[client]
            assert fixed == pytest.approx(facing(setting, terms, louder).fixed[client], rel=1e-9)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.floats(0.0, 1e9), min_size=1, max_size=9))
def test_without_own_leaves_out_one_entry(values: list[float]) -> None:
    expected = [math.fsum(values[:i] + values[i + 1 :]) for i in range(len(values))]
    np.testing.assert_allclose(without_own(np.array(values)), expected, rtol=1e-14)


def test_the_largest_does_not_drown_the_others() -> None:
    assert without_own(np.array([1e300, 1.0, 2.0])).tolist() == [3.0, 1e300, 1e300]
