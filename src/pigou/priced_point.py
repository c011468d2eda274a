"""The fixed point of section 2 when clients are priced: each step is one pass over the clients.

Everything is kept in logarithms, so that neither tiny nor huge prices, weights or scales can
under- or overflow.
"""

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from pigou.checks import BoolArray, FloatArray
from pigou.fixed_point import Root, linear_share, log_add, log_phi, newton
from pigou.game import AccuracyLoss, Game


@dataclass(frozen=True, eq=False)
class PricedPoint:
    """Theory (1) for given prices; minus infinity stands for a log of 0."""

    loss: AccuracyLoss
    log_gain: FloatArray  # log(alpha_i a)
    log_harm: FloatArray  # log(omega_i rho_i^2): what the client's own noise costs it
    log_price: FloatArray  # log(2 b_i)
    log_weight: FloatArray  # log(rho_i^2)
    log_spread: float  # log V

    @classmethod
    def of(cls, game: Game, price: FloatArray, log_spread: float) -> Self:
        setting = game.setting
        with np.errstate(divide="ignore"):
            log_weight = 2.0 * np.log(setting.weights)
            log_harm = np.log1p(-game.alpha) + log_weight
            log_gain = np.log(game.alpha) + math.log(setting.privacy_scale)
            log_price = np.log(price) + math.log(2.0)
        return cls(setting.loss, log_gain, log_harm, log_price, log_weight, log_spread)

    @property
    def unheld(self) -> BoolArray:
        """Clients that neither their own loss nor a price keeps from unlimited noise."""
        wants_noise = self.log_gain > -math.inf
        unbounded: BoolArray = np.maximum(self.log_harm, self.log_price) == -math.inf
        return wants_noise & unbounded

    def log_sigma(self, log_error: float) -> FloatArray:
        """Theory (1) in logarithms: the best response to an aggregate error."""
        held_by = np.logaddexp(self.log_harm + log_phi(self.loss, log_error), self.log_price)
        with np.errstate(invalid="ignore"):
            answer = (self.log_gain - held_by) / 3.0
        return np.where(self.log_gain == -math.inf, -math.inf, answer)

    def solve(self) -> Root:
        """The error at which the best responses to it add up to it (section 2)."""
        in_error = (self.log_gain > -math.inf) & (self.log_weight > -math.inf)
        if not in_error.any():
            return Root(self.log_spread / 2.0, 0)
        return newton(self._only(in_error)._log_map, 0.0)

    def _only(self, clients: BoolArray) -> Self:
        return replace(
            self,
            log_gain=self.log_gain[clients],
            log_harm=self.log_harm[clients],
            log_price=self.log_price[clients],
            log_weight=self.log_weight[clients],
        )

    def _log_map(self, x: float) -> tuple[float, float]:
        """log T and its slope; every client adds some noise, and not without limit."""
        harm = self.log_harm + log_phi(self.loss, x)
        held_by = np.logaddexp(harm, self.log_price)
        log_terms = self.log_weight + (self.log_gain - held_by) * (2.0 / 3.0)
        largest = float(log_terms.max())
        terms = np.exp(log_terms - largest)
        noise = float(terms.sum())
        log_noise = largest + math.log(noise)
        log_total = log_add(log_noise, self.log_spread)
        unpriced = float(terms @ np.exp(harm - held_by)) / noise  # the part that the error moves
        slope = linear_share(self.loss, x) / 3.0 * unpriced * math.exp(log_noise - log_total)
        return log_total / 2.0, slope
