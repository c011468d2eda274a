"""The two-type model: its sums, branches, cases, rewards and refusals."""

import math
from collections.abc import Callable
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from tests.two_types import LOSS, model, models

from pigou import AccuracyLoss, Degenerate, InvalidArgument, PigouError, TooFewClients
from pigou.checks import FloatArray
from pigou.paper.two_types import (
    Case,
    Kind,
    NoBranch,
    Outcome,
    PerType,
    Reading,
    TwoTypes,
)
from pigou.paper.two_types.branch import follow
from pigou.paper.two_types.cases import equilibrium
from pigou.paper.two_types.costs import Facing
from pigou.paper.two_types.counts import Counts
from pigou.paper.two_types.system import Weights, conditions, newton

EXACT = 1e-11  # relative: what rounding leaves

LOST = TwoTypes(30, 0.9, 0.2, 0.65, AccuracyLoss.bound(5.0, 4.0), 1.0)


# Sums over the binomial


@pytest.mark.parametrize("trials", [1, 2, 9, 10, 99, 1000, 10**6])
@pytest.mark.parametrize("eta", [1e-12, 1e-4, 0.3, 0.5, 0.999])
def test_the_window_leaves_out_less_than_1e_16(trials: int, eta: float) -> None:
    counts = Counts.of(trials, eta)
    first, last = int(counts.number[0]), int(counts.number[-1])
    below = binom.cdf(first - 1, trials, eta) if first > 0 else 0.0
    assert below + binom.sf(last, trials, eta) <= 1e-16
    assert math.isclose(math.fsum(counts.chance), 1.0, rel_tol=1e-14)
    # scipy's own error is some 1e-10 at a million trials; far tails carry nothing
    direct = binom.pmf(counts.number, trials, eta)
    np.testing.assert_allclose(counts.chance, direct, rtol=1e-9, atol=1e-20)


def test_the_window_is_as_wide_as_the_square_root() -> None:
    small, large = Counts.of(10**4, 0.4), Counts.of(10**6, 0.4)
    assert large.number.size < 11 * small.number.size


def test_one_chance_inside_and_outside_the_window() -> None:
    counts = Counts.of(10**6, 0.4)
    assert counts.probability(0) == counts.probability(10**6) == 0.0
    assert math.isclose(Counts.of(4, 0.25).probability(1), 4 * 0.25 * 0.75**3, rel_tol=EXACT)


# The system and its branches


@settings(deadline=None, max_examples=40)
@given(
    models(),
    st.sampled_from(Weights),
    st.booleans(),
    st.floats(-1.0, 1.0),
    st.floats(-1.0, 1.0),
    st.floats(0.0, 1.0),
)
def test_the_jacobian_is_the_derivative_of_the_residual(
    m: TwoTypes, weights: Weights, social: bool, x: float, y: float, spread: float
) -> None:
    price = np.array([0.1, 2.0])
    goal = "social" if social else "own"
    system = conditions(m, weights=weights, goal=goal, price=price, spread=spread)  # type: ignore[arg-type]  # one of the two literals
    at, step = np.array([x, y]), 1e-5
    _, jacobian = system(at)
    for k in (0, 1):
        move = step * (np.arange(2) == k)
        slope = (system(at + move)[0] - system(at - move)[0]) / (2.0 * step)
        # the third derivative is of order 4^3 at most, times step^2; rounding over step
        np.testing.assert_allclose(jacobian[:, k], slope, rtol=0.0, atol=1e-7)


@settings(deadline=None, max_examples=15)
@given(models(most=40))
def test_the_branch_followed_is_the_first_point_where_low_types_add_more_noise(
    m: TwoTypes,
) -> None:
    """Two searches that share no step agree on whether it exists, and on where it is."""
    above = [p for p in m.stationary_points() if p.sigma.low > p.sigma.high]
    found = m.optimum.sigma
    assert (found is None) == (not above)
    if found is not None:
        np.testing.assert_allclose(found, above[-1].sigma, rtol=1e-8)
        assert above[-1].followed
        assert above[-1].kind is Kind.SADDLE


def test_several_stationary_points_and_what_they_are() -> None:
    m = model()
    points = m.stationary_points()
    expected = [(19.5, 0.313, 16.54), (1.385, 0.321, 16.65), (0.099, 2.30, 9.66)]
    found = [(*p.sigma, p.social_cost) for p in points]
    np.testing.assert_allclose(found, expected, rtol=2e-3)
    assert [p.kind for p in points] == [Kind.MINIMUM, Kind.SADDLE, Kind.MINIMUM]
    assert [p.followed for p in points] == [False, True, False]


def test_several_equilibria_without_prices() -> None:
    """Each solves lemma 3: no client's own cost has a slope there. One of them is followed."""
    found = model().unpriced_equilibria()
    np.testing.assert_allclose(
        [e.sigma for e in found],
        [(38.727, 1.1774), (14.6006, 1.18013), (0.220144, 6.09595)],
        rtol=1e-4,
    )
    assert [e.followed for e in found] == [False, True, False]
    for e in found:
        for kind in (0, 1):
            facing = Facing.others(model(), e.sigma[kind], e.sigma, e.sigma)
            at = [facing.cost(kind, e.sigma[kind] * x, 0.0) for x in (1.0 - 1e-4, 1.0, 1.0 + 1e-4)]
            assert abs(at[2] - at[0]) / 2e-4 < 1e-6 * at[1]  # rounding; the third derivative


def test_equilibria_without_prices_are_listed_where_the_branch_is_lost() -> None:
    m = model(10, 0.5)
    assert m.unpriced.outcome is Outcome.LOST
    (other,) = m.unpriced_equilibria()
    assert not other.followed
    assert other.sigma.low < other.sigma.high
    assert TwoTypes(10, 0.3, 0.25, 1.0, LOSS, 0.5).unpriced_equilibria() == ()


def test_the_kinds_are_those_of_the_second_differences() -> None:
    m, step = model(), 1e-3
    for point in m.stationary_points():

        def cost(x: float, y: float, at: PerType = point.sigma) -> float:
            return m.expected_social_cost(PerType(at.low * math.exp(x), at.high * math.exp(y)))

        here = cost(0.0, 0.0)
        low = cost(step, 0.0) + cost(-step, 0.0) - 2.0 * here
        high = cost(0.0, step) + cost(0.0, -step) - 2.0 * here
        both = cost(step, step) + cost(-step, -step) - cost(step, -step) - cost(-step, step)
        determinant = low * high - (both / 4.0) ** 2
        assert (determinant < 0) == (point.kind is Kind.SADDLE)


def test_following_does_not_jump_to_a_neighbouring_branch() -> None:
    """x = 0.3 way is followed; Newton from its start would land on x = 0.3 way - 0.14."""

    def toy(way: float) -> Callable[[FloatArray], tuple[FloatArray, FloatArray]]:
        def system(at: FloatArray) -> tuple[FloatArray, FloatArray]:
            first, second = at[0] - 0.3 * way, at[0] - 0.3 * way + 0.14
            return np.array([first * second, at[1]]), np.diag([first + second, 1.0])

        return system

    found = follow("toy", toy, np.zeros(2)).required()  # type: ignore[arg-type]  # System's call
    np.testing.assert_allclose(np.log(found), [0.3, 0.0], atol=1e-12)


def test_following_stops_at_a_fold() -> None:
    """x^2 = 0.6 - way: from x = sqrt(0.6) / 10 to where the two solutions meet."""

    def toy(way: float) -> Callable[[FloatArray], tuple[FloatArray, FloatArray]]:
        def system(at: FloatArray) -> tuple[FloatArray, FloatArray]:
            return np.array([100.0 * at[0] ** 2 - 0.6 + way, at[1]]), np.diag([200.0 * at[0], 1.0])

        return system

    found = follow("toy", toy, np.array([0.0775, 0.0]))  # type: ignore[arg-type]  # System's call
    assert found.outcome is Outcome.LOST
    assert abs(found.reached - 0.6) < 1e-5


def test_a_lost_branch_says_so_and_gives_no_number() -> None:
    assert LOST.status is Outcome.LOST
    assert LOST.optimum.sigma is None
    assert 0.9 < LOST.optimum.reached < 1.0
    assert "on the way" in str(LOST.optimum)
    assert not any(p.followed for p in LOST.stationary_points())
    for name in ("sigma_low", "sigma_high", "social_cost", "beta_low", "beta_high", "rewards"):
        with pytest.raises(NoBranch, match="the optimum with two types must exist"):
            getattr(LOST, name)
    for name in ("comparison", "interim_mle", "before_reward", "beta_high_as_printed"):
        with pytest.raises(NoBranch):
            getattr(LOST, name)
    assert issubclass(NoBranch, PigouError)


def test_what_does_not_need_the_branch_is_there_without_it() -> None:
    assert LOST.interim_mean.feasible
    assert 0.0 < LOST.q1 < 1.0
    assert 0.0 < LOST.q2 < 1.0


def test_an_equilibrium_without_prices_can_be_missing_where_the_optimum_is_not() -> None:
    m = TwoTypes(10, 0.3, 0.25, 1.0, LOSS, 0.5)
    assert m.status is Outcome.FOUND
    assert m.unpriced.outcome is Outcome.UNLIMITED
    with pytest.raises(NoBranch, match="without limit"):
        m.social_cost_unpriced  # noqa: B018


def test_at_known_types_the_optimum_is_the_closed_form() -> None:
    """K / alpha with K^2 (1 + K / (A L)) = a A^3 / (kappa M), to 1 / N (section 6)."""
    far = []
    for n in (10**4, 10**6):
        m = model(n)
        big_a = math.sqrt(n * (0.3 * 0.25**2 + 0.7 * 0.75**2))
        big_m = n * (0.3 * 0.75 + 0.7 * 0.25)
        powers = [16.0 / (2.0 * big_a), 16.0, 0.0, -0.5 * big_a**3 / big_m]
        k = max(np.roots(powers).real)
        far.append(n * (np.array(m.sigma) * m.alpha / k - 1.0))
    # what is left falls as 1 / N: the large model is right to 1 % of 1e-6, and so to 1e-8
    np.testing.assert_allclose(far[0], far[1], rtol=1e-2)


def test_a_million_clients() -> None:
    m = model(10**6)
    low, high = m.comparison.preferred
    assert low is Case.TRUTHFUL
    assert high is not Case.TRUTHFUL
    assert not m.interim_mle.feasible
    assert m.interim_mean.feasible
    assert m.social_cost < m.social_cost_unpriced


# The cases


@settings(deadline=None, max_examples=20)
@given(models(), st.floats(-8.0, 8.0), st.floats(-8.0, 8.0))
def test_with_mean_weights_every_start_leads_to_the_same_point(
    m: TwoTypes, x: float, y: float
) -> None:
    price = np.array([0.5, 0.02])
    system = conditions(m, weights=Weights.MEAN, goal="own", price=price)
    first, second = newton(system, np.zeros(2)), newton(system, np.array([x, y]))
    assert first is not None
    assert second is not None
    np.testing.assert_allclose(first.log_sigma, second.log_sigma, atol=1e-12)


def test_case_1_with_one_price_is_the_case_1_of_that_price() -> None:
    """All that all-low and all-high differ in is beta."""
    m = model()
    beta = PerType(m.beta_low, m.beta_low)
    low, high = (equilibrium(m, case, beta) for case in (Case.ALL_LOW, Case.ALL_HIGH))
    assert low.sigma == high.sigma == m.equilibrium(Case.ALL_LOW).sigma


def test_nearly_equal_types_hardly_differ() -> None:
    """One alpha for all: sigma has the closed form of the known types, whoever reports what."""
    m = TwoTypes(10, 0.3, 0.5, 0.5 + 1e-9, LOSS, 0.5)
    a, big_a, big_m = 0.5, math.sqrt(10 * 0.25), 10 * 0.5
    k = max(np.roots([16.0 / (2.0 * big_a), 16.0, 0.0, -a * big_a**3 / big_m]).real)
    np.testing.assert_allclose(m.sigma, k / 0.5, rtol=1e-7)
    for case in Case:
        np.testing.assert_allclose(m.points[case].required(), k / 0.5, rtol=1e-7)


@settings(deadline=None, max_examples=25)
@given(models())
def test_the_mechanism_never_costs_society_more_than_no_mechanism(m: TwoTypes) -> None:
    """At a stationary point that is no minimum this is no theorem; found in every draw."""
    assume(m.status is Outcome.FOUND and m.unpriced.sigma is not None)
    assert m.social_cost < m.social_cost_unpriced


# Readings and bad input


def test_readings_differ_as_they_say() -> None:
    """Literal and as printed share N - n; as printed and corrected share p of Bin(N-1)."""
    m = model()
    corrected, printed, literal = (m.beta(r) for r in Reading)
    assert corrected.low == printed.low == m.beta_low
    assert corrected.high == m.beta_high < printed.high == m.beta_high_as_printed
    assert literal.low != printed.low


@pytest.mark.parametrize(
    ("change", "error", "argument"),
    [
        ({"n": 2}, TooFewClients, "n"),
        ({"n": 0}, InvalidArgument, "n"),
        ({"n": 10.0}, InvalidArgument, "n"),
        ({"n": True}, InvalidArgument, "n"),
        ({"eta": 0.0}, InvalidArgument, "eta"),
        ({"eta": 1.0}, InvalidArgument, "eta"),
        ({"eta": -0.1}, InvalidArgument, "eta"),
        ({"eta": 1.5}, InvalidArgument, "eta"),
        ({"eta": math.nan}, InvalidArgument, "eta"),
        ({"eta": "0.3"}, InvalidArgument, "eta"),
        ({"eta": 1e-300}, InvalidArgument, "eta"),
        ({"alpha_low": 0.75}, InvalidArgument, "alpha_low"),
        ({"alpha_low": 0.9}, InvalidArgument, "alpha_low"),
        ({"alpha_low": 0.0}, Degenerate, "alpha_low"),
        ({"alpha_low": -0.1}, InvalidArgument, "alpha_low"),
        ({"alpha_low": math.inf}, InvalidArgument, "alpha_low"),
        ({"alpha_high": 1.1}, InvalidArgument, "alpha_high"),
        ({"alpha_high": math.nan}, InvalidArgument, "alpha_high"),
        ({"loss": 16.0}, InvalidArgument, "loss"),
        ({"loss": AccuracyLoss(1e60, 1.0)}, InvalidArgument, "loss.linear"),
        ({"privacy_scale": 0.0}, InvalidArgument, "privacy_scale"),
        ({"privacy_scale": 1e-60}, InvalidArgument, "privacy_scale"),
        ({"privacy_scale": math.nan}, InvalidArgument, "privacy_scale"),
    ],
    ids=str,
)
def test_bad_input_is_refused_by_name(
    change: dict[str, object], error: type[InvalidArgument], argument: str
) -> None:
    good: dict[str, object] = {
        "n": 10,
        "eta": 0.3,
        "alpha_low": 0.25,
        "alpha_high": 0.75,
        "loss": LOSS,
        "privacy_scale": 0.5,
    }
    TwoTypes(**good)  # type: ignore[arg-type]  # good as it stands
    with pytest.raises(error) as caught:
        TwoTypes(**(good | change))  # type: ignore[arg-type]  # that is the test
    assert caught.value.argument == argument


@pytest.mark.parametrize("eta", [1e-12, 1.0 - 1e-12])
@pytest.mark.parametrize("alpha", [(1e-12, 1.0), (1e-12, 2e-12), (0.5, 0.5 + 1e-12)])
@pytest.mark.parametrize(("loss", "scale"), [((1e50, 1e-50), 1e50), ((1e-50, 1e50), 1e-50)])
def test_the_corners_of_what_is_allowed_give_numbers_or_say_why_not(
    eta: float, alpha: tuple[float, float], loss: tuple[float, float], scale: float
) -> None:
    m = TwoTypes(50, eta, *alpha, AccuracyLoss(*loss), scale)
    for point in (m.optimum, m.unpriced):
        assert point.sigma is None or all(0.0 < s < math.inf for s in point.sigma)
    assert np.isfinite(m.interim_mean.cost).all()
    assert all(0.0 < s < math.inf for p in m.stationary_points() for s in p.sigma)
    if m.optimum.sigma is not None:
        assert np.isfinite([m.beta_low, m.beta_high, m.social_cost]).all()
        assert np.isfinite(m.interim_mle.cost).all()


def test_models_do_not_change() -> None:
    m = model()
    with pytest.raises(FrozenInstanceError):
        m.eta = 0.5  # type: ignore[misc]  # that is the test
    assert m == model()
    assert hash(m) == hash(model())
