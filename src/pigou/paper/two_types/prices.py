"""The penalty coefficients of Proposition 5: as meant, as printed, and read literally."""

from enum import Enum

import numpy as np

from pigou.checks import FloatArray
from pigou.paper.two_types.pair import HIGH, LOW, Pair, PerType, kernel


class Reading(Enum):
    """How to read the formulas; the values say so in words."""

    CORRECTED = "p of Bin(N-1, eta), and N-1-n in the second sum of beta^H"
    AS_PRINTED = "p of Bin(N-1, eta), as in the lemmas"
    LITERAL = "p of Bin(N, eta), as redefined before Proposition 5"


def beta(pair: Pair, sigma: PerType, reading: Reading) -> PerType:
    """beta^L and beta^H at the social optimum sigma**."""
    n, alpha, eta = pair.others.number, pair.alpha, pair.eta
    low_precision, high_precision = np.square(1.0 / np.array(sigma))
    x1 = (n + 1.0) * low_precision + (pair.n - 1.0 - n) * high_precision
    x2 = n * low_precision + (pair.n - n) * high_precision
    p, mean = _over_lemmas_p(pair, reading), pair.others.mean
    loss_1 = p * kernel(pair.loss, 1.0 / np.sqrt(x1))
    loss_2 = p * kernel(pair.loss, 1.0 / np.sqrt(x2))
    other_high = pair.n - (1.0 if reading is Reading.CORRECTED else 0.0) - n  # E7

    care_low, care_high = 1.0 - alpha[LOW], 1.0 - alpha[HIGH]
    odds = (1.0 - eta) / eta
    low = care_low * mean(loss_1 * n) + odds * care_high * mean(loss_2 * n)
    high = care_low / odds * mean(loss_1 * (pair.n - 1.0 - n))
    high += care_high * mean(loss_2 * other_high)
    scale = 2.0 * pair.own_share
    return PerType(float(low * low_precision**2 / scale), float(high * high_precision**2 / scale))


def mean_weights_beta(pair: Pair, sigma: PerType) -> PerType:
    """The same prices for mean weights: (2) in expectation over the others' types."""
    noise = np.square(np.array(sigma))
    prices = []
    for kind in (LOW, HIGH):
        low = pair.others.number + (1.0 if kind == LOW else 0.0)
        number = np.stack([low, pair.n - low])
        error = np.sqrt(noise @ number) / pair.n
        others_weight = (1.0 - pair.alpha) @ number - (1.0 - pair.alpha[kind])  # M_-i
        phi = pair.loss.linear / error + 2.0 * pair.loss.quadratic
        prices.append(pair.others.mean(others_weight * phi) / (2.0 * (pair.n - 1.0) ** 2))
    return PerType(*prices)


def _over_lemmas_p(pair: Pair, reading: Reading) -> FloatArray | float:
    """p(n), n = 0 .. N-1, over that of the lemmas: Bin(N) over Bin(N-1) if read literally."""
    if reading is Reading.LITERAL:
        return pair.n * (1.0 - pair.eta) / (pair.n - pair.others.number)
    return 1.0
