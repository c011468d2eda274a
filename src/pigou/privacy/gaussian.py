"""epsilon(delta) and delta(epsilon) of mu-GDP: the analytic Gaussian mechanism (section 8).

    delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)

(Balle and Wang, 2018). With x = epsilon / (sqrt(2) mu) - mu / (2 sqrt(2)) and y = x + mu / sqrt(2)
it reads (1/2) [erfc(x) - e^(-x^2) erfcx(y)], which neither overflows nor cancels. Both answers err
on the safe side: they are never below the truth, and above it by rounding alone.
"""

import math
from typing import Final

import numpy as np
from scipy.optimize import brentq
from scipy.special import erfc, erfcx

from pigou.errors import InvalidArgument

ROOT2: Final = math.sqrt(2.0)
MARGIN: Final = 1e-11  # on log delta: over the rounding of erfcx and of the sums below, 2e-12,
# and over the tolerance in x, 4e-14 times a slope of at most 2 x + 2 < 60
ULP: Final = float(np.finfo(np.float64).eps)
NARROW: Final = 0.5  # below this width of [x, y] the difference is taken as an integral
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(12)  # exact to rounding on that width
FAR: Final = 40.0  # beyond it delta < e^-1600


def gaussian_delta(mu: float, epsilon: float) -> float:
    """The least delta for which mu-GDP implies (epsilon, delta), rounded up."""
    _require_at_least_zero("mu", mu)
    _require_at_least_zero("epsilon", epsilon)
    if mu == 0 or (epsilon == math.inf and mu < math.inf):
        return 0.0
    if mu == math.inf:
        return 1.0
    centre = epsilon / (ROOT2 * mu)
    if centre == math.inf:
        return math.ulp(0.0)
    x = (centre - mu / (2.0 * ROOT2)) - 4.0 * ULP * (centre + mu)
    return min(1.0, math.nextafter(math.exp(min(0.0, _log_delta(x, mu))), 1.0))


def gaussian_epsilon(mu: float, delta: float) -> float:
    """The least epsilon for which mu-GDP implies (epsilon, delta), rounded up; may be infinite."""
    _require_at_least_zero("mu", mu)
    if not _is_real(delta) or not 0 <= delta <= 1:
        raise InvalidArgument("delta", "must be a number in [0, 1]", delta)
    if mu == 0 or delta == 1:
        return 0.0
    if delta == 0 or mu == math.inf:
        return math.inf
    wanted = math.log(delta)
    lowest = max(-mu / (2.0 * ROOT2), -FAR)  # epsilon = 0, or delta = 1 to rounding
    if _log_delta(lowest, mu) <= wanted:
        return 0.0
    highest = math.sqrt(max(0.0, -math.log(2.0) - wanted)) + 1.0  # delta < exp(-x^2) / 2, x >= 0
    x = brentq(lambda at: _log_delta(at, mu) - wanted, lowest, highest, xtol=1e-14, rtol=4 * ULP)
    epsilon = mu * (ROOT2 * x + 0.5 * mu)
    return max(0.0, epsilon) + 4.0 * ULP * mu * (ROOT2 * abs(x) + 0.5 * mu)


def _log_delta(x: float, mu: float) -> float:
    """log delta where epsilon = mu (sqrt(2) x + mu / 2): an upper bound, above by MARGIN."""
    if x > FAR:
        return -FAR * FAR
    width = mu / ROOT2
    if width < NARROW:  # erfcx(x) - erfcx(y), where the terms all but cancel: minus the slope
        t = x + width * (0.5 + 0.5 * NODES)
        fall = 2.0 / math.sqrt(math.pi) - 2.0 * t * erfcx(t)
        log_delta = -x * x + math.log(0.25) + math.log(width) + math.log(NODE_WEIGHTS @ fall)
    elif x > 0:
        log_delta = -x * x + math.log(0.5 * (erfcx(x) - erfcx(x + width)))
    else:
        log_delta = math.log(0.5 * (erfc(x) - math.exp(-x * x) * erfcx(x + width)))
    return log_delta + MARGIN


def _is_real(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _require_at_least_zero(argument: str, value: object) -> None:
    if not _is_real(value) or not value >= 0:  # type: ignore[operator]  # _is_real has checked it
        raise InvalidArgument(argument, "must be a number >= 0", value)
