"""Section 8: a Gaussian release is exactly mu-GDP, releases compose exactly, and no figure that a
client is told is smaller than the truth."""

import math

import dp_accounting
import mpmath as mp
import numpy as np
import pytest
from dp_accounting import pld, rdp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from pigou.privacy import Adjacency, PrivacyAccount, gaussian_delta, gaussian_epsilon

DIGITS = 60
TIGHT = 1e-9  # relative excess over the truth that rounding up may cost

MUS = [1e-8, 1e-5, 1e-3, 0.03, 0.3, 0.7, 0.71, 1.0, 3.0, 10.0, 100.0, 1e4, 1e6, 1e8]
DELTAS = [1e-300, 1e-100, 1e-30, 1e-12, 1e-8, 1e-5, 1e-3, 0.1, 0.5]

mus = st.floats(-8, 4).map(lambda x: 10.0**x)
deltas = st.floats(-300, -0.3).map(lambda x: 10.0**x)
noises = st.lists(st.floats(-2, 3).map(lambda x: 10.0**x), min_size=1, max_size=8)


def true_delta(mu: float, epsilon: float) -> mp.mpf:
    """Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu), to 60 digits."""
    with mp.workdps(DIGITS):
        m, e = mp.mpf(mu), mp.mpf(epsilon)
        return mp.ncdf(m / 2 - e / m) - mp.exp(e) * mp.ncdf(-m / 2 - e / m)


@pytest.mark.parametrize("mu", MUS)
@pytest.mark.parametrize("delta", DELTAS)
def test_epsilon_is_never_below_the_truth_and_hardly_above(mu: float, delta: float) -> None:
    epsilon = gaussian_epsilon(mu, delta)
    assert true_delta(mu, epsilon) <= delta
    if epsilon > 0:
        assert true_delta(mu, epsilon * (1 - TIGHT)) > delta
        assert gaussian_delta(mu, epsilon) >= true_delta(mu, epsilon)


@settings(deadline=None, max_examples=200)
@given(mus, st.floats(-10, 8).map(lambda x: 10.0**x))
def test_delta_is_never_below_the_truth_and_hardly_above(mu: float, epsilon: float) -> None:
    truth = true_delta(mu, epsilon)
    delta = gaussian_delta(mu, epsilon)
    assert delta >= truth
    assert delta <= truth * (1 + TIGHT) or delta <= 1e-300


@settings(deadline=None, max_examples=200)
@given(mus, deltas)
def test_delta_undoes_epsilon(mu: float, delta: float) -> None:
    epsilon = gaussian_epsilon(mu, delta)
    assume(epsilon > 0)
    # rounding of epsilon alone moves delta by |d log delta / d epsilon| eps_machine epsilon
    assert gaussian_delta(mu, epsilon) == pytest.approx(delta, rel=1e-6)


@settings(deadline=None, max_examples=100)
@given(mus, mus, deltas, deltas)
def test_more_noise_or_a_larger_delta_never_raises_epsilon(
    mu: float, other: float, delta: float, wider: float
) -> None:
    low, high = sorted((mu, other))
    small, large = sorted((delta, wider))
    slack = 1 + TIGHT
    assert gaussian_epsilon(low, delta) <= gaussian_epsilon(high, delta) * slack
    assert gaussian_epsilon(mu, large) <= gaussian_epsilon(mu, small) * slack


@pytest.mark.parametrize(("mu", "epsilon"), [(0.3, 0.1), (1.0, 0.5), (1.0, 3.0), (3.0, 2.0)])
def test_delta_is_the_best_that_any_test_of_two_neighbours_can_reach(
    mu: float, epsilon: float
) -> None:
    """Brute force: sup over events of P(S) - e^eps Q(S) is the integral of (p - e^eps q)+."""
    edge = epsilon / mu + mu / 2  # where p = e^eps q, for P = N(mu, 1) and Q = N(0, 1)
    best, error = quad(
        lambda z: norm.pdf(z, mu) - math.exp(epsilon) * norm.pdf(z), edge, mu + 12.0, epsabs=1e-13
    )
    assert gaussian_delta(mu, epsilon) == pytest.approx(best, abs=10 * error + 1e-12)


@settings(deadline=None, max_examples=100)
@given(noises, st.permutations(range(8)))
def test_releases_compose_to_the_root_of_the_sum_of_squares(
    noise: list[float], order: list[int]
) -> None:
    account = PrivacyAccount(clip=2.0)
    for sigma in noise:
        account = account.after(sigma)
    with mp.workdps(DIGITS):
        mu = 2 * mp.sqrt(mp.fsum(mp.mpf(sigma) ** -2 for sigma in noise))
    assert mu <= account.mu <= mu * (1 + 1e-14)
    shuffled = PrivacyAccount(2.0, releases=tuple(noise[k] for k in order if k < len(noise)))
    assert shuffled.mu == pytest.approx(account.mu, rel=1e-15)


@settings(deadline=None, max_examples=50)
@given(st.floats(0.1, 100.0), st.integers(1, 400), deltas)
def test_equal_releases_are_worth_one_with_less_noise(
    sigma: float, rounds: int, delta: float
) -> None:
    many = PrivacyAccount(1.0).after(sigma, rounds)
    once = PrivacyAccount(1.0).after(sigma / math.sqrt(rounds))
    assert many.epsilon(delta) == pytest.approx(once.epsilon(delta), rel=1e-9)


@settings(deadline=None, max_examples=50)
@given(noises, deltas)
def test_replacing_an_update_is_worth_twice_leaving_it_out(
    noise: list[float], delta: float
) -> None:
    replaced = PrivacyAccount(1.0, "replace", tuple(noise))
    doubled = PrivacyAccount(2.0, "zero-out", tuple(noise))
    assert replaced.mu == doubled.mu
    assert replaced.epsilon(delta) == doubled.epsilon(delta)


@pytest.mark.parametrize("adjacency", ["zero-out", "replace"])
@pytest.mark.parametrize("noise", [(1.5,), (2.0,) * 4, (1.0, 3.0, 8.0)])
def test_dp_accounting_agrees(adjacency: Adjacency, noise: tuple[float, ...]) -> None:
    """PLDs round up by at most the grid per release; Renyi accounting is an upper bound."""
    account = PrivacyAccount(1.0, adjacency, noise)
    ours, grid = account.epsilon(1e-5), 1e-3
    relation = dp_accounting.NeighboringRelation.REPLACE_SPECIAL
    accountant = pld.PLDAccountant(relation, value_discretization_interval=grid)
    theirs = accountant.compose(account.event()).get_epsilon(1e-5)
    assert ours <= theirs * (1 + TIGHT) <= ours + grid * (len(noise) + 1)
    renyi = rdp.RdpAccountant(neighboring_relation=relation).compose(account.event())
    assert ours <= renyi.get_epsilon(1e-5) <= 1.3 * ours


@settings(deadline=None, max_examples=200)
@given(st.floats(-2, 4).map(lambda x: 10.0**x), st.floats(-12, -2).map(lambda x: 10.0**x))
def test_the_papers_bound_holds_where_its_condition_does(sigma: float, delta: float) -> None:
    """The classical theorem: for epsilon < 1, sigma >= c S / epsilon suffices for one release."""
    account = PrivacyAccount(1.0).after(sigma)
    paper = account.paper_bound(delta)
    assert paper.condition_held == (paper.epsilon < 1)
    if paper.condition_held:
        assert account.epsilon(delta) <= paper.epsilon


def test_the_papers_bound_fails_beyond_its_condition_and_over_rounds() -> None:
    """Erratum E10, with numbers: too small for little noise, and it speaks of one release."""
    little = PrivacyAccount(1.0).after(0.05)
    assert not little.paper_bound(1e-5).condition_held
    assert little.epsilon(1e-5) > 2 * little.paper_bound(1e-5).epsilon
    long = PrivacyAccount(1.0).after(10.0, 100)
    assert long.paper_bound(1e-5).condition_held
    assert long.epsilon(1e-5) > 5 * long.paper_bound(1e-5).epsilon


@pytest.mark.parametrize("mu", [0.0, 5e-324, 1e-300, 1e-8, 1e4, 1e8, 1e155, 1e300, math.inf])
@pytest.mark.parametrize("at", [0.0, 5e-324, 1e-300, 0.5, 1.0])
def test_extremes_give_numbers(mu: float, at: float) -> None:
    assert gaussian_epsilon(mu, at) >= 0
    for epsilon in (0.0, 5e-324, 1.0, 1e300, math.inf):
        assert 0 <= gaussian_delta(mu, epsilon) <= 1


def test_no_noise_reveals_everything_and_unlimited_noise_nothing() -> None:
    assert PrivacyAccount(1.0).epsilon(1e-5) == 0
    assert PrivacyAccount(1.0).after(0.0).epsilon(1e-5) == math.inf
    assert PrivacyAccount(1.0).after(0.0).delta(3.0) == 1
    assert PrivacyAccount(1.0).after(math.inf).epsilon(0.0) == 0
    assert PrivacyAccount(1.0).after(1.0).epsilon(0.0) == math.inf
    assert np.isfinite(PrivacyAccount(1.0).after(1.0).epsilon(5e-324))
