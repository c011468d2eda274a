"""The scalar fixed point of section 2, in the logarithm of the error.

Without prices, with H^2 = sum rho_i^(2/3) (alpha_i / omega_i)^(2/3), V = sum rho_i^2 v_i and
phi = psi'(Delta) / Delta, theory (1) gives Delta^2 = (a / phi(Delta))^(2/3) H^2 + V:
one unknown, whatever N is.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from pigou.game import AccuracyLoss

MAX_STEPS = 100
STEP_TOLERANCE = 1e-15  # of log(error), relative to its size where that is above 1
LARGE = 1e8  # beyond it arccosh(u) = log(2 u) to the last bit


Map = Callable[[float], tuple[float, float]]  # x -> log T at log Delta = x, and its slope


class Root(NamedTuple):
    """log Delta, and the steps it took: 0 for a closed form."""

    log_error: float
    steps: int


def newton(log_map: Map, start: float) -> Root:
    """x = log T(x) by Newton; the slope lies in [0, 1/3] (section 2): each step halves at least."""
    root, move = Root(start, 0), math.inf
    while abs(move) > STEP_TOLERANCE * max(1.0, abs(root.log_error)) and root.steps < MAX_STEPS:
        value, slope = log_map(root.log_error)
        move = (value - root.log_error) / (1.0 - slope)
        root = Root(root.log_error + move, root.steps + 1)
    return root


def log_phi(loss: AccuracyLoss, log_error: float) -> float:
    """log(psi'(Delta) / Delta) = log(linear / Delta + 2 quadratic)."""
    return log_add(safe_log(loss.linear) - log_error, safe_log(2.0 * loss.quadratic))


def linear_share(loss: AccuracyLoss, log_error: float) -> float:
    """-d log(phi) / d log(Delta): the part of phi that falls with the error."""
    if loss.linear == 0:
        return 0.0
    return math.exp(math.log(loss.linear) - log_error - log_phi(loss, log_error))


def closed_form(loss: AccuracyLoss, log_a: float, log_h: float) -> Root:
    """V = 0: Delta = K H with linear K^2 + 2 quadratic H K^3 = a H (section 2).

    With K = K0 / z, K0 the root at quadratic = 0, this is z^3 - z = c, whose one positive root
    has a form without cancellation.
    """
    if loss.linear == 0:
        return Root((log_a - math.log(2.0 * loss.quadratic)) / 3.0 + log_h, 0)
    log_k0 = 0.5 * (log_a + log_h - math.log(loss.linear))
    if loss.quadratic == 0:
        return Root(log_k0 + log_h, 0)
    log_c = math.log(2.0 * loss.quadratic) + log_h + log_k0 - math.log(loss.linear)
    return Root(log_k0 + log_h - _log_depressed_root(log_c), 0)


def unpriced(loss: AccuracyLoss, log_a: float, log_h: float, log_v: float) -> Root:
    """The same equation for any V >= 0, from the closed form's answer at V = 0."""

    def log_map(x: float) -> tuple[float, float]:
        log_noise = 2.0 * (log_h + (log_a - log_phi(loss, x)) / 3.0)
        log_total = log_add(log_noise, log_v)
        return log_total / 2.0, linear_share(loss, x) / 3.0 * math.exp(log_noise - log_total)

    quiet = closed_form(loss, log_a, log_h).log_error if log_h > -math.inf else -math.inf
    return newton(log_map, log_add(2.0 * quiet, log_v) / 2.0)


def log_add(first: float, second: float) -> float:
    """log(exp(first) + exp(second)); minus infinity is the logarithm of 0."""
    high, low = max(first, second), min(first, second)
    if math.isinf(high) or low == -math.inf:
        return high
    return high + math.log1p(math.exp(low - high))


def safe_log(value: float) -> float:
    """log with log(0) = minus infinity."""
    return math.log(value) if value > 0 else -math.inf


def _log_depressed_root(log_c: float) -> float:
    """log z for z^3 - z = c > 0, by the trigonometric forms of the cubic."""
    log_u = log_c + math.log(1.5 * math.sqrt(3.0))
    if log_u <= 0.0:
        return math.log(2.0 / math.sqrt(3.0) * math.cos(math.acos(math.exp(log_u)) / 3.0))
    big = log_u > math.log(LARGE)
    angle = (math.log(2.0) + log_u if big else math.acosh(math.exp(log_u))) / 3.0
    return angle - math.log(math.sqrt(3.0)) + math.log1p(math.exp(-2.0 * angle))
