"""The paper's two-type game by hand: plain sums over scipy's binomial, solved by scipy.

It shares nothing with the package, so that the errata are checked against it.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import fsolve
from scipy.stats import binom

Floats = NDArray[np.float64]
Noise = tuple[float, float]
LISTED = [(10, 0.3), (10, 0.5), (100, 0.3), (100, 0.5), (100, 0.8)]  # N and eta of E9


@dataclass(frozen=True)
class Two:
    """The paper's game: kappa (Delta + Delta^2 / (2 L)), types 0 (low) and 1."""

    n: int
    eta: float
    alpha: tuple[float, float] = (0.25, 0.75)
    kappa: float = 16.0
    smooth: float = 2.0
    a: float = 0.5

    def psi(self, error: Floats) -> Floats:
        return self.kappa * error * (1.0 + error / (2.0 * self.smooth))

    def slope_cubed(self, error: Floats) -> Floats:
        """psi'(Delta) Delta^3."""
        return self.kappa * error**3 * (1.0 + error / self.smooth)

    def counts(self, among: int) -> tuple[Floats, Floats]:
        low = np.arange(among + 1.0)
        return low, binom.pmf(low, among, self.eta)


def social_cost(g: Two, noise: Noise, mean: bool = False) -> float:
    """E[SC] over all N clients; weights follow the noise, or are equal."""
    low, p = g.counts(g.n)
    high = g.n - low
    if mean:
        error = np.sqrt(low * noise[0] ** 2 + high * noise[1] ** 2) / g.n
    else:
        error = (low / noise[0] ** 2 + high / noise[1] ** 2) ** -0.5
    care = low * (1.0 - g.alpha[0]) + high * (1.0 - g.alpha[1])
    privacy = low * g.alpha[0] / noise[0] + high * g.alpha[1] / noise[1]
    return float(p @ (care * g.psi(error) + g.a * privacy))


def precision(g: Two, noise: Noise, kind: int) -> tuple[Floats, Floats, Floats]:
    """Chance of n low others, n, and X_1 or X_2 of the paper."""
    n, p = g.counts(g.n - 1)
    low = n + 1 if kind == 0 else n
    return p, n, low / noise[0] ** 2 + (g.n - low) / noise[1] ** 2


def optimum_conditions(g: Two, noise: Noise) -> Noise:
    """dE[SC]/d sigma_k in units of its privacy part, minus 1."""
    found = []
    for k in (0, 1):
        p, n, x = precision(g, noise, k)
        low = n + 1 if k == 0 else n
        care = low * (1.0 - g.alpha[0]) + (g.n - low) * (1.0 - g.alpha[1])
        harm = float(p @ (care * g.slope_cubed(x**-0.5)))
        found.append(harm / (g.alpha[k] * g.a * noise[k]) - 1.0)
    return found[0], found[1]


@cache
def optimum(g: Two) -> Noise:
    """From the complete-information ratio: N large first, where the two agree, then down."""
    at = -np.log(np.array(g.alpha))
    for n in (round(x) for x in np.geomspace(max(2000, 10 * g.n), g.n, 25)):
        at = solved(Two(n, g.eta, g.alpha, g.kappa, g.smooth, g.a), at)
    return float(np.exp(at[0])), float(np.exp(at[1]))


def solved(g: Two, start: Floats) -> Floats:
    """log sigma near ``start`` at which the two conditions hold."""

    def conditions(z: Floats) -> Noise:
        return optimum_conditions(g, (math.exp(z[0]), math.exp(z[1])))

    at, _, status, message = fsolve(conditions, start, full_output=True, xtol=1e-13)
    assert status == 1, message
    return at


def printed_beta(g: Two, noise: Noise, among: int, other_high: int) -> Noise:
    """Proposition 5; p of Bin(among), and (other_high - n) in the second sum of beta^H."""
    n = np.arange(g.n, dtype=float)
    p = binom.pmf(n, among, g.eta)
    x1, x2 = precision(g, noise, 0)[2], precision(g, noise, 1)[2]
    loss_1, loss_2 = p * g.slope_cubed(x1**-0.5), p * g.slope_cubed(x2**-0.5)
    care_low, care_high = 1.0 - g.alpha[0], 1.0 - g.alpha[1]
    odds = g.eta / (1.0 - g.eta)
    low = care_low * (loss_1 @ n) + care_high / odds * (loss_2 @ n)
    high = odds * care_low * (loss_1 @ (g.n - 1 - n)) + care_high * (loss_2 @ (other_high - n))
    front = g.n**2 / (2.0 * (g.n - 1) ** 2)
    return front * low / noise[0] ** 4, front * high / noise[1] ** 4


def truthful_equilibrium(g: Two, beta: Noise) -> Noise:
    """Lemma 3, solved from sigma**."""

    def lemma_3(z: Floats) -> list[float]:
        noise = (math.exp(z[0]), math.exp(z[1]))
        found = []
        for k in (0, 1):
            p, _, x = precision(g, noise, k)
            own = (1.0 - g.alpha[k]) * noise[k] ** -3 * float(p @ g.slope_cubed(x**-0.5))
            bill = 2.0 * beta[k] * ((g.n - 1) / g.n) ** 2 * noise[k]
            found.append((own + bill) / (g.alpha[k] * g.a / noise[k] ** 2) - 1.0)
        return found

    at = fsolve(lemma_3, np.log(np.array(optimum(g))), xtol=1e-13)
    return float(np.exp(at[0])), float(np.exp(at[1]))


def misses(g: Two, among: int, other_high: int) -> Noise:
    noise = optimum(g)
    low, high = truthful_equilibrium(g, printed_beta(g, noise, among, other_high))
    return low / noise[0] - 1.0, high / noise[1] - 1.0
