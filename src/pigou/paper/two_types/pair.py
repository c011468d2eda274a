"""Two types and what everybody knows about them (the paper's section IV; theory section 6)."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pigou.checks import FloatArray, count, is_number, number
from pigou.errors import Degenerate, TooFewClients, require
from pigou.game import AccuracyLoss
from pigou.paper.two_types.counts import Counts

LEAST = 1e-12  # of eta, 1 - eta and alpha_low; and the largest of what has a unit: beyond them
LARGEST = 1e50  # fourth powers of the noise leave the range of floating point
LOW, HIGH = 0, 1  # places of the types in every array with one entry per type


class PerType(NamedTuple):
    """One value for the low type and one for the high type."""

    low: float
    high: float


@dataclass(frozen=True)
class Pair:
    """n clients, each of type alpha_low with probability eta and of alpha_high otherwise."""

    n: int
    eta: float
    alpha_low: float
    alpha_high: float
    loss: AccuracyLoss
    privacy_scale: float

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "n", count("n", self.n))
        if self.n < 3:
            raise TooFewClients("n", "must be 3 or more", self.n)
        inside = is_number(self.eta) and LEAST <= self.eta <= 1 - LEAST
        require(inside, "eta", f"must lie between {LEAST:g} and 1 - {LEAST:g}", self.eta)
        low, high = (number(name, getattr(self, name)) for name in ("alpha_low", "alpha_high"))
        require(low < high, "alpha_low", "must be below alpha_high", (low, high))
        require(high <= 1, "alpha_high", "must be at most 1", high)
        if low < LEAST:
            raise Degenerate("alpha_low", f"must be >= {LEAST:g}: sigma** is K / alpha", low)
        require(isinstance(self.loss, AccuracyLoss), "loss", "must be an AccuracyLoss", self.loss)
        scale = number("privacy_scale", self.privacy_scale, above_zero=True)
        put(self, "privacy_scale", scale)
        for name, size in (
            ("privacy_scale", scale),
            ("loss.linear", self.loss.linear),
            ("loss.quadratic", self.loss.quadratic),
        ):
            fits = size == 0 or 1 / LARGEST <= size <= LARGEST
            require(fits, name, f"must lie between {1 / LARGEST:g} and {LARGEST:g}", size)

    @cached_property
    def alpha(self) -> FloatArray:
        """The two types."""
        return np.array([self.alpha_low, self.alpha_high])

    @cached_property
    def probability(self) -> FloatArray:
        """Of the two types."""
        return np.array([self.eta, 1.0 - self.eta])

    @cached_property
    def all_clients(self) -> Counts:
        """How many of the n clients are low."""
        return Counts.of(self.n, self.eta)

    @cached_property
    def others(self) -> Counts:
        """How many of the other n - 1 are low."""
        return Counts.of(self.n - 1, self.eta)

    @property
    def own_share(self) -> float:
        """((N-1)/N)^2: how much of beta falls on a client's own noise variance (section 3)."""
        return ((self.n - 1) / self.n) ** 2


def kernel(loss: AccuracyLoss, error: FloatArray) -> FloatArray:
    """psi'(Delta) Delta^3, which the paper writes kappa (1 + X^(-1/2) / L) X^(-3/2)."""
    value: FloatArray = error**3 * (loss.linear + 2.0 * loss.quadratic * error)
    return value


def accuracy_loss(loss: AccuracyLoss, error: FloatArray) -> FloatArray:
    """psi at many errors."""
    value: FloatArray = error * (loss.linear + loss.quadratic * error)
    return value
