"""All solutions of the unpriced conditions: of the optimum's (E6b), and of the equilibrium's.

For a fixed ratio sigma_L / sigma_H = exp(d) the first of the two conditions has exactly one
solution in sigma_H: linear A x^2 + 2 quadratic B x^3 = C. What is left of the second is a function
of d alone, whose changes of sign are bracketed on a grid: a start on every cell, and no
point is missed unless two of them lie within one cell of each other.
"""

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np
from scipy.optimize import brentq

from pigou.checks import FloatArray
from pigou.fixed_point import closed_form
from pigou.paper.two_types.costs import social_cost
from pigou.paper.two_types.pair import HIGH, LOW, Pair, PerType
from pigou.paper.two_types.system import System, Weights, conditions

WIDEST_LOG_RATIO = 46.0  # of the noise levels: a factor of 1e20, either way
CELLS = 3680  # 0.025 each


class Kind(Enum):
    """What E[SC] does there as a function of the two noise levels."""

    MINIMUM = "a local minimum"
    SADDLE = "a saddle"


@dataclass(frozen=True)
class StationaryPoint:
    """A pair of noise levels at which E[SC] is stationary, weights following the noise."""

    sigma: PerType
    social_cost: float
    kind: Kind
    followed: bool  # whether it is the one on the branch from known types


@dataclass(frozen=True)
class UnpricedEquilibrium:
    """A solution of lemma 3 without prices."""

    sigma: PerType
    social_cost: float
    followed: bool


def stationary_points(pair: Pair, followed: PerType | None) -> tuple[StationaryPoint, ...]:
    """Where E[SC] is stationary, by falling noise of the low type.

    E[SC] at a fixed ratio has one minimum over the scale, so that a point is a minimum or a
    saddle, as the determinant of the Hessian in log sigma says, and never a maximum.
    """
    system = conditions(pair, weights=Weights.TRUTHFUL, goal="social")
    found = []
    for sigma in _solutions(system):
        _, jacobian = system(np.log(np.array(sigma)))
        kind = Kind.SADDLE if np.linalg.det(jacobian) < 0 else Kind.MINIMUM
        cost = social_cost(pair, sigma, Weights.TRUTHFUL)
        found.append(StationaryPoint(sigma, cost, kind, _same(sigma, followed)))
    return tuple(found)


def unpriced_equilibria(pair: Pair, followed: PerType | None) -> tuple[UnpricedEquilibrium, ...]:
    """Lemma 3 with beta = 0, by falling noise of the low type; none if alpha_high is 1."""
    if pair.alpha_high == 1.0:
        return ()
    system = conditions(pair, weights=Weights.TRUTHFUL, goal="own")
    return tuple(
        UnpricedEquilibrium(
            sigma, social_cost(pair, sigma, Weights.TRUTHFUL), _same(sigma, followed)
        )
        for sigma in _solutions(system)
    )


def _solutions(system: System) -> list[PerType]:
    line = _Line(system, system.chance * system.omega)
    grid = np.linspace(WIDEST_LOG_RATIO, -WIDEST_LOG_RATIO, CELLS + 1)
    left_over = [line.left_over(d) for d in grid]
    found = []
    for k in range(CELLS):
        if (left_over[k] > 0) != (left_over[k + 1] > 0):
            d = float(brentq(line.left_over, grid[k + 1], grid[k], xtol=1e-14, rtol=1e-14))
            high = line.sigma_high(d)
            found.append(PerType(high * math.exp(d), high))
    return found


def _same(sigma: PerType, followed: PerType | None) -> bool:
    return followed is not None and math.isclose(sigma.low, followed.low, rel_tol=1e-6)


@dataclass(frozen=True, eq=False)
class _Line:
    """The two conditions, on the line of points that solve the first."""

    system: System
    care: FloatArray  # chance times omega, by type and event

    def sigma_high(self, d: float) -> float:
        """The one solution of E_L[omega_L psi' Delta^3] = alpha_L a sigma_L."""
        cubic, quartic = self._moments(d, LOW)
        pair = self.system.pair
        log_right = math.log(pair.alpha_low * pair.privacy_scale) + d
        log_h = math.log(quartic / cubic)
        root = closed_form(pair.loss, log_right - math.log(quartic), log_h)
        return math.exp(root.log_error - log_h)

    def left_over(self, d: float) -> float:
        """log of left side over right side of the high type's condition."""
        pair, x = self.system.pair, self.sigma_high(d)
        cubic, quartic = self._moments(d, HIGH)
        left = x**2 * (pair.loss.linear * cubic + 2.0 * pair.loss.quadratic * x * quartic)
        return math.log(left) - math.log(pair.alpha_high * pair.privacy_scale)

    def _moments(self, d: float, kind: int) -> tuple[float, float]:
        """E_k[omega_k delta^3] and E_k[omega_k delta^4], delta = Delta / sigma_H."""
        low, high = self.system.number
        delta = 1.0 / np.sqrt(low * math.exp(-2.0 * d) + high)
        care = self.care[kind]
        return float((care * delta**3).sum()), float((care * delta**4).sum())
