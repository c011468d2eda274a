"""From uploads to bills: deviations, charges, refunds that sum to zero, and noise estimates.

Money is computed in float, rounded once to integer micro-units, and exact from there on.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from pigou.checks import BoolArray, FloatArray, non_negative, presence
from pigou.errors import TooFewClients, require
from pigou.game import Setting
from pigou.mechanisms.deviations import Updates, compare
from pigou.mechanisms.expected import expected_bills, expected_deviations
from pigou.terms import MICRO, IntArray, Settlement, Terms

__all__ = ["compare", "expected_bills", "expected_deviations", "settle", "statements"]

LARGEST_TOTAL = 2**62  # micro-units in one round: sums and differences stay in 64 bits


def statements(updates: Updates, terms: Terms, barred: ArrayLike | None = None) -> Settlement:
    """One round's bills from the uploads (array of shape (N, d), or N lists of layers)."""
    entitled = _entitled(terms, barred)
    return _settle(compare(updates, terms.active).deviation, terms, entitled)


def settle(deviation: ArrayLike, terms: Terms, barred: ArrayLike | None = None) -> Settlement:
    """One round's bills from the deviations; ``barred`` clients get no refund (section 9)."""
    known = non_negative("deviation", deviation, terms.weights.size)
    return _settle(known, terms, _entitled(terms, barred))


def noise_estimates(deviation: FloatArray, active: BoolArray) -> FloatArray:
    """Unbiased sigma_i^2 + v_i + divergence, N >= 3; NaN where nothing can be told (section 3).

    Sum s = ((N-1)/N) sum D and s_i = (D_i - sum s / (N-1)^2) / (1 - 1/(N-1)^2).
    """
    n = int(np.count_nonzero(active))
    if n < 3:
        return np.full(active.size, np.nan)
    total = (n - 1) / n * deviation[active].sum()
    share = 1.0 / (n - 1) ** 2
    return np.where(active, (deviation - total * share) / (1.0 - share), np.nan)


def error_estimate(setting: Setting, weights: FloatArray, deviation: FloatArray) -> float | None:
    """Delta from one round's deviations: Delta^2 = sum rho_i^2 s_i (section 3), without bias.

    The divergence, which is no error, is taken off first. None where the estimate is 0 or below
    what spread alone makes, so that it is noise, and where fewer than 3 clients were compared.
    """
    active = weights > 0
    s = noise_estimates(deviation - setting.divergence, active)[active]
    square = np.square(weights[active])
    seen, floor = float(square @ s), float(square @ setting.spread[active])
    return math.sqrt(seen) if seen > 0 and seen >= floor else None


def _entitled(terms: Terms, barred: ArrayLike | None) -> BoolArray:
    """The clients that get a refund: the active ones that are not barred."""
    if barred is None:
        return terms.active
    entitled = terms.active & ~presence("barred", barred, terms.weights.size)
    left = int(np.count_nonzero(entitled))
    if terms.refund == "zero-sum" and terms.charge.any() and left < 2:
        raise TooFewClients("barred", "must leave 2 clients or more entitled to refunds", left)
    return entitled


def _settle(deviation: FloatArray, terms: Terms, entitled: BoolArray) -> Settlement:
    active = terms.active
    charge = _charges(deviation, terms)
    if terms.refund == "constant":
        refund = _constant_refunds(terms, entitled)
    else:
        refund = _shared_refunds(charge, entitled)
    return Settlement(active, deviation, charge, refund, noise_estimates(deviation, active))


def _charges(deviation: FloatArray, terms: Terms) -> IntArray:
    """b-hat_i D_i / T in micro-units, rounded half to even."""
    with np.errstate(over="ignore", invalid="ignore"):
        amounts = terms.coefficient * np.where(terms.active, deviation, 0.0) * MICRO
        _require_bookable(f"updates[{amounts.argmax()}]", float(amounts.sum()))
    return np.rint(amounts).astype(np.int64)


def _constant_refunds(terms: Terms, entitled: BoolArray) -> IntArray:
    amount = terms.money * MICRO / terms.rounds * terms.constant_refund
    _require_bookable("constant_refund", amount * entitled.size)
    return np.where(entitled, np.int64(round(amount)), np.int64(0))


def _require_bookable(argument: str, total: float) -> None:
    """Not NaN, and small enough for 64 bits."""
    limit = f"must come to under {LARGEST_TOTAL} micro-units a round"
    require(total < LARGEST_TOTAL, argument, limit, total)


def _shared_refunds(charge: IntArray, receiving: BoolArray) -> IntArray:
    """Each charge, shared equally among the clients entitled to a refund other than its payer.

    With E entitled, i of them gets (sum of the other entitled ones' charges) / (E - 1) plus
    (sum of the barred ones' charges) / E: nothing that i does moves its own refund but through
    the others' deviations, as in section 3. Exact fractions; the remainders left after rounding
    down go to the largest ones (the lowest index among equals).
    """
    refund = np.zeros(charge.size, np.int64)
    if not charge.any():
        return refund
    entitled = np.flatnonzero(receiving)
    e = entitled.size
    paid = charge[entitled].tolist()
    inside, outside = sum(paid), sum(charge[~receiving].tolist())
    shares = [divmod(e * (inside - own) + (e - 1) * outside, e * (e - 1)) for own in paid]
    whole = [share[0] for share in shares]
    left = inside + outside - sum(whole)
    by_remainder = sorted(range(e), key=lambda k: (-shares[k][1], k))
    for k in by_remainder[:left]:
        whole[k] += 1
    refund[entitled] = whole
    return refund
