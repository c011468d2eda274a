"""How many of the clients are of the low type: a binomial, over the window that matters.

The window carries all but ``TAIL`` of the probability by Bernstein's inequality, and so is about
as wide as the square root of the number of trials.
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from pigou.checks import FloatArray

# Left out of every sum. Smaller than rounding alone would ask for: what is summed varies by the
# fourth power of the ratio of the two noise levels, and that must not bring the tails back.
TAIL = 1e-24


@dataclass(frozen=True, eq=False)
class Counts:
    """Bin(trials, eta): the numbers in the window and their probabilities, which sum to 1."""

    trials: int
    eta: float
    number: FloatArray
    chance: FloatArray

    @classmethod
    def of(cls, trials: int, eta: float) -> Self:
        mean = trials * eta
        log_tail = math.log(2.0 / TAIL)
        reach = log_tail / 3.0 + math.sqrt(log_tail**2 / 9.0 + 2.0 * log_tail * mean * (1.0 - eta))
        first, last = max(0, math.floor(mean - reach)), min(trials, math.ceil(mean + reach))
        number = np.arange(first, last + 1, dtype=np.float64)
        return cls(trials, eta, number, _chances(trials, eta, number))

    def mean(self, values: FloatArray) -> float:
        """The expectation of ``values``, one per number in the window."""
        return float((self.chance * values).sum())  # a dot product would wake BLAS's threads

    def probability(self, number: int) -> float:
        """The probability of one number; 0 outside the window."""
        place = number - int(self.number[0])
        return float(self.chance[place]) if 0 <= place < self.chance.size else 0.0


def _chances(trials: int, eta: float, number: FloatArray) -> FloatArray:
    """From ratios of neighbours: log-factorials of large numbers would cost seven digits."""
    before = number[:-1]
    log_ratio = np.log((trials - before) / (before + 1.0) * (eta / (1.0 - eta)))
    log_chance = np.concatenate([[0.0], np.cumsum(log_ratio)])
    chance = np.exp(log_chance - log_chance.max())
    answer: FloatArray = chance / chance.sum()
    return answer
