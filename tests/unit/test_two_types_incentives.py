"""The two-type model: cases compared, rewards, and what one client gains by a lie."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from scipy.stats import binom
from tests.two_types import LOSS, model, models

from pigou import Degenerate
from pigou.paper.two_types import Case, Comparison, Outcome, PerType, RewardStatus, TwoTypes
from pigou.paper.two_types.cases import mean_optimum
from pigou.paper.two_types.pair import HIGH, LOW
from pigou.paper.two_types.rewards import expected_reward

EXACT = 1e-11  # relative: what rounding leaves


# Comparison and rewards


def test_the_paper_compares_whole_cases() -> None:
    """At N = 10, eta = 0.3 the types disagree: low ones want truth, high ones all-low."""
    comparison = model().comparison
    assert comparison.preferred == (Case.TRUTHFUL, Case.ALL_LOW)
    assert comparison.chosen is None
    assert "low types prefer case 3" in str(comparison)
    assert "high types prefer case 1" in str(comparison)
    for kind, case in enumerate(comparison.preferred):
        assert comparison.costs[case][kind] == min(c[kind] for c in comparison.costs.values())


def test_rewards_are_taken_off_the_costs_that_are_compared() -> None:
    m = model(100, 0.8)
    paid = m.rewards.required()
    assert paid.low == 0.0
    assert paid.high > 10.0
    for case, expected in (
        (Case.TRUTHFUL, (0.0, paid.high * m.q2_high)),
        (Case.SWAPPED, (paid.high * m.q1, 0.0)),
        (Case.ALL_LOW, (0.0, 0.0)),
        (Case.ALL_HIGH, (paid.high * 0.2**100, paid.high * 0.2**100)),
    ):
        got = np.array(m.costs_before_reward(case)) - np.array(m.comparison.costs[case])
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("case", Case)
def test_expected_rewards_are_those_of_all_profiles(case: Case) -> None:
    """r^L or r^H, by one's own report, times p of the number of low reports; four others."""
    m, paid = TwoTypes(5, 0.3, 0.25, 0.75, LOSS, 0.5), PerType(2.0, 3.0)
    for kind in (LOW, HIGH):
        expected = 0.0
        for others in itertools.product((LOW, HIGH), repeat=4):
            low = sum(case.reports[k] == LOW for k in (kind, *others))
            chance = math.prod((0.3, 0.7)[k] for k in others)
            expected += chance * paid[case.reports[kind]] * float(binom.pmf(low, 5, 0.3))
        assert math.isclose(expected_reward(m, case, paid)[kind], expected, rel_tol=EXACT)


def test_of_equal_cases_the_truthful_one_is_preferred() -> None:
    """Rewards that bind make a type indifferent, up to rounding, between two cases."""
    costs = {case: PerType(2.0, 1.0) for case in Case}
    costs[Case.ALL_HIGH] = PerType(2.0, 1.0 - 1e-12)
    costs[Case.SWAPPED] = PerType(1.9, 1.0)
    comparison = Comparison(costs, (), model().rewards)
    assert comparison.preferred == (Case.SWAPPED, Case.TRUTHFUL)


@settings(deadline=None, max_examples=25)
@given(models())
def test_rewards_solve_the_equations_they_come_from(m: TwoTypes) -> None:
    assume(m.status is Outcome.FOUND and abs(m.eta - 0.5) > 0.01)
    a = m.before_reward
    for rewards, q1_high, q2_high in (
        (m.rewards, m.q1, m.q2),
        (m.rewards_corrected, m.q1_high, m.q2_high),
    ):
        assert rewards.solved is not None
        low, high = rewards.solved
        assert rewards.paid == (max(low, 0.0), max(high, 0.0))
        size = (abs(low) + abs(high)) * (m.q1 + m.q2 + q1_high + q2_high)
        assert abs(m.q2 * low - m.q1 * high - (a.a3 - a.a1)) < EXACT * size
        assert abs(q2_high * high - q1_high * low - (a.a4 - a.a2)) < EXACT * size


def test_printed_rewards_are_the_printed_formulas() -> None:
    m = model(100, 0.8)
    a, q1, q2 = m.before_reward, m.q1, m.q2
    bottom = q2**2 - q1**2
    low = max((q2 * (a.a3 - a.a1) - q1 * (a.a2 - a.a4)) / bottom, 0.0)
    high = max((q1 * (a.a3 - a.a1) - q2 * (a.a2 - a.a4)) / bottom, 0.0)
    np.testing.assert_allclose(m.rewards.required(), (low, high), rtol=EXACT)


@pytest.mark.parametrize("n", [10, 100, 1000, 10**6])
def test_at_one_half_the_rewards_do_not_exist_and_the_rest_does(n: int) -> None:
    m = model(n, 0.5)
    assert math.isclose(m.q1, m.q2, rel_tol=1e-10)
    for rewards in (m.rewards, m.rewards_corrected):
        assert rewards.status is RewardStatus.SINGULAR
        assert rewards.paid is rewards.solved is None
        assert "do not exist" in str(rewards)
        with pytest.raises(Degenerate, match="eta must not be 1/2"):
            rewards.required()
    with pytest.raises(Degenerate, match="eta must not be 1/2"):
        m.constant_refund()
    assert m.constant_refund(rewards=False) > 0.0
    assert "compared before rewards" in str(m.comparison)
    assert m.comparison.costs[Case.TRUTHFUL] == m.costs_before_reward(Case.TRUTHFUL)


def test_rewards_diverge_towards_one_half() -> None:
    sizes = [abs(model(100, 0.5 + d).rewards.solved.low) for d in (0.01, 0.001, 0.0001)]  # type: ignore[union-attr]  # defined off 1/2
    assert sizes[1] > 5.0 * sizes[0]
    assert sizes[2] > 5.0 * sizes[1]


@pytest.mark.parametrize("n", [10, 1000, 10**5])
def test_q1_and_q2_are_the_sums(n: int) -> None:
    m = model(n, 0.45)
    number = np.arange(n)
    chance = binom.pmf(number, n - 1, 0.45)
    for found, reports in (
        (m.q1, n - 1 - number),
        (m.q2, number + 1),
        (m.q1_high, n - number),
        (m.q2_high, number),
    ):
        direct = float(chance @ binom.pmf(reports, n, 0.45))
        assert math.isclose(found, direct, rel_tol=1e-9, abs_tol=1e-300)


# One client's deviation


@settings(deadline=None, max_examples=60)
@given(models())
def test_with_mean_weights_some_reward_always_makes_truth_an_equilibrium(m: TwoTypes) -> None:
    """Increasing differences in (type, price), and prices that fall with the type (section 4)."""
    found = m.interim_mean
    assert found.beta.low >= found.beta.high * (1.0 - EXACT)
    assert found.feasible
    middle = (found.lower + found.upper) / 2.0
    reward = PerType(middle, 0.0)
    assert all(lie.relative <= 1e-11 for lie in found.lies(reward))


@settings(deadline=None, max_examples=60)
@given(models())
def test_with_the_papers_weights_no_reward_does(m: TwoTypes) -> None:
    """E9, on the branch that the paper means: no theorem is claimed; found in every draw."""
    assume(m.status is Outcome.FOUND)
    found = m.interim_mle
    assert not found.feasible
    for low, high in ((0.0, 0.0), m.rewards.paid or (0.0, 0.0), (found.upper, 0.0)):
        assert found.best_lie(PerType(low, high)).gain > 0.0


def test_the_lie_that_pays_is_named() -> None:
    lie = model().interim_mle.best_lie()
    assert lie.kind == 1
    assert math.isclose(lie.gain, 1.791, rel_tol=1e-3)
    assert str(lie).startswith("a high type that reports low and plays noise 2.075")
    assert "69.1 % of its cost" in str(lie)
    assert "gains nothing" in str(model().interim_mle.lies()[0])


def test_the_social_optimum_of_mean_weights_is_the_least() -> None:
    m = model()
    sigma = mean_optimum(m).required()
    least = m.expected_social_cost(sigma, Case.ALL_LOW)  # all report alike: mean weights
    for low in np.geomspace(0.3, 3.0, 7):
        for high in np.geomspace(0.3, 3.0, 7):
            other = PerType(sigma.low * low, sigma.high * high)
            assert m.expected_social_cost(other, Case.ALL_LOW) >= least * (1.0 - EXACT)
