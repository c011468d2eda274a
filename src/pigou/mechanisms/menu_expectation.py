"""Expectations over the others' types, for the menu (section 4).

With m others drawn independently, type k with probability p_k, X = x + S, S the sum of the others'
s = sigma^2 + v and W the sum of their 1 - alpha, the menu needs E[X^(1/2)], E[X^(-1/2)] and
E[W X^(-1/2)].

``Exact`` sums over the numbers of others of each type. ``Integral`` writes
X^(-1/2) = pi^(-1/2) * integral of exp(u/2 - X exp(u)) du over the real line, and X^(1/2) as X times
that, takes the expectation inside, where it is a product over the others, and applies the
trapezoidal rule of step h. For |Im u| < d < pi/2 the integrand is at most cos(d)^(-1/2) times its
size on the line, integrated, so that the rule's relative error is at most
2 cos(d)^(-1/2) / (exp(2 pi d / h) - 1): 3.2e-16 with h = 1/4 and d = 1.5. Cutting the line off
where exp(u) < exp(-74) / max X and > 40 / min X costs 1e-16 more, relatively. ``ERROR_BOUND`` is
the sum; rounding comes on top, as it does with the exact sum.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol, Self

import numpy as np
from scipy.special import gammaln

from pigou.checks import FloatArray
from pigou.population import Finite

MOST_TERMS = 10**6  # of an exact sum
MOST_COUNTS = 10**7  # numbers in its table
NEGLIGIBLE = 1e-22  # probability of a term: 10^6 such terms are below rounding

STEP = 0.25
BELOW, ABOVE = 74.0, math.log(40.0)
ERROR_BOUND = 5e-16


class Moments(NamedTuple):
    """One value per x."""

    root: FloatArray  # E[X^(1/2)]
    inverse: FloatArray  # E[X^(-1/2)]
    weighted: FloatArray  # E[W X^(-1/2)]


class Expectation(Protocol):
    """Over the types of the others."""

    def __call__(self, x: FloatArray, s: FloatArray) -> Moments:
        """At each x, where an other of type k has s[k]; both are positive."""


@dataclass(frozen=True, eq=False)
class Exact:
    """The sum over all numbers of others of each type."""

    counts: FloatArray  # (terms, K)
    chances: FloatArray  # (terms,)
    accuracy: FloatArray  # (terms,): W

    @classmethod
    def of(cls, population: Finite, others: int) -> Self:
        """All terms but those of negligible probability."""
        counts = compositions(others, population.types.size).astype(np.float64)
        logs = counts @ np.log(population.probabilities) - gammaln(counts + 1.0).sum(axis=1)
        chances = np.exp(logs - logs.max())
        chances /= chances.sum()
        kept = chances > NEGLIGIBLE
        return cls(counts[kept], chances[kept], counts[kept] @ (1.0 - population.types))

    def __call__(self, x: FloatArray, s: FloatArray) -> Moments:
        total = np.einsum("tk,k->t", self.counts, s)
        rows = np.empty((3, x.size))
        for k, own in enumerate(x.tolist()):
            root = np.sqrt(own + total)
            over = self.chances / root
            rows[:, k] = (self.chances * root).sum(), over.sum(), (self.accuracy * over).sum()
        return Moments(*rows)


@dataclass(frozen=True, eq=False)
class Integral:
    """One integral over the real line, for any number of others and types."""

    population: Finite
    others: int

    def __call__(self, x: FloatArray, s: FloatArray) -> Moments:
        m, p = self.others, self.population.probabilities
        low = -BELOW - math.log(x.max() + m * s.max())
        high = ABOVE - math.log(x.min() + m * s.min())
        t = np.exp(np.arange(low, high + STEP, STEP))
        fall = np.exp(-np.outer(t, s))
        lost = np.minimum(-np.expm1(-np.outer(t, s)) @ p, 0.5)
        log_one = np.where(lost < 0.5, np.log1p(-lost), np.log(fall @ p))  # of E[exp(-s_j t)]
        measure = STEP * np.sqrt(t / math.pi)
        own = np.exp(-np.outer(x, t))
        some = np.exp((m - 1) * log_one) * measure * m
        everybody = np.exp(m * log_one) * measure
        inverse = own @ everybody
        root = x * inverse + own @ (some * (fall @ (p * s)))
        weighted = own @ (some * (fall @ (p * (1.0 - self.population.types))))
        return Moments(root, inverse, weighted)


def expectation(population: Finite, others: int) -> Expectation:
    """The exact sum up to ``MOST_TERMS`` terms, the integral beyond."""
    k = population.types.size
    terms = math.comb(others + k - 1, k - 1)
    if terms <= MOST_TERMS and terms * k <= MOST_COUNTS:
        return Exact.of(population, others)
    return Integral(population, others)


def compositions(total: int, parts: int) -> "np.ndarray[tuple[int, int], np.dtype[np.int64]]":
    """All ways to write a number as an ordered sum of non-negative parts, one per row."""
    rows = np.zeros((1, 0), np.int64)
    left = np.array([total])
    for _ in range(parts - 1):
        ways = left + 1
        first = np.repeat(np.cumsum(ways) - ways, ways)
        taken = np.arange(ways.sum()) - first
        rows = np.column_stack([np.repeat(rows, ways, axis=0), taken])
        left = np.repeat(left, ways) - taken
    return np.column_stack([rows, left])
