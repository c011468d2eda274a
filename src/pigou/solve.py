"""Equilibrium and optimum: one scalar fixed point in the logarithm of the error (section 2).

Without prices the whole N-client problem needs two sums over the clients, H and V (theory (1)),
after which it is one equation in one unknown: in closed form when V = 0, by Newton otherwise.
With prices each Newton step is one pass over the clients. The map's slope in log error lies in
[0, 1/3], so that Newton converges from any start: each step leaves at most half of the error.
"""

import math
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from pigou.checks import FloatArray, non_negative
from pigou.errors import Degenerate
from pigou.fixed_point import Root, closed_form, log_phi, safe_log, unpriced
from pigou.game import Game, Setting
from pigou.priced_point import PricedPoint

LARGE_LOG = 600.0  # beyond it a factor is applied in logarithms
MAX_LOG = math.log(1.7e308)


class Outcome(Enum):
    """How a solution was reached; the values are the messages."""

    CLOSED_FORM = "solved in closed form"
    CONVERGED = "converged"
    UNLIMITED = "some clients gain from adding noise without limit"


@dataclass(frozen=True)
class Status:
    """The outcome, and the clients it names: those with alpha = 1 whom no price holds back."""

    outcome: Outcome
    clients: tuple[int, ...] = ()

    def __str__(self) -> str:
        who = ", ".join(map(str, self.clients[:10])) + (", …" if len(self.clients) > 10 else "")
        return self.outcome.value + (f": {who}" if self.clients else "")


@dataclass(frozen=True, eq=False)
class Solution:
    """A profile of noise levels (read-only) and what it costs; money is not included."""

    game: Game
    sigma: FloatArray
    error: float
    iterations: int
    status: Status

    @cached_property
    def costs(self) -> FloatArray:
        """J_i before money (section 1); read-only, as they are kept."""
        costs = self.game.costs(self.sigma, self.error)
        costs.flags.writeable = False
        return costs

    @cached_property
    def social_cost(self) -> float:
        """The sum of the costs (section 1)."""
        return self.game.social_cost(self.sigma, self.error)


def optimum(game: Game) -> Solution:
    """The noise that minimises social cost for the committed weights: (1), omega = M, b = 0."""
    if not game.accuracy_weight > 0:
        raise Degenerate("alpha", "must not be 1 for every client: no finite optimum", game.alpha)
    log_a = math.log(game.setting.privacy_scale) - math.log(game.accuracy_weight)
    return _unpriced(game, np.cbrt(game.alpha), log_a)


def equilibrium(game: Game, unit_price: ArrayLike | None = None) -> Solution:
    """The Nash equilibrium when client i pays unit_price[i] per unit of its noise variance (1)."""
    if unit_price is not None:
        price = non_negative("unit_price", unit_price, game.setting.n)
        if price.any():
            return _priced(game, price)
    sensitivity = 1.0 - game.alpha  # becomes cbrt(alpha / omega), in place: one array of N in all
    with np.errstate(divide="ignore"):
        np.divide(game.alpha, sensitivity, out=sensitivity)
    np.cbrt(sensitivity, out=sensitivity)
    return _unpriced(game, sensitivity, math.log(game.setting.privacy_scale))


def _unpriced(game: Game, root: FloatArray, log_a: float) -> Solution:
    """Theory (1) with b = 0; ``root`` is cbrt(alpha / omega) and becomes sigma, in place."""
    setting = game.setting
    log_h, log_v = _log_norm(setting, root), _log_spread(setting)
    if log_h == log_v == -math.inf:
        raise Degenerate("alpha", "must not be 0 for every client when spread is 0", game.alpha)
    if log_h == math.inf:
        clients = np.flatnonzero(setting.active & (game.alpha == 1.0)).tolist()
        status, answer = Status(Outcome.UNLIMITED, tuple(clients)), Root(math.inf, 0)
    elif log_v == -math.inf:
        status, answer = Status(Outcome.CLOSED_FORM), closed_form(setting.loss, log_a, log_h)
    else:
        status = Status(Outcome.CONVERGED)
        answer = unpriced(setting.loss, log_a, log_h, log_v)
    log_k = (log_a - log_phi(setting.loss, answer.log_error)) / 3.0
    sigma = _noise(setting, root, log_k)
    sigma.flags.writeable = False
    return Solution(game, sigma, _exp(answer.log_error), answer.steps, status)


def _log_norm(setting: Setting, root: FloatArray) -> float:
    """log H with H^2 = sum (rho_i^(1/3) root_i)^2, over the active clients (section 2)."""
    if setting.weights.strides == (0,):
        return 0.5 * safe_log(float(root @ root)) + math.log(setting.weights[0]) / 3.0
    active = setting.active
    scaled = root[active] * np.cbrt(setting.weights[active])
    return 0.5 * safe_log(float(scaled @ scaled))


def _log_spread(setting: Setting) -> float:
    """log V with V = sum rho_i^2 v_i, in units of its largest term: nothing under- or overflows."""
    if setting.spread.strides == (0,) and setting.spread[0] == 0:
        return -math.inf
    parts = setting.weights * np.sqrt(setting.spread)
    largest = float(parts.max())
    if largest == 0:
        return -math.inf
    return 2.0 * math.log(largest) + math.log(float(np.square(parts / largest).sum()))


def _noise(setting: Setting, root: FloatArray, log_k: float) -> FloatArray:
    """sigma_i = K rho_i^(-2/3) root_i; unlimited where a client has no weight (section 1)."""
    if setting.weights.strides == (0,):
        log_k -= 2.0 / 3.0 * math.log(setting.weights[0])
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            np.divide(root, np.square(np.cbrt(setting.weights)), out=root)
        root[np.isnan(root)] = 0.0  # 0 / 0: no weight and nothing to protect
    if log_k == math.inf:
        root[root > 0] = math.inf
    elif abs(log_k) < LARGE_LOG:
        with np.errstate(over="ignore"):
            root *= math.exp(log_k)
    else:
        with np.errstate(divide="ignore", over="ignore"):
            np.exp(np.log(root) + log_k, out=root)
    return root


def _priced(game: Game, price: FloatArray) -> Solution:
    """Theory (1) with prices: Newton on log T(Delta) - log Delta, one pass over clients a step."""
    log_spread = _log_spread(game.setting)
    point = PricedPoint.of(game, price, log_spread)
    active = game.setting.active
    if log_spread == -math.inf and not game.alpha[active].any():
        raise Degenerate("alpha", "must not be 0 for every client when spread is 0", game.alpha)
    unheld = point.unheld
    if unheld[active].any():
        clients = np.flatnonzero(unheld & active).tolist()
        status, answer = Status(Outcome.UNLIMITED, tuple(clients)), Root(math.inf, 0)
    else:
        status, answer = Status(Outcome.CONVERGED), point.solve()
    with np.errstate(over="ignore"):
        sigma = np.exp(point.log_sigma(answer.log_error))
    sigma.flags.writeable = False
    return Solution(game, sigma, _exp(answer.log_error), answer.steps, status)


def _exp(log_value: float) -> float:
    return math.exp(log_value) if log_value < MAX_LOG else math.inf
