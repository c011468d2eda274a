"""Sets of the clients with the smallest alpha sqrt(v), with the best weights and noise for each.

With rho_i proportional to 1 / (sigma_i^2 + v_i) and y_i = sqrt(v_i) / sigma_i (section 5),

    Delta^-2 = sum t_i / v_i with t = y^2 / (1 + y^2),
    SC = M psi(Delta) + a sum alpha_i y_i / sqrt(v_i),

and stationarity reads (1 + y_i^2)^2 = r_i y_i with r_i = 2 lambda / (alpha_i sqrt(v_i)) and
lambda = M psi'(Delta) Delta^3 / (2 a): one unknown, lambda. The larger root y is the candidate; the
client is worth having where y >= 1, that is, lambda >= 2 alpha_i sqrt(v_i).
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pigou.certificate.yardsticks import bisect, log_slope
from pigou.checks import FloatArray
from pigou.game import Game

ALL_SIZES = 64  # up to so many clients every prefix is tried
BLOCK = 1 << 18  # numbers per array while several prefixes are tried at once
HALVINGS = 40  # of log lambda: 50 / 2^40 moves no cost
NEWTON = 6  # steps from above on a convex function, whose root is at least 3^(-1/2)
LEAST_LOG_R = math.log(16.0 / 9.0 * math.sqrt(3.0))  # below it there is no root
TIE = 1e-9  # of log lambda: clients this close join together
MOST_LOG_R = 300.0  # beyond it noise is nothing; y^4 must not overflow
LEAST_Y = 3.0**-0.5
LEAST_SHARE = 0.25  # t at the least y

Sizes = NDArray[np.intp]


@dataclass(frozen=True)
class BestWeights:
    """The least social cost found, and how many clients upload there."""

    social_cost: float
    active: int


@dataclass(frozen=True, eq=False)
class Prefixes:
    """The clients with spread: those who mind noise by alpha sqrt(v), and those who do not."""

    game: Game
    reluctance: FloatArray  # alpha sqrt(v), rising
    unit_cost: FloatArray  # alpha a / sqrt(v): privacy cost per unit of y
    share: FloatArray  # least v / v
    free: float  # sum of the shares of those with alpha = 0, who upload without noise
    n_free: int
    log_unit: float  # log of the least sqrt(v)

    @classmethod
    def of(cls, game: Game) -> Self:
        """All clients with spread > 0, of whom there must be one."""
        clients = np.flatnonzero(game.setting.spread > 0)
        alpha, root = game.alpha[clients], np.sqrt(game.setting.spread[clients])
        share = np.square(root.min() / root)
        minds = np.flatnonzero(alpha > 0)
        order = minds[np.lexsort((alpha[minds], alpha[minds] * root[minds]))]
        return cls(
            game=game,
            reluctance=alpha[order] * root[order],
            unit_cost=alpha[order] * game.setting.privacy_scale / root[order],
            share=share[order],
            free=float(share[alpha == 0].sum()),
            n_free=clients.size - minds.size,
            log_unit=math.log(root.min()),
        )

    def best(self) -> BestWeights:
        """The cheapest of the sizes tried."""
        sizes = self.sizes()
        costs = self.costs(sizes)
        k = int(np.argmin(costs))
        return BestWeights(float(costs[k]), self.n_free + int(sizes[k]))

    def sizes(self) -> Sizes:
        """How many of those who mind may upload: any number, or those near the best of many."""
        n, least = self.share.size, 0 if self.n_free else 1
        if n <= ALL_SIZES:
            return np.arange(least, n + 1)
        near = self._near_best() + np.arange(-1, 2)
        return np.unique(np.clip([*near, n], least, n))

    def costs(self, sizes: Sizes) -> FloatArray:
        """The social cost of each prefix, at its best multiplier."""
        height = max(1, BLOCK // max(1, self.share.size))
        blocks = [self._costs(sizes[k : k + height]) for k in range(0, sizes.size, height)]
        return np.concatenate(blocks)

    def _costs(self, sizes: Sizes) -> FloatArray:
        inside = np.arange(self.share.size) < sizes[:, None]
        weight = np.where(inside, self.share, 0.0)
        hardest = np.append(1.0, self.reluctance)[sizes]  # the 1 stands for an empty prefix
        low = np.log(hardest) + LEAST_LOG_R - math.log(2.0)
        high = np.maximum(low, self._log_wanted(self.free + LEAST_SHARE * weight.sum(axis=1)))
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            y = self._y(middle[:, None], slice(None))
            precision = self.free + (weight * _t(y)).sum(axis=1)
            below = middle < self._log_wanted(precision)
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        privacy = np.where(inside, self.unit_cost * y, 0.0).sum(axis=1)
        error = np.exp(self._log_error(precision))
        loss = self.game.setting.loss
        accuracy = self.game.accuracy_weight * error * (loss.linear + loss.quadratic * error)
        return np.asarray(accuracy + privacy)

    def _near_best(self) -> int:
        """How many have joined, as lambda rises, when it buys the precision that is worth lambda.

        Of clients alike, who all join at one lambda, as many as that precision takes.
        """
        threshold = np.log(self.reluctance) + math.log(2.0)

        def shares(log_multiplier: float) -> FloatArray:
            joined = slice(0, int(np.searchsorted(threshold, log_multiplier, side="right")))
            return _t(self._y(np.array(log_multiplier), joined)) * self.share[joined]

        def gap(log_multiplier: float) -> float:
            precision = self.free + float(shares(log_multiplier).sum())
            return float(self._log_wanted(precision)) - log_multiplier

        low = float(threshold[0])
        high = max(low, float(self._log_wanted(self.free + 0.5 * float(self.share[0]))))
        at = bisect(gap, low, high, HALVINGS)
        bought = self.free + np.cumsum(shares(at + TIE))

        def too_few(log_precision: float) -> float:
            return float(self._log_wanted(np.exp(log_precision))) - at

        ends = np.log(bought[[0, -1]])
        wanted = np.exp(bisect(too_few, float(ends[0]), float(ends[1]), HALVINGS))
        return 1 + int(np.searchsorted(bought, wanted))

    def _log_wanted(self, precision: FloatArray | float) -> FloatArray:
        """log lambda = log(M psi'(Delta) Delta^3 / (2 a)): what more precision is worth."""
        setting, log_error = self.game.setting, self._log_error(precision)
        scale = math.log(self.game.accuracy_weight / 2.0) - math.log(setting.privacy_scale)
        return scale + log_slope(setting.loss, log_error) + 2.0 * log_error

    def _log_error(self, precision: FloatArray | float) -> FloatArray:
        """log Delta from Delta^-2, the latter in units of 1 / (least v)."""
        return np.asarray(self.log_unit - 0.5 * np.log(precision))

    def _y(self, log_multiplier: FloatArray, chosen: slice) -> FloatArray:
        """The larger root of (1 + y^2)^2 = r y, or the least y that one could be."""
        log_r = math.log(2.0) + log_multiplier - np.log(self.reluctance[chosen])
        log_r = np.clip(log_r, LEAST_LOG_R, MOST_LOG_R)
        r, y = np.exp(log_r), np.exp(log_r / 3.0)
        for _ in range(NEWTON):
            square = 1.0 + y * y
            y = y - (square * square - r * y) / (4.0 * y * square - r)
        return np.maximum(y, LEAST_Y)


def _t(y: FloatArray) -> FloatArray:
    return np.asarray(y * y / (1.0 + y * y))
