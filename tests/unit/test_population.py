import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import integrate, special

from pigou.errors import InvalidArgument, PigouError
from pigou.population import (
    Beta,
    Finite,
    Population,
    TruncatedNormal,
    Uniform,
    discretise,
    listed,
    two_point,
)

CONTINUOUS: list[Population] = [
    Uniform(0.1, 0.9),
    Uniform(0.0, 1.0),
    Beta(2.0, 5.0),
    Beta(0.5, 0.5),
    TruncatedNormal(0.5, 0.2),
    TruncatedNormal(0.5, 0.2, 0.02, 0.98),
    TruncatedNormal(0.9, 0.05, 0.0, 1.0),
    TruncatedNormal(-1.5, 0.05),  # 30 standard deviations out
    TruncatedNormal(3.0, 0.2, 0.5, 1.0),
    TruncatedNormal(0.3, 50.0, 0.1, 0.4),
]
FINITE: list[Population] = [two_point(0.25, 0.75, 0.3), Finite([0.0, 0.4, 1.0], [0.2, 0.5, 0.3])]
EVERY = CONTINUOUS + FINITE
SHARES = np.linspace(0.001, 0.999, 41)


def cumulative(population: Population, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(alpha <= x) by scipy's distribution functions, from the parameters alone."""
    if isinstance(population, Uniform):
        return (x - population.low) / (population.high - population.low)
    if isinstance(population, Beta):
        return np.asarray(special.betainc(population.a, population.b, x))
    assert isinstance(population, TruncatedNormal)
    ends = np.array([population.low, population.high])
    a, b = (ends - population.location) / population.sd
    z = (x - population.location) / population.sd
    if a > 0:  # the upper tail: differences of survival functions keep their digits
        a, b, z = -a, -b, -z
    return np.asarray((special.ndtr(z) - special.ndtr(a)) / (special.ndtr(b) - special.ndtr(a)))


@pytest.mark.parametrize("population", CONTINUOUS, ids=repr)
def test_quantile_inverts_the_cumulative_distribution(population: Population) -> None:
    at = population.quantile(SHARES)
    # The worst-conditioned case, sd = 50 on a width of 0.3: Phi to 1e-16, over a mass of 2.4e-3.
    np.testing.assert_allclose(cumulative(population, at), SHARES, rtol=0, atol=1e-12)


@pytest.mark.parametrize("population", CONTINUOUS, ids=repr)
def test_mean_is_the_integral_of_the_survival_function(population: Population) -> None:
    low, high = (float(end) for end in population.quantile([0.0, 1.0]))

    def above(x: float) -> float:
        return 1.0 - float(cumulative(population, np.array(x)))

    integral, _ = integrate.quad(above, low, high, epsabs=1e-12, limit=200)
    assert population.mean == pytest.approx(low + integral, abs=1e-9)  # quad's own error


@pytest.mark.parametrize("population", EVERY, ids=repr)
def test_quantiles_rise_and_stay_in_range(population: Population) -> None:
    at = population.quantile(np.linspace(0.0, 1.0, 101))
    assert (np.diff(at) >= 0).all()
    assert at.min() >= 0
    assert at.max() <= 1


@pytest.mark.parametrize("population", EVERY, ids=repr)
def test_sample_has_the_population_mean_and_distribution(population: Population) -> None:
    n = 20_000
    drawn = population.sample(n, np.random.default_rng(7))
    # A variable in [0, 1] has sd <= 1/2: six standard errors of the mean.
    assert abs(drawn.mean() - population.mean) <= 6 * 0.5 / math.sqrt(n)
    # Dvoretzky-Kiefer-Wolfowitz: P(sup |F_n - F| > t) <= 2 exp(-2 n t^2) = 1e-9 at this t.
    t = math.sqrt(math.log(2e9) / (2 * n))
    shares = np.linspace(0.05, 0.95, 19)
    at = population.quantile(shares)
    assert (np.mean(drawn[:, None] <= at, axis=0) >= shares - t).all()
    assert (np.mean(drawn[:, None] < at, axis=0) <= shares + t).all()


def test_sampling_is_repeatable_and_moves_with_the_generator() -> None:
    rng = np.random.default_rng(3)
    first, second = Uniform().sample(5, rng), Uniform().sample(5, rng)
    assert (first == Uniform().sample(5, np.random.default_rng(3))).all()
    assert (first != second).all()


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=6), st.integers(0, 2**32 - 1))
def test_finite_quantile_is_the_least_type_that_covers_the_share(
    sizes: list[float], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    types = np.sort(rng.random(len(sizes)))
    population = Finite(types, np.array(sizes) / math.fsum(sizes))
    for share in rng.random(5):
        at = float(population.quantile(share))
        below = population.probabilities[types < at].sum()
        up_to = population.probabilities[types <= at].sum()
        assert below < share <= up_to + 1e-15  # cumulative sums round differently


def test_two_point_gives_eta_to_the_low_type() -> None:
    population = two_point(0.2, 0.6, 0.25)
    assert population.types.tolist() == [0.2, 0.6]
    assert population.probabilities.tolist() == [0.25, 0.75]
    assert population.mean == pytest.approx(0.25 * 0.2 + 0.75 * 0.6, rel=1e-15)


def test_listed_counts_each_value() -> None:
    population = listed([0.5, 0.1, 0.5, 0.5])
    assert population.types.tolist() == [0.1, 0.5]
    assert population.probabilities.tolist() == [0.25, 0.75]


@pytest.mark.parametrize("population", EVERY, ids=repr)
def test_discretising_converges_in_mean(population: Population) -> None:
    errors = [abs(discretise(population, k).mean - population.mean) for k in (10, 100, 1000)]
    # Mid-points of a rising function over k cells miss its integral by at most (its rise) / (2k).
    assert all(error <= 0.5 / k for error, k in zip(errors, (10, 100, 1000), strict=True))


def test_discretising_a_smooth_quantile_converges_as_the_square() -> None:
    skewed = TruncatedNormal(0.3, 0.5)  # its density, and so its quantile's slope, is bounded
    coarse, fine = (abs(discretise(skewed, k).mean - skewed.mean) for k in (10, 100))
    assert coarse / fine == pytest.approx(100, rel=0.05)  # the mid-point rule's 1/k^2


@pytest.mark.parametrize("mean", [0.5, -3e5, 3e5])
def test_the_widest_normal_is_all_but_uniform(mean: float) -> None:
    """Its log density falls by |a| (b - a) < 30 / 10^4 in all: an eighth of that bounds quantiles,
    a twelfth the mean; the mean's own rounding is 10^-5."""
    wide, shares = TruncatedNormal(mean, 1e4), np.linspace(0.0, 1.0, 101)
    np.testing.assert_allclose(wide.quantile(shares), shares, atol=3.1e-3 / 8)
    assert wide.mean == pytest.approx(0.5, abs=3.1e-3 / 12 + 2e-5)
    assert (wide.mean < 0.5) == (mean < 0) or mean == 0.5


def test_discretising_one_type_gives_it_back() -> None:
    only = discretise(listed([0.3]), 5)
    assert only.types.tolist() == [0.3]
    assert only.probabilities.tolist() == [1.0]


def test_given_arrays_stay_untouched_and_results_are_read_only() -> None:
    types, chances = np.array([0.2, 0.8]), np.array([0.5, 0.5])
    population = Finite(types, chances)
    types[0] = 0.7
    assert population.types.tolist() == [0.2, 0.8]
    with pytest.raises(ValueError, match="read-only"):
        population.probabilities[0] = 1.0


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: Finite([0.2, 0.2], [0.5, 0.5]), ["types", "increase"]),
        (lambda: Finite([0.8, 0.2], [0.5, 0.5]), ["types", "increase"]),
        (lambda: Finite([0.2, 1.2], [0.5, 0.5]), ["types", "[0, 1]", "1.2"]),
        (lambda: Finite([], []), ["types", "empty"]),
        (lambda: TruncatedNormal(0.5, 1e20), ["sd", "at most 10000", "uniform", "1e+20"]),
        (lambda: TruncatedNormal(1e20, 1e20), ["sd", "at most"]),
        (lambda: Finite([0.2, math.nan], [0.5, 0.5]), ["types", "finite", "nan"]),
        (lambda: Finite([0.2, 0.8], [0.5, 0.4]), ["probabilities", "sum to 1", "0.9"]),
        (lambda: Finite([0.2, 0.8], [1.0, 0.0]), ["probabilities", "> 0"]),
        (lambda: Finite([0.2, 0.8], [1.0]), ["probabilities", "2 values"]),
        (lambda: two_point(0.5, 0.5, 0.5), ["alpha_low", "below", "0.5"]),
        (lambda: two_point(0.5, 1.5, 0.5), ["alpha_high", "<= 1", "1.5"]),
        (lambda: two_point(0.2, 0.8, 0.0), ["eta", "between 0 and 1"]),
        (lambda: two_point(0.2, 0.8, 1.0), ["eta", "between 0 and 1"]),
        (lambda: two_point(0.2, 0.8, math.nan), ["eta", "nan"]),
        (lambda: listed([0.2, -0.1]), ["values", "[0, 1]", "-0.1"]),
        (lambda: Uniform(0.5, 0.5), ["low", "below", "0.5"]),
        (lambda: Uniform(0.5, 1.5), ["high", "<= 1"]),
        (lambda: Beta(0.0, 1.0), ["a", "> 0"]),
        (lambda: Beta(1.0, math.inf), ["b", "inf"]),
        (lambda: TruncatedNormal(0.5, 0.0), ["sd", "> 0"]),
        (lambda: TruncatedNormal(math.nan, 1.0), ["mean", "nan"]),
        (lambda: TruncatedNormal(0.5, 0.2, 0.8, 0.1), ["low", "below"]),
        (lambda: TruncatedNormal(1e9, 0.2), ["mean", "probability"]),
        (lambda: Uniform().quantile(1.5), ["p", "[0, 1]", "1.5"]),
        (lambda: Uniform().quantile(math.nan), ["p", "[0, 1]"]),
        (lambda: Uniform().sample(0, np.random.default_rng(1)), ["n", ">= 1"]),
        (lambda: Uniform().sample(3, 1), ["rng", "Generator"]),  # type: ignore[arg-type]
        (lambda: discretise(Uniform(), 0), ["k", ">= 1", "0"]),
    ],
)
def test_bad_input_is_named(make: object, names: list[str]) -> None:
    assert callable(make)
    with pytest.raises(InvalidArgument) as caught:
        make()
    assert isinstance(caught.value, PigouError)
    for name in names:
        assert name in str(caught.value)


def test_what_is_missing_to_a_sum_of_one_is_made_up_for() -> None:
    """Shares that sum to 1 within 1e-9 are taken as meant, and then do sum to 1."""
    made = Finite([0.2, 0.5, 0.8], [0.3, 0.3, 0.4 + 9e-10])
    assert math.fsum(made.probabilities) == pytest.approx(1.0, abs=1e-15)
    assert made.probabilities[2] > 0.4
