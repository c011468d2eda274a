"""What a client pays in all, written out from the rules: an oracle that shares no code with pigou.

Everybody but one client plays given noise. That client faces one row per contract that its reports
could bring about, and looks for the cheapest noise in each of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pigou import Game
from pigou.terms import Terms

Floats = NDArray[np.float64]

POINTS = 161  # of the grid over the noise
WIDE = 9.0  # its half width in log(noise)
GOLDEN = (5.0**0.5 - 1.0) / 2.0
SECTIONS = 60


@dataclass(frozen=True, eq=False)
class Faced:
    """One client's total as a function of its noise s, one row per contract."""

    game: Game
    client: int
    others: Floats  # squared error without the client's own noise
    weight: Floats  # rho^2
    fixed: Floats  # expected money at s = 0, in units of cost
    slope: Floats  # what expected money rises by from s = 0 to s = 1: it is affine in s^2

    @classmethod
    def by(cls, game: Game, client: int, contracts: Sequence[Terms]) -> "Faced":
        """What the client faces if all others obey."""
        rows = [_row(game, client, terms) for terms in contracts]
        others, weight, fixed, slope = np.array(rows).T
        return cls(game, client, others, weight, fixed, slope)

    def total(self, s: Floats) -> Floats:
        """J_i, the expected net bill and the transfer; s has one row per contract."""
        loss, alpha = self.game.setting.loss, float(self.game.alpha[self.client])
        shape = (-1,) + (1,) * (s.ndim - 1)
        others, weight, fixed, slope = (
            part.reshape(shape) for part in (self.others, self.weight, self.fixed, self.slope)
        )
        squared = others + weight * np.square(s)
        accuracy = (1.0 - alpha) * (loss.linear * np.sqrt(squared) + loss.quadratic * squared)
        if alpha > 0:
            accuracy = accuracy + alpha * self.game.setting.privacy_scale / s
        return np.asarray(accuracy + fixed + slope * np.square(s))

    def least(self) -> tuple[Floats, Floats]:
        """The cheapest noise for each contract, and the total there."""
        centre = self.game.setting.privacy_scale ** (1.0 / 3.0)
        return least(self.total, self.weight.size, centre)


def least(cost: Callable[[Floats], Floats], rows: int, centre: float) -> tuple[Floats, Floats]:
    """Where each row's cost is least, by a wide grid and golden sections in log(noise)."""
    wide = np.log(centre) + np.linspace(-WIDE, WIDE, POINTS)
    grid = np.broadcast_to(wide, (rows, POINTS))
    k = np.argmin(cost(np.exp(grid)), axis=1)
    low, high = wide[np.maximum(k - 1, 0)], wide[np.minimum(k + 1, POINTS - 1)]
    for _ in range(SECTIONS):
        a, b = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        left = cost(np.exp(a)) < cost(np.exp(b))
        low, high = np.where(left, low, a), np.where(left, b, high)
    noise = np.exp(0.5 * (low + high))
    return noise, cost(noise)


def net_bill(game: Game, terms: Terms, client: int, sigma: Floats) -> float:
    """Charge minus refund in expectation: each D_j, each charge, each refund (section 3)."""
    active = [j for j in range(game.setting.n) if terms.weights[j] > 0]
    if client not in active:
        return 0.0
    n = len(active)
    z = {j: float(sigma[j]) ** 2 + float(game.setting.spread[j]) for j in active}
    charge = {}
    for j in active:
        background = sum(z[k] for k in active if k != j) / (n - 1) ** 2
        deviation = z[j] + float(game.setting.divergence[j]) + background
        charge[j] = terms.money * float(terms.charge[j]) * deviation
    shared = sum(charge[j] for j in active if j != client) / (n - 1)
    refund = shared if terms.refund == "zero-sum" else terms.money * terms.constant_refund
    return charge[client] - refund


def _row(game: Game, client: int, terms: Terms) -> tuple[float, float, float, float]:
    assert terms.sigma is not None
    setting = game.setting
    squared = sum(
        float(weight) ** 2 * (float(terms.sigma[j]) ** 2 + float(setting.spread[j]))
        for j, weight in enumerate(terms.weights)
        if weight > 0 and j != client
    )
    own = float(terms.weights[client]) ** 2
    squared += own * float(setting.spread[client])
    silent, noisy = np.array(terms.sigma), np.array(terms.sigma)
    silent[client], noisy[client] = 0.0, 1.0
    fixed = net_bill(game, terms, client, silent)
    slope = net_bill(game, terms, client, noisy) - fixed
    fixed += float(terms.transfers[client])
    return squared, own, fixed / terms.money, slope / terms.money
