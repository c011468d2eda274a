"""What the others would cost without one client: h_i of (3), by exchange (section 4).

h_i = -(average over k != i of the cost to the others at the optimum of the profile in which
client i's report is replaced by client k's). It depends on the others' reports alone.

No optimum is solved anew. For given weights an optimum depends on the types through three sums,
M = sum (1 - alpha), H^2 = sum rho^(2/3) alpha^(2/3) and V = sum rho^2 v (section 2):

    Delta^2 = K^2 H^2 + V,   K^3 = a / (M phi(Delta)),   phi = psi' / Delta,
    cost to the others = M_-i psi(Delta) + a H^2_-i / K,

so that one exchange is a change of three sums and one scalar equation. Spread is exchanged with
the type where it is reported, and stays the client's own where it is public.

Up to ``PAIRS`` clients every pair (i, k) is solved. Beyond, that is done for heavy clients only,
and the cost without a light one is interpolated in alpha_k^(1/3), of which H^2 and M are
polynomials, through ``NODES`` Chebyshev points that no report moves; its average over k != i is a
weighted sum over the points, the weights leave-one-out averages of their polynomials. A reported
spread is interpolated as well, by the quadratic through 0, m and 2 m, m the mean of the others'
reports: an error of third order in one client's share of V. Whatever the error, h_i is a function
of the others' reports, so that truth stays optimal; only the reserve notices.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.polynomial.chebyshev import chebpts1, chebvander
from numpy.typing import NDArray

from pigou.checks import BoolArray, FloatArray
from pigou.game import AccuracyLoss, without_own
from pigou.solve import Solution

Clients = NDArray[np.intp]

PAIRS = 400  # clients up to which every exchange is solved
HEAVY_SHARE = 0.005  # a client's share of sum rho^2: with it the quadratic in v loses its digits
HEAVY_REPORT = 0.2  # of the others' M or H^2: what one type may add before interpolation does so
NODES = 10  # points in alpha^(1/3)
SPREAD_NODES = (0.0, 1.0, 2.0)  # in v, in units of the others' mean
BLOCK = 1 << 14  # exchanges solved together: they stay in cache
MAX_STEPS = 100
LAST_STEP = 1e-8  # relative: the error left is of its square


@dataclass(frozen=True, eq=False)
class Exchange:
    """The others' sums, one row per client, and the optimum around which exchanges are solved."""

    loss: AccuracyLoss
    scale: float  # a
    error: float  # Delta of the true profile of reports
    k: float  # K there
    weight: float  # M there
    alpha: FloatArray
    spread: FloatArray
    noise_share: FloatArray  # rho_i^(2/3): what alpha_i^(2/3) adds to H^2
    spread_share: FloatArray  # rho_i^2: what v_i adds to V
    others_weight: FloatArray  # M_-i
    others_noise: FloatArray  # H^2_-i
    others_spread: FloatArray  # V_-i

    @classmethod
    def around(cls, best: Solution) -> Self:
        """The exchanges around an optimum, which must have noise or spread."""
        game, setting = best.game, best.game.setting
        noise_share = np.cbrt(np.square(setting.weights))
        spread_share = np.square(setting.weights)
        slope = setting.loss.slope_over_error(best.error)
        return cls(
            loss=setting.loss,
            scale=setting.privacy_scale,
            error=best.error,
            k=float(np.cbrt(setting.privacy_scale / (game.accuracy_weight * slope))),
            weight=game.accuracy_weight,
            alpha=game.alpha,
            spread=setting.spread,
            noise_share=noise_share,
            spread_share=spread_share,
            others_weight=game.others_weight(),
            others_noise=without_own(noise_share * np.cbrt(np.square(game.alpha))),
            others_spread=without_own(spread_share * setting.spread),
        )

    @property
    def heavy(self) -> BoolArray:
        """Whom interpolation does not suit; their own reports have no say in it."""
        share = self.spread_share > HEAVY_SHARE * self.spread_share.sum()
        noise = self.noise_share > HEAVY_REPORT * self.others_noise
        return np.asarray(share | noise | (HEAVY_REPORT * self.others_weight < 1.0))

    def costs(self, clients: Clients, alpha: FloatArray, spread: FloatArray) -> FloatArray:
        """The others' cost when a client's report is replaced: one column per client chosen.

        Sums are taken in units of M, and of Delta^2 and K^2, at the optimum around which they move.
        """
        unit, square = (self.k / self.error) ** 2, self.error**2
        others_noise = self.others_noise[clients]
        m = self.others_weight[clients] / self.weight + (1.0 - alpha) / self.weight
        noise = others_noise * unit + self.noise_share[clients] * unit * np.cbrt(np.square(alpha))
        variance = self.others_spread[clients] / square
        variance = variance + self.spread_share[clients] / square * spread
        free = self._free(clients, m, noise + variance)
        if free is not None:
            m, noise = np.where(free, 1.0, m), np.where(free, 1.0, noise)
        r, k = self._optimum(m, noise, variance)
        linear, quadratic = self.loss.linear * self.error, self.loss.quadratic * square
        costs = self.others_weight[clients] * r * (linear + quadratic * r)
        costs += self.scale / self.k * others_noise / k
        return costs if free is None else np.where(free, 0.0, costs)

    def _free(self, clients: Clients, m: FloatArray, total: FloatArray) -> BoolArray | None:
        """Where nobody is left who minds noise, or accuracy: the least cost tends to 0 there."""
        alone = (self.others_weight <= 0) | (self.others_noise + self.others_spread <= 0)
        return (m <= 0) | (total <= 0) if alone[clients].any() else None

    def _optimum(
        self, m: FloatArray, noise: FloatArray, variance: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Delta and K, by Newton on m K^3 phi(Delta) - 1, which is convex and rises in K.

        Here phi is in units of its value around, and so are the sums, Delta and K.
        """
        linear = self.loss.linear / (self.error * self.loss.slope_over_error(self.error))
        k = 1.0 / np.cbrt(m)
        for _ in range(MAX_STEPS):
            square = k * k
            noisy = noise * square
            total = noisy + variance
            share = linear / np.sqrt(total)  # of phi, that falls with Delta
            phi = share + (1.0 - linear)
            step = (phi - 1.0 / (m * square * k)) / (3.0 * phi - share * noisy / total)
            k *= 1.0 - step
            if np.abs(step).max() <= LAST_STEP:
                break
        return np.sqrt(noise * k * k + variance), k


def cost_without(best: Solution, *, spread_reported: bool) -> FloatArray:
    """-h_i of (3) for every client, of two or more, in units of cost."""
    exchange = Exchange.around(best)
    n = exchange.alpha.size
    paired = exchange.heavy | (n <= PAIRS)
    total = np.zeros(n)
    for clients in _blocks(paired, n):
        total[clients] = _over_pairs(exchange, clients, spread_reported)
    if not paired.all():
        points = _points(exchange, spread_reported)
        for clients in _blocks(~paired, points.alpha.size):
            costs = exchange.costs(clients, points.alpha, points.spread[:, clients])
            total[clients] = np.einsum("qi,qi->i", costs, points.weights[:, clients])
    return total / (n - 1)


def _blocks(chosen: BoolArray, rows: int) -> Iterator[Clients]:
    """The chosen clients, so many at a time that their exchanges fill a block."""
    clients, width = np.flatnonzero(chosen), max(1, BLOCK // rows)
    for first in range(0, clients.size, width):
        yield clients[first : first + width]


def _over_pairs(exchange: Exchange, clients: Clients, spread_reported: bool) -> FloatArray:
    spread = exchange.spread[:, None] if spread_reported else exchange.spread[clients]
    costs = exchange.costs(clients, exchange.alpha[:, None], spread)
    costs[clients, np.arange(clients.size)] = 0.0
    return np.asarray(costs.sum(axis=0))


@dataclass(frozen=True, eq=False)
class Points:
    """Where each client's exchanges are solved, and the weights that make them sums over k != i."""

    alpha: FloatArray  # (points, 1)
    spread: FloatArray  # (points, n), or (1, n) where it is the client's own
    weights: FloatArray  # (points, n)


def _points(exchange: Exchange, spread_reported: bool) -> Points:
    nodes, polynomials = _interpolation(exchange.alpha)
    v = exchange.spread
    if not spread_reported:
        without = polynomials.sum(axis=1, keepdims=True) - polynomials  # all are within [-1, 1]
        return Points(nodes[:, None], v[None, :], without)
    mean = without_own(v) / (v.size - 1)
    unit = np.where(mean > 0, mean, 1.0)
    zeroth, first, second = (without_own(polynomials * v**p) / unit**p for p in range(3))
    weights = (zeroth - 1.5 * first + 0.5 * second, 2.0 * first - second, 0.5 * (second - first))
    spread = np.repeat(SPREAD_NODES, NODES)[:, None] * mean
    return Points(np.tile(nodes, len(SPREAD_NODES))[:, None], spread, np.vstack(weights))


def _interpolation(alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Types at the Chebyshev points of alpha^(1/3), and each point's polynomial at every type."""
    points = chebpts1(NODES)
    at_types = chebvander(2.0 * np.cbrt(alpha) - 1.0, NODES - 1)
    at_points = chebvander(points, NODES - 1) / NODES
    at_points[:, 1:] *= 2.0
    return ((1.0 + points) / 2.0) ** 3, at_points @ at_types.T
