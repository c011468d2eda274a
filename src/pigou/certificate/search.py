"""The best noise of one's own: a global search, all rows at once.

Without its constant, f is g / s plus a part that rises with s. Each is at most the whole, so that
a noise cheaper than some reference lies in a bracket known beforehand. The bracket is scanned on
a logarithmic grid, and the best cells are narrowed by golden sections. Rows whose best noise is 0
or unlimited need no search.
"""

import numpy as np

from pigou.certificate.golden import golden
from pigou.certificate.stakes import Stakes
from pigou.checks import FloatArray

GRID = 48  # points of the scan
BLOCK = 1 << 11  # numbers per array in one block of rows: they stay in cache


def best_noise(stakes: Stakes, obeyed: FloatArray) -> FloatArray:
    """The cheapest noise found in every row; ``obeyed`` where nothing is cheaper."""
    slope, square = stakes.slope, stakes.square
    best = np.where((stakes.privacy > 0) | (square < 0), np.inf, 0.0)  # < 0: paid for noise
    bounded = ((slope > 0) | (square > 0)) & (square >= 0) & (stakes.privacy > 0)
    searched = np.flatnonzero(bounded & np.isfinite(stakes.mean_others))
    height = max(1, BLOCK // stakes.chance.size)
    for first in range(0, searched.size, height):
        rows = searched[first : first + height]
        best[rows] = _search(stakes.rows(rows))
    return np.where(stakes.gain(obeyed, best) > 0, best, obeyed)


def _search(stakes: Stakes) -> FloatArray:
    reference, low, high = _bracket(stakes)
    change = stakes.change_from(reference)

    def cost(log_sigma: FloatArray) -> FloatArray:
        return change(np.exp(log_sigma))

    left = np.log(low)
    step = (np.log(high) - left) / (GRID - 1)
    best, least = np.zeros(low.size), np.full(low.size, np.inf)
    for k in range(GRID):
        here = cost(left + k * step)
        better = here < least
        best, least = np.where(better, k, best), np.where(better, here, least)
    around = left + np.maximum(best - 1, 0) * step, left + np.minimum(best + 1, GRID - 1) * step
    return np.exp(golden(cost, *around))


def _bracket(stakes: Stakes) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A reference noise, and the ends beyond which no noise can be cheaper than it.

    From above: E[sqrt(A^2 + rho^2 s^2) - A] is convex in (A, rho) and so at least
    sqrt(E[A]^2 + E[rho]^2 s^2) - E[A].
    """
    slope, square = stakes.slope, stakes.square
    with np.errstate(divide="ignore"):
        log_privacy, log_slope, log_square = map(np.log, (stakes.privacy, slope, square))
    near = np.minimum((log_privacy - log_square) / 3.0, (log_privacy - log_slope) / 2.0)
    reference = np.exp(near)
    budget = stakes.privacy / reference + stakes.rise(reference)
    error, weight = stakes.mean_others, stakes.weight @ stakes.chance
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        by_slope = np.sqrt(budget / stakes.linear) * np.sqrt(budget / stakes.linear + 2.0 * error)
        high = np.fmin(by_slope / weight, np.sqrt(budget / square))
    return reference, stakes.privacy / budget, high
