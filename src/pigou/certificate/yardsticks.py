"""What the outcome is measured against: the optimum and the unpriced game for the same weights.

Both are one scalar equation (section 2), solved here by bisection, in logarithms throughout.
"""

import math
from collections.abc import Callable

import numpy as np

from pigou.checks import FloatArray
from pigou.game import AccuracyLoss, Game, Setting

WIDEST = 3000.0  # |log| of any error that doubles can make, with room
HALVINGS = 80


def with_weights(game: Game, weights: FloatArray) -> Game:
    """The same clients under other committed weights."""
    old = game.setting
    parts = (old.n, old.loss, old.privacy_scale, weights, old.spread, old.divergence)
    return Game(Setting(*parts), game.alpha)


def least_social_cost(game: Game) -> float:
    """min SC over noise, for the committed weights: (1) with omega = M, which must be positive."""
    return game.social_cost(_unpriced_noise(game, np.full(game.setting.n, game.accuracy_weight)))


def unpriced_costs(game: Game) -> FloatArray:
    """J_i at the equilibrium without prices, for the committed weights."""
    if (game.alpha[game.setting.active] == 1.0).any():  # whom nothing holds back
        return np.where(game.alpha < 1.0, np.inf, 0.0)
    return game.costs(_unpriced_noise(game, 1.0 - game.alpha))


def bisect(
    gap: Callable[[float], float], low: float, high: float, halvings: int = HALVINGS
) -> float:
    """Where a falling function passes through 0."""
    for _ in range(halvings):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if gap(middle) > 0 else (low, middle)
    return 0.5 * (low + high)


def log_slope(loss: AccuracyLoss, log_error: float) -> float:
    """log psi'(Delta)."""
    return float(np.logaddexp(_log(loss.linear), _log(2.0 * loss.quadratic) + log_error))


def _unpriced_noise(game: Game, omega: FloatArray) -> FloatArray:
    """Theory (1) with b = 0: sigma_i = K (alpha_i / (omega_i rho_i^2))^(1/3), Delta = T(Delta)."""
    setting, active = game.setting, game.setting.active
    spread = _log(game.error(np.where(active, 0.0, np.inf)))
    log_ray = np.full(setting.n, np.inf)
    with np.errstate(divide="ignore"):
        log_ray[active] = np.log(game.alpha[active]) - np.log(omega[active])
        log_weight = np.log(setting.weights[active])
    log_ray[active] = (log_ray[active] - 2.0 * log_weight) / 3.0
    length = _log_norm(log_ray[active] + log_weight)
    if length == -math.inf:  # nobody minds: no noise
        return np.where(active, 0.0, np.inf)

    def log_k(log_error: float) -> float:
        log_phi = log_slope(setting.loss, log_error) - log_error
        return (math.log(setting.privacy_scale) - log_phi) / 3.0

    def gap(log_error: float) -> float:
        total = np.logaddexp(2.0 * (length + log_k(log_error)), 2.0 * spread)
        return float(total) - 2.0 * log_error

    with np.errstate(over="ignore"):
        return np.exp(log_ray + log_k(bisect(gap, -WIDEST, WIDEST)))


def _log_norm(logs: FloatArray) -> float:
    """log of the root of the sum of squares, from logarithms."""
    largest = float(logs.max())
    if largest == -math.inf:
        return largest
    return largest + 0.5 * math.log(float(np.exp(2.0 * (logs - largest)).sum()))


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf
