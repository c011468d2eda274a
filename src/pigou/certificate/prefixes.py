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

from pigou.certificate.yardsticks import bisect, log_slope
from pigou.checks import FloatArray
from pigou.game import Game

HALVINGS = 40  # of log lambda: 50 / 2^40 moves no cost
NEWTON = 6  # steps from above on a convex function, whose root is at least 3^(-1/2)
LEAST_LOG_R = math.log(16.0 / 9.0 * math.sqrt(3.0))  # below it there is no root
TIE = 1e-9  # of log lambda: clients this close join together
MOST_LOG_R = 300.0  # beyond it noise is nothing; y^4 must not overflow
LEAST_Y = 3.0**-0.5
LEAST_SHARE = 0.25  # t at the least y


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
        """The cheapest prefix of about as many as the best multiplier takes."""
        n, least = self.share.size, 0 if self.n_free else 1
        near = self._near_best() if n else 0
        sizes = range(max(near - 1, least), min(near + 1, n) + 1)
        found = [BestWeights(self.cost(size), self.n_free + size) for size in sizes]
        return min(found, key=lambda prefix: prefix.social_cost)

    def cost(self, size: int) -> float:
        """The social cost when so many of those who mind upload, at their best multiplier."""
        inside = slice(0, size)
        share = self.share[inside]

        def gap(log_multiplier: float) -> float:
            bought = float(share @ _t(self._y(log_multiplier, inside)))
            return self._log_wanted(self.free + bought) - log_multiplier

        at = 0.0
        if size:  # whose last client has no root below the lower end
            low = math.log(self.reluctance[size - 1] / 2.0) + LEAST_LOG_R
            high = self._log_wanted(self.free + LEAST_SHARE * float(share.sum()))
            at = bisect(gap, low, max(low, high), HALVINGS)
        y = self._y(at, inside)
        error = math.exp(self._log_error(self.free + float(share @ _t(y))))
        privacy = float(self.unit_cost[inside] @ y)
        return self.game.accuracy_weight * self.game.setting.loss(error) + privacy

    def _near_best(self) -> int:
        """How many have joined, as lambda rises, when it buys the precision that is worth lambda.

        Of clients alike, who all join at one lambda, as many as that precision takes.
        """
        threshold = np.log(self.reluctance) + math.log(2.0)

        def shares(log_multiplier: float) -> FloatArray:
            joined = slice(0, int(np.searchsorted(threshold, log_multiplier, side="right")))
            return _t(self._y(log_multiplier, joined)) * self.share[joined]

        def gap(log_multiplier: float) -> float:
            bought = float(shares(log_multiplier).sum())
            return self._log_wanted(self.free + bought) - log_multiplier

        low = float(threshold[0])
        high = max(low, self._log_wanted(self.free + 0.5 * float(self.share[0])))
        at = bisect(gap, low, high, HALVINGS)
        bought = self.free + np.cumsum(shares(at + TIE))

        def too_few(log_precision: float) -> float:
            return self._log_wanted(math.exp(log_precision)) - at

        ends = np.log(bought[[0, -1]]).tolist()
        wanted = math.exp(bisect(too_few, ends[0], ends[1], HALVINGS))
        return 1 + int(np.searchsorted(bought, wanted))

    def _log_wanted(self, precision: float) -> float:
        """log lambda = log(M psi'(Delta) Delta^3 / (2 a)): what more precision is worth."""
        setting, log_error = self.game.setting, self._log_error(precision)
        scale = math.log(self.game.accuracy_weight / 2.0) - math.log(setting.privacy_scale)
        return scale + log_slope(setting.loss, log_error) + 3.0 * log_error

    def _log_error(self, precision: float) -> float:
        """log Delta from Delta^-2, the latter in units of 1 / (least v)."""
        return self.log_unit - 0.5 * math.log(precision)

    def _y(self, log_multiplier: float, chosen: slice) -> FloatArray:
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
