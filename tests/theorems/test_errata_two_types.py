"""E6, E6b and E7: the paper's prices and its optimum with two types, by hand."""

# ruff: noqa: RUF001
# The page's Greek letters and signs are meant.

import itertools
import math
import re
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from tests.theorems.two_types_by_hand import (
    LISTED,
    Floats,
    Two,
    misses,
    optimum,
    optimum_conditions,
    printed_beta,
    social_cost,
    solved,
)

from pigou.paper.errata import evidence
from pigou.paper.errata.record import Cell

LOST = Two(30, 0.9, (0.2, 0.65), 5.0, 4.0, 1.0)


def value(cell: Cell) -> float:
    assert isinstance(cell, int | float)
    return float(cell)


# E6 and E7


@pytest.mark.parametrize(("n", "eta"), LISTED)
def test_e6_the_lemmas_p_makes_the_optimum_an_equilibrium(n: int, eta: float) -> None:
    g = Two(n, eta)
    assert max(map(abs, misses(g, n - 1, n - 1))) < 1e-9


@pytest.mark.parametrize(
    ("n", "eta", "least", "most"),
    [
        (10, 0.5, 0.165, 0.185),
        (10, 0.3, 0.06, 0.075),
        (100, 0.5, 0.003, 0.01),
        (100, 0.3, 0.003, 0.01),
    ],
)
def test_e6_the_other_p_does_not(n: int, eta: float, least: float, most: float) -> None:
    low, _ = misses(Two(n, eta), n, n)
    assert least < -low < most


@pytest.mark.parametrize(("n", "least", "most"), [(10, 0.015, 0.021), (100, 0.0015, 0.0021)])
def test_e7_the_printed_count_of_high_types_is_one_too_many(
    n: int, least: float, most: float
) -> None:
    for eta in (0.3, 0.5):
        low, high = misses(Two(n, eta), n - 1, n)
        assert least < -high < most
        assert abs(low) < abs(high) / 4.0  # beta^L is right; sigma_L moves with sigma_H alone


# E6b


def test_e6b_three_points_with_costs_and_curvatures() -> None:
    g, step = Two(10, 0.3), 1e-4
    for start, cost, saddle in (
        ((19.5, 0.313), 16.54, False),
        ((1.385, 0.321), 16.65, True),
        ((0.099, 2.30), 9.66, False),
    ):
        z = solved(g, np.log(np.array(start)))
        np.testing.assert_allclose(np.exp(z), start, rtol=2e-3)
        assert math.isclose(cost_at(g, z), cost, rel_tol=5e-4)
        hessian = second_differences(lambda x: cost_at(g, x), z, step)
        assert (np.linalg.eigvalsh(hessian).min() < 0) == saddle


def cost_at(g: Two, log_noise: Floats) -> float:
    return social_cost(g, (math.exp(log_noise[0]), math.exp(log_noise[1])))


def second_differences(f: Callable[[Floats], float], at: Floats, step: float) -> Floats:
    moves = step * np.eye(2)
    found = np.empty((2, 2))
    for i, j in itertools.product((0, 1), repeat=2):
        corners = [f(at + s * moves[i] + t * moves[j]) * s * t for s in (1, -1) for t in (1, -1)]
        found[i, j] = sum(corners) / (4.0 * step**2)
    return found


def least_at_ratio(g: Two, log_ratio: float) -> float:
    """The least E[SC] for a fixed sigma_L / sigma_H: a point is stationary where this is."""
    ratio = math.exp(log_ratio)
    cost = minimize_scalar(
        lambda z: social_cost(g, (ratio * math.exp(z), math.exp(z))),
        bounds=(-12.0, 12.0),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return float(cost.fun)


def turns(g: Two, log_ratios: Floats) -> int:
    """How often the least cost turns from rising to falling or back."""
    signs = np.sign(np.diff([least_at_ratio(g, d) for d in log_ratios]))
    return int(np.count_nonzero(np.diff(signs)))


def test_e6b_the_branch_exists_or_not() -> None:
    """Where low types add more noise: two turns at N = 10, none where the branch is lost."""
    assert turns(Two(10, 0.3), np.linspace(0.0, 6.0, 61)) == 2
    assert turns(LOST, np.linspace(0.0, 8.0, 81)) == 0
    with pytest.raises(AssertionError, match="not making good progress"):
        optimum(LOST)


# The page's evidence


def test_the_pages_prices_are_those_found_here() -> None:
    (table,) = evidence("E7").evidence
    for n, eta, printed, corrected, _ in table.rows:
        g = Two(int(n), value(eta))
        noise = optimum(g)
        assert math.isclose(value(printed), printed_beta(g, noise, g.n - 1, g.n)[1], rel_tol=1e-8)
        right = printed_beta(g, noise, g.n - 1, g.n - 1)[1]
        assert math.isclose(value(corrected), right, rel_tol=1e-8)
    (table,) = evidence("E6").evidence
    for n, eta, _, low, high in table.rows:
        found = misses(Two(int(n), value(eta)), int(n), int(n))
        for cell, miss in zip((low, high), found, strict=True):
            assert isinstance(cell, str)
            share = float(cell.replace("−", "-").rstrip(" %")) / 100.0
            assert math.isclose(share, miss, rel_tol=5e-3)


def test_the_pages_points_are_stationary_here() -> None:
    points, least = evidence("E6b").evidence
    for name, low, high, cost, kind, meant in points.rows:
        n, eta = re.findall(r"[\d.]+", str(name))[:2]
        g = LOST if eta == "0.9" else Two(int(n), float(eta))
        noise = (value(low), value(high))
        assert max(map(abs, optimum_conditions(g, noise))) < 1e-6
        assert math.isclose(social_cost(g, noise), value(cost), rel_tol=1e-8)
        assert (kind == "a saddle") == (meant == "yes")
    assert [n for _, n in least.rows] == [5, 7, 10, 15, 29]
