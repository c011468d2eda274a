"""Expectations over the others' types: the exact sum, the integral, and the bound between them."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import Floats, rngs

from pigou.mechanisms import menu_expectation
from pigou.mechanisms.menu_expectation import (
    ERROR_BOUND,
    Exact,
    Integral,
    compositions,
    expectation,
)
from pigou.population import Finite, two_point

SUM_ROUNDING = 2e-14  # sums of up to 10^5 positive terms, each with a rounded exponent below 100


def drawn(rng: np.random.Generator, types: int) -> tuple[Finite, Floats]:
    """A population and one s per type, over four decades."""
    population = Finite(np.sort(rng.uniform(0.0, 1.0, types)), rng.dirichlet(np.full(types, 2.0)))
    return population, np.exp(rng.normal(0.0, 2.0, types))


def one_by_one(population: Finite, others: int, x: float, s: Floats) -> list[float]:
    """The three moments, profile by profile of the others' types."""
    sums = [0.0, 0.0, 0.0]
    for profile in itertools.product(range(s.size), repeat=others):
        chosen = list(profile)
        chance = math.prod(population.probabilities[chosen])
        total, weight = x + s[chosen].sum(), (1.0 - population.types[chosen]).sum()
        for k, value in enumerate((total**0.5, total**-0.5, weight * total**-0.5)):
            sums[k] += chance * value
    return sums


@given(rng=rngs(), types=st.integers(1, 4), others=st.integers(1, 5))
@settings(deadline=None, max_examples=40)
def test_both_methods_are_the_average_over_profiles(
    rng: np.random.Generator, types: int, others: int
) -> None:
    population, s = drawn(rng, types)
    x = np.exp(rng.normal(0.0, 2.0, 3))
    for method in (Exact.of(population, others), Integral(population, others)):
        found = np.array(method(x, s))
        expected = np.array([one_by_one(population, others, own, s) for own in x]).T
        np.testing.assert_allclose(found, expected, rtol=SUM_ROUNDING)


@pytest.mark.parametrize(("types", "others"), [(2, 10), (2, 5000), (3, 400), (5, 30), (8, 8)])
def test_integral_keeps_its_error_bound_against_the_exact_sum(types: int, others: int) -> None:
    rng = np.random.default_rng(types * others)
    population, s = drawn(rng, types)
    x = np.append(s, [1e-3 * s.min(), 1e3 * s.max()])
    exact, integral = Exact.of(population, others)(x, s), Integral(population, others)(x, s)
    # the exact sum's probabilities are made of logarithms of factorials, of size m log m
    of_factorials = 4e-16 * others * math.log(others + 1.0)
    bound = ERROR_BOUND + SUM_ROUNDING + of_factorials
    for summed, integrated in zip(exact, integral, strict=True):
        assert np.abs(integrated / summed - 1.0).max() <= bound


def test_bound_holds_in_more_digits_than_rounding_leaves() -> None:
    """The rule itself, for one X: its step's error and what is cut off, in 40 digits."""
    with mpmath.workdps(40):
        step = mpmath.mpf(menu_expectation.STEP)
        for x in (mpmath.mpf("0.01"), mpmath.mpf(1), mpmath.mpf("700.5")):
            low = -menu_expectation.BELOW - mpmath.log(x)
            high = menu_expectation.ABOVE - mpmath.log(x)
            terms = int(mpmath.ceil((high - low) / step)) + 1
            u = [low + k * step for k in range(terms)]
            rule = step * mpmath.fsum(mpmath.exp(v / 2 - x * mpmath.exp(v)) for v in u)
            assert abs(rule / mpmath.sqrt(mpmath.pi / x) - 1) <= ERROR_BOUND


@pytest.mark.parametrize("others", [1, 100, 10**6])
def test_integral_for_one_type_is_a_power(others: int) -> None:
    """No uncertainty: X = x + m s and W = m (1 - alpha)."""
    x, s = np.array([1e-3, 1.0, 1e5]), np.array([0.7])
    total = x + others * s
    found = Integral(Finite([0.4], [1.0]), others)(x, s)
    np.testing.assert_allclose(found.root, np.sqrt(total), rtol=SUM_ROUNDING)
    np.testing.assert_allclose(found.inverse, 1.0 / np.sqrt(total), rtol=SUM_ROUNDING)
    weighted = 0.6 * others / np.sqrt(total)
    np.testing.assert_allclose(found.weighted, weighted, rtol=SUM_ROUNDING)


def test_expectations_are_exact_up_to_a_million_terms() -> None:
    pair = two_point(0.2, 0.7, 0.4)
    assert isinstance(expectation(pair, 10**6 - 1), Exact)
    assert isinstance(expectation(pair, 10**6), Integral)
    five = Finite(np.linspace(0.1, 0.9, 5), np.full(5, 0.2))
    assert isinstance(expectation(five, 67), Exact)  # C(71, 4) = 971635
    assert isinstance(expectation(five, 68), Integral)  # C(72, 4) = 1028790


def test_a_million_clients_of_two_types() -> None:
    """By the law of large numbers, to the order of the variance: E[X^p] for X nearly constant."""
    pair, s = two_point(0.25, 0.75, 0.3), np.array([0.5, 2.0])
    m = 10**6 - 1
    mean, variance = m * (0.3 * 0.5 + 0.7 * 2.0), m * 0.21 * 1.5**2
    found = Exact.of(pair, m)(np.zeros(1), s)
    assert found.root[0] == pytest.approx(mean**0.5 * (1.0 - variance / mean**2 / 8.0), rel=1e-10)
    assert found.inverse[0] == pytest.approx(
        mean**-0.5 * (1.0 + 3.0 * variance / mean**2 / 8.0), rel=1e-10
    )


@pytest.mark.parametrize(("total", "parts"), [(0, 3), (4, 1), (5, 2), (3, 4)])
def test_compositions_are_all_of_them_once(total: int, parts: int) -> None:
    rows = [tuple(row) for row in compositions(total, parts).tolist()]
    ways = itertools.product(range(total + 1), repeat=parts)
    assert sorted(rows) == sorted(row for row in ways if sum(row) == total)
