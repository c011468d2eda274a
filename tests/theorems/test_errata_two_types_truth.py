"""E8 and E9: the paper's rewards and truthful reporting, by hand."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize, minimize_scalar
from scipy.stats import binom
from tests.strategies import rngs
from tests.theorems.two_types_by_hand import (
    LISTED,
    Floats,
    Noise,
    Two,
    optimum,
    printed_beta,
    social_cost,
)

from pigou import AccuracyLoss, Game, Setting
from pigou.certificate import certify
from pigou.paper.errata import evidence
from pigou.paper.errata.record import Cell
from pigou.paper.two_types import PaperTwoTypes
from pigou.population import two_point


def value(cell: Cell) -> float:
    assert isinstance(cell, int | float)
    return float(cell)


# E8


@pytest.mark.parametrize("n", [3, 4, 10, 47, 100, 200])
def test_e8_the_rewards_equations_are_singular_at_one_half(n: int) -> None:
    """Q2 rL - Q1 rH and Q2 rH - Q1 rL are the same up to sign, and so have no solution."""
    number = np.arange(n)
    p = binom.pmf(number, n - 1, 0.5)
    q1 = float(p @ binom.pmf(n - 1 - number, n, 0.5))
    q2 = float(p @ binom.pmf(number + 1, n, 0.5))
    assert math.isclose(q1, q2, rel_tol=1e-9)


def test_e8_q1_and_q2_cross_a_second_time_just_below_one_half() -> None:
    number = np.arange(100)

    def gap(eta: float) -> float:
        p = binom.pmf(number, 99, eta)
        return float(p @ (binom.pmf(99 - number, 100, eta) - binom.pmf(number + 1, 100, eta)))

    assert gap(0.45) < 0.0 < gap(0.499)
    text = evidence("E8").finding
    assert f"{brentq(gap, 0.45, 0.499):.3g} at N = 100" in text


# E9


def interim_cost(g: Two, kind: int, tau: Noise, own: float, noise: Noise, beta: float) -> Floats:
    """Least expected cost of a client predicted ``own``, and the noise that attains it."""
    low, p = g.counts(g.n - 1)
    high = g.n - 1 - low
    weight = own**-2 + low * tau[0] ** -2 + high * tau[1] ** -2
    rest = low * noise[0] ** 2 * tau[0] ** -4 + high * noise[1] ** 2 * tau[1] ** -4
    others = float(p @ (low * noise[0] ** 2 + high * noise[1] ** 2)) / g.n**2

    def cost(z: float) -> float:
        s = math.exp(z)
        error = np.sqrt(s**2 * own**-4 + rest) / weight
        bill = beta * (((g.n - 1) / g.n) ** 2 * s**2 + others)
        return float(p @ g.psi(error)) * (1.0 - g.alpha[kind]) + g.alpha[kind] * g.a / s + bill

    best = minimize_scalar(cost, bounds=(-8.0, 8.0), method="bounded", options={"xatol": 1e-11})
    return np.array([best.fun, math.exp(best.x)])


def interim_matrix(g: Two, tau: Noise, noise: Noise, beta: Noise) -> Floats:
    """C[type][report]."""
    return np.array(
        [[interim_cost(g, t, tau, tau[r], noise, beta[r])[0] for r in (0, 1)] for t in (0, 1)]
    )


def paper_matrix(g: Two) -> Floats:
    noise = optimum(g)
    return interim_matrix(g, noise, noise, printed_beta(g, noise, g.n - 1, g.n - 1))


def mean_matrix(g: Two) -> Floats:
    """Mean weights: their own optimum, and Pigou's price in expectation."""

    def cost(z: Floats) -> float:
        return social_cost(g, (math.exp(z[0]), math.exp(z[1])), mean=True)

    at = minimize(
        cost, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14}
    ).x
    noise = (math.exp(at[0]), math.exp(at[1]))
    beta = []
    for kind in (0, 1):
        n, p = g.counts(g.n - 1)
        low = n + (kind == 0)
        error = np.sqrt(low * noise[0] ** 2 + (g.n - low) * noise[1] ** 2) / g.n
        others = n * (1.0 - g.alpha[0]) + (g.n - 1 - n) * (1.0 - g.alpha[1])
        slope = g.kappa * (1.0 / error + 1.0 / g.smooth)
        beta.append(float(p @ (others * slope)) / (2.0 * (g.n - 1) ** 2))
    return interim_matrix(g, (1.0, 1.0), noise, (beta[0], beta[1]))


@pytest.mark.parametrize(("n", "eta"), LISTED)
def test_e9_the_two_constraints_contradict_each_other(n: int, eta: float) -> None:
    low, high = paper_matrix(Two(n, eta))
    assert low[0] - low[1] > high[0] - high[1] + 0.3


@pytest.mark.parametrize(("n", "eta"), LISTED)
def test_e9_with_mean_weights_they_do_not(n: int, eta: float) -> None:
    low, high = mean_matrix(Two(n, eta))
    assert 0.0 < low[0] - low[1] < high[0] - high[1]


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(LISTED), rngs(), st.floats(-2.0, 3.0))
def test_e9_no_reward_whatever_makes_both_types_truthful(
    listed: tuple[int, float], rng: np.random.Generator, size: float
) -> None:
    """Any reward of one's own report and of how many report low, not only the paper's form."""
    g = Two(*listed)
    cost = paper_matrix(g)
    reward = 10.0**size * rng.normal(size=(2, g.n + 1))  # by report, by number of low reports
    n, p = g.counts(g.n - 1)
    number = n.astype(int)
    expected = np.array([p @ reward[0, number + 1], p @ reward[1, number]])  # types independent
    net = cost - expected
    gains = (net[0, 0] - net[0, 1], net[1, 1] - net[1, 0])
    half_the_gap = (cost[0, 0] - cost[0, 1] - cost[1, 0] + cost[1, 1]) / 2.0
    assert half_the_gap > 0.15
    assert max(gains) >= half_the_gap * (1.0 - 1e-9) - 1e-12 * np.abs(net).max()


@pytest.mark.parametrize(("n", "eta"), [(10, 0.3), (10, 0.5), (100, 0.8)])
def test_e9_the_certificate_fails_and_names_the_lie(n: int, eta: float) -> None:
    setting = Setting(n, AccuracyLoss.bound(16.0, 2.0), 0.5)
    population = two_point(0.25, 0.75, eta)
    mechanism = PaperTwoTypes.for_setting(setting, population, rewards=eta != 0.5)
    game = Game(setting, np.repeat([0.25, 0.75], [round(n * eta), n - round(n * eta)]))
    found = certify(
        game,
        mechanism.terms(setting, game.alpha),
        rule=lambda reports: mechanism.terms(setting, reports),
        report_space=mechanism.report_space,
        population=population,
    )
    assert not found.ok
    assert found.report is not None
    assert found.noise.relative < 1e-9  # given the truth, obedience is best
    if eta != 0.8:  # no rewards are paid: the gain is that of the matrix computed here
        cost = paper_matrix(Two(n, eta))
        assert math.isclose(found.report.gain, cost[1, 1] - cost[1, 0], rel_tol=1e-6)
        assert "0.75 reports 0.25" in found.explain()
    assert found.report.relative > 0.4


# The page's evidence


def test_the_pages_bounds_are_those_found_here() -> None:
    bounds, preferences = evidence("E9").evidence
    for n, eta, rule, lower, upper, lie in bounds.rows:
        g = Two(int(n), value(eta))
        low, high = mean_matrix(g) if rule == "mean" else paper_matrix(g)
        assert math.isclose(value(lower), low[0] - low[1], rel_tol=1e-5)
        assert math.isclose(value(upper), high[0] - high[1], rel_tol=1e-5)
        assert (lie == "none") == (rule == "mean")
    assert {(row[0], row[1]) for row in bounds.rows} == set(LISTED)
    for low_row, high_row in itertools.pairwise(preferences.rows):
        if low_row[2] == "low":
            assert low_row[-1] != high_row[-1]


def test_the_pages_rewards_blow_up_at_one_half() -> None:
    rewards, _ = evidence("E8").evidence
    by_eta = {row[0]: row for row in rewards.rows}
    assert by_eta[0.5][3:] == ("none",) * 4
    assert all(abs(value(by_eta[eta][3])) > 1e4 for eta in (0.499, 0.501))
    assert all(abs(value(by_eta[eta][3])) < 1e2 for eta in (0.3, 0.8))
