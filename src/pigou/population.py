"""Where clients' types come from: distributions of the privacy sensitivity alpha in [0, 1].

A population is public knowledge: the menu and the interim certificate take expectations over it
(sections 4 and 7 of docs/explanation/theory.md).
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, log_ndtr, ndtr, ndtri_exp

from pigou.checks import FloatArray, count, is_number, number, sensitivities, vector
from pigou.errors import InvalidArgument, require

PROBABILITY_TOLERANCE = 1e-9


class Population(Protocol):
    """Types are independent draws from one distribution on [0, 1]."""

    @property
    def mean(self) -> float:
        """E[alpha]."""

    def quantile(self, p: ArrayLike) -> FloatArray:
        """The least alpha that a share p of the population does not exceed."""

    def sample(self, n: int, rng: np.random.Generator) -> FloatArray:
        """n independent types: quantiles of uniform draws."""
        require(isinstance(rng, np.random.Generator), "rng", "must be a numpy Generator", rng)
        return self.quantile(rng.random(count("n", n)))


@dataclass(frozen=True, init=False, eq=False)
class Finite(Population):
    """Finitely many types, in increasing order, and how likely each is."""

    types: FloatArray
    probabilities: FloatArray

    def __init__(self, types: ArrayLike, probabilities: ArrayLike) -> None:
        values = vector("types", types)
        values = sensitivities("types", values, values.size)
        require((np.diff(values) > 0).all(), "types", "must increase strictly", types)
        chances = vector("probabilities", probabilities)
        one_each = f"must hold {values.size} values, one per type"
        require(chances.size == values.size, "probabilities", one_each, chances.size)
        require(chances.min() > 0, "probabilities", "must all be > 0", float(chances.min()))
        total = math.fsum(chances)
        sums = abs(total - 1.0) <= PROBABILITY_TOLERANCE
        constraint = f"must sum to 1 within {PROBABILITY_TOLERANCE:g}"
        require(sums, "probabilities", constraint, f"sum {total!r}")
        chances = chances / total
        chances.flags.writeable = False
        object.__setattr__(self, "types", values)
        object.__setattr__(self, "probabilities", chances)

    @property
    def mean(self) -> float:
        """E[alpha]."""
        return math.fsum(self.types * self.probabilities)

    def quantile(self, p: ArrayLike) -> FloatArray:
        """The least type whose cumulative probability reaches p."""
        reached = np.searchsorted(np.cumsum(self.probabilities), _shares(p), side="left")
        return self.types[np.minimum(reached, self.types.size - 1)]


def two_point(alpha_low: float, alpha_high: float, eta: float) -> Finite:
    """Type alpha_low with probability eta, alpha_high otherwise."""
    low, high = number("alpha_low", alpha_low), number("alpha_high", alpha_high)
    require(low < high, "alpha_low", f"must be below alpha_high = {high:g}", alpha_low)
    require(high <= 1, "alpha_high", "must be <= 1", alpha_high)
    inside = is_number(eta) and 0 < eta < 1
    require(inside, "eta", "must lie strictly between 0 and 1", eta)
    return Finite([low, high], [eta, 1.0 - eta])


def listed(values: ArrayLike) -> Finite:
    """The types of a list, each as likely as it is frequent there."""
    given = vector("values", values)
    types, counts = np.unique(sensitivities("values", given, given.size), return_counts=True)
    return Finite(types, counts / given.size)


def discretise(population: Population, k: int) -> Finite:
    """k equally likely types, the middles of the population's k-quantiles; equal ones merge."""
    middles = (np.arange(count("k", k)) + 0.5) / k
    return listed(population.quantile(middles))


@dataclass(frozen=True)
class Uniform(Population):
    """Equally likely anywhere from low to high."""

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        _require_range(self.low, self.high)

    @property
    def mean(self) -> float:
        """E[alpha]."""
        return 0.5 * (self.low + self.high)

    def quantile(self, p: ArrayLike) -> FloatArray:
        """low + p (high - low)."""
        return np.asarray(self.low + _shares(p) * (self.high - self.low))


@dataclass(frozen=True)
class Beta(Population):
    """The beta distribution: density proportional to alpha^(a-1) (1-alpha)^(b-1)."""

    a: float
    b: float

    def __post_init__(self) -> None:
        number("a", self.a, above_zero=True)
        number("b", self.b, above_zero=True)

    @property
    def mean(self) -> float:
        """E[alpha]."""
        return self.a / (self.a + self.b)

    def quantile(self, p: ArrayLike) -> FloatArray:
        """The inverse of the regularised incomplete beta function."""
        return np.asarray(betaincinv(self.a, self.b, _shares(p)))


WIDEST = 1e4  # sd over the range: beyond, a mean far out is lost in rounding


@dataclass(frozen=True, init=False)
class TruncatedNormal(Population):
    """A normal distribution given that it falls between low and high.

    ``location`` and ``sd`` are the normal's own, before truncation; ``mean`` is after it.
    """

    location: float
    sd: float
    low: float
    high: float

    def __init__(self, mean: float, sd: float, low: float = 0.0, high: float = 1.0) -> None:
        require(is_number(mean), "mean", "must be a finite number", mean)
        put = object.__setattr__
        put(self, "location", float(mean))
        put(self, "sd", number("sd", sd, above_zero=True))
        _require_range(low, high)
        put(self, "low", float(low))
        put(self, "high", float(high))
        widest = WIDEST * (self.high - self.low)
        wide = f"must be at most {widest:g}: a wider one is all but uniform on [{low:g}, {high:g}]"
        require(self.sd <= widest, "sd", wide, sd)
        mass = float(ndtr(self._ends()[2]))
        require(mass > 0, "mean", f"must leave some probability in [{low:g}, {high:g}]", mean)

    @property
    def mean(self) -> float:
        """E[alpha] = location + sd (phi(a) - phi(b)) / (Phi(b) - Phi(a)), a and b the ends."""
        side, a, b = self._ends()
        log_density = -0.5 * b * b - 0.5 * math.log(2.0 * math.pi)
        fall = math.expm1(0.5 * (b - a) * (b + a))  # (phi(a) - phi(b)) / phi(b)
        shift = math.exp(log_density - self._log_mass(a, b)) * fall
        return min(max(self.location + side * self.sd * shift, self.low), self.high)

    def quantile(self, p: ArrayLike) -> FloatArray:
        """The normal's quantile at the share that lies below, in logarithms: no tail is lost."""
        side, a, b = self._ends()
        shares = _shares(p)
        with np.errstate(divide="ignore"):
            log_share = np.log(shares if side > 0 else 1.0 - shares)
        log_below = np.logaddexp(log_ndtr(a), log_share + self._log_mass(a, b))
        away = ndtri_exp(np.minimum(log_below, log_ndtr(b)))
        return np.clip(self.location + side * self.sd * away, self.low, self.high)

    def _ends(self) -> tuple[float, float, float]:
        """A sign, and the ends in standard units after it: mirrored so that a + b <= 0.

        Then phi(b) is the larger density, and nothing overflows far out.
        """
        a, b = (self.low - self.location) / self.sd, (self.high - self.location) / self.sd
        return (1.0, a, b) if a + b <= 0 else (-1.0, -b, -a)

    @staticmethod
    def _log_mass(a: float, b: float) -> float:
        """log(Phi(b) - Phi(a))."""
        log_a, log_b = float(log_ndtr(a)), float(log_ndtr(b))
        return log_b + math.log(-math.expm1(log_a - log_b))


def _shares(p: ArrayLike) -> FloatArray:
    try:
        shares = np.asarray(p, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidArgument("p", "must hold numbers", p) from error
    require(((shares >= 0) & (shares <= 1)).all(), "p", "must lie in [0, 1]", p)
    return shares


def _require_range(low: float, high: float) -> None:
    below = number("low", low) < number("high", high)
    require(below, "low", f"must be below high = {high}", low)
    require(high <= 1, "high", "must be <= 1", high)
