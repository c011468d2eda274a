"""An epsilon cap in the unit that clients count in: the sum of 1 / sigma^2 over releases."""

import math

from scipy.optimize import brentq

from pigou.checks import number
from pigou.privacy.account import PrivacyAccount

LEAST = 1e-12  # bracket of mu, in which epsilon runs from 0 to beyond any cap that says anything
MOST = 1e6
SUMMING = 1e-12  # relative: above the rounding of a sum of some thousand releases


def precision_cap(empty: PrivacyAccount, delta: float, epsilon: float) -> float:
    """The largest sum of 1 / sigma^2 whose exact epsilon(delta) is at most ``epsilon``.

    It errs on the safe side: the account of releases that reach it never shows more.
    """
    cap = number("epsilon", epsilon, above_zero=True)

    def beyond(log_precision: float) -> float:
        return _epsilon(empty, delta, math.exp(log_precision)) - cap

    low, high = (2.0 * math.log(mu / empty.sensitivity) for mu in (LEAST, MOST))
    if beyond(high) <= 0:
        return math.inf
    log_precision = brentq(beyond, low, high, xtol=SUMMING) - SUMMING
    while beyond(log_precision) > 0:
        log_precision -= SUMMING
    return math.exp(log_precision - SUMMING)


def _epsilon(empty: PrivacyAccount, delta: float, precision: float) -> float:
    return empty.after(1.0 / math.sqrt(precision)).epsilon(delta)
