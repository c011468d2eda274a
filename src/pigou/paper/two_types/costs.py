"""What a client expects to pay, given what the others report and play (section IV-A).

The paper's expected cost, before the reward and the constant refund:

    (1 - alpha) E psi(Delta^inc) + alpha a / sigma
        + beta [((N-1)/N)^2 sigma^2 + E sum_{j != i} sigma_j^2 / N^2],

where Delta^inc has the actual noise in its numerator, and in the weights the noise that the
server predicts from the reports.
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from pigou.checks import FloatArray
from pigou.paper.two_types.pair import Pair, PerType, accuracy_loss
from pigou.paper.two_types.system import STALLED, Weights

MAX_STEPS = 60


@dataclass(frozen=True, eq=False)
class Facing:
    """One client's prospects: its weight and the others' noise, by how many others are low."""

    pair: Pair
    weight: FloatArray  # its own rho
    rest: FloatArray  # what the others add to Delta^2
    benchmark: float  # E sum_{j != i} sigma_j^2 / N^2, which its bill contains whatever it does

    @classmethod
    def others(cls, pair: Pair, own_tau: float, tau: PerType, sigma: PerType) -> Self:
        """Predicted noise ``own_tau`` and, for the others by their type, ``tau``; actual sigma."""
        number = np.stack([pair.others.number, pair.n - 1 - pair.others.number])
        unit = min(own_tau, *tau)
        own = (unit / own_tau) ** 2
        precision = (unit / np.array(tau)) ** 2
        total = own + precision @ number
        noise = np.square(np.array(sigma))
        rest = (np.square(precision) * noise) @ number / np.square(total)
        benchmark = (pair.n - 1) * float(pair.probability @ noise) / pair.n**2
        return cls(pair, own / total, rest, benchmark)

    def cost(self, kind: int, sigma: float, beta: float) -> float:
        """The expected cost of a client of type ``kind`` that plays sigma."""
        pair = self.pair
        loss = pair.others.mean(accuracy_loss(pair.loss, self._error(sigma)))
        alpha = float(pair.alpha[kind])
        bill = beta * (pair.own_share * sigma**2 + self.benchmark)
        return (1.0 - alpha) * loss + alpha * pair.privacy_scale / sigma + bill

    def best_noise(self, kind: int, beta: float) -> float:
        """The noise of least expected cost, which is convex in it: Newton on theory (1) in logs.

        The slope of the equation lies in [2, 3], so that a step leaves at most half of the error.
        """
        pair, loss = self.pair, self.pair.loss
        care, gain = 1.0 - float(pair.alpha[kind]), float(pair.alpha[kind]) * pair.privacy_scale
        price = 2.0 * pair.own_share * beta
        at = math.log(gain / price) / 3.0
        for _ in range(MAX_STEPS):
            error = self._error(math.exp(at))
            harm = np.square(self.weight) * (loss.linear / error + 2.0 * loss.quadratic)
            curve = np.square(self.weight) ** 2 * loss.linear / error**3 * math.exp(2.0 * at)
            held_by = care * pair.others.mean(harm) + price
            slope = 3.0 - care * pair.others.mean(curve) / held_by
            move = (math.log(gain / held_by) - 3.0 * at) / slope
            at += move
            if abs(move) <= STALLED:  # converges quadratically: the error left is its square
                break
        return math.exp(at)

    def _error(self, sigma: float) -> FloatArray:
        """Delta^inc, by how many others are low."""
        return np.sqrt(np.square(self.weight * sigma) + self.rest)


def predicted(weights: Weights, sigma: PerType) -> PerType:
    """tau: the noise that makes each type's weight, under a rule and for noise sigma."""
    log_tau = np.array(weights.value) @ np.log(sigma)
    return PerType(float(np.exp(log_tau[0])), float(np.exp(log_tau[1])))


def social_cost(pair: Pair, sigma: PerType, weights: Weights) -> float:
    """E[SC] = E[M psi(Delta)] + n a (eta alpha_L / sigma_L + (1 - eta) alpha_H / sigma_H)."""
    number = np.stack([pair.all_clients.number, pair.n - pair.all_clients.number])
    tau = np.array(predicted(weights, sigma))
    precision = np.square(tau.min() / tau)
    variance = (np.square(precision * np.array(sigma)) @ number) / np.square(precision @ number)
    care = (1.0 - pair.alpha) @ number
    accuracy = pair.all_clients.mean(care * accuracy_loss(pair.loss, np.sqrt(variance)))
    privacy = float((pair.probability * pair.alpha) @ (1.0 / np.array(sigma)))
    return accuracy + pair.n * pair.privacy_scale * privacy
