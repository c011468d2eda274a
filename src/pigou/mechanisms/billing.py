"""From uploads to bills: deviations, charges, refunds that sum to zero, and noise estimates.

Money is computed in float, rounded once to integer micro-units, and exact from there on.
"""

import numpy as np
from numpy.typing import ArrayLike

from pigou.checks import BoolArray, FloatArray, presence
from pigou.errors import InvalidArgument, TooFewClients
from pigou.mechanisms.deviations import Updates, compare
from pigou.mechanisms.expected import expected_bills, expected_deviations
from pigou.terms import MICRO, IntArray, Settlement, Terms

__all__ = ["compare", "expected_bills", "expected_deviations", "settle", "statements"]

LARGEST_TOTAL = 2**62  # micro-units in one round: sums and differences stay in 64 bits


def statements(updates: Updates, terms: Terms, barred: ArrayLike | None = None) -> Settlement:
    """One round's bills from the uploads (array of shape (N, d), or N lists of layers)."""
    return settle(compare(updates, terms.active).deviation, terms, barred)


def settle(deviation: FloatArray, terms: Terms, barred: ArrayLike | None = None) -> Settlement:
    """One round's bills from the deviations; ``barred`` clients get no refund (section 9)."""
    active = terms.active
    excluded = np.zeros(active.size, np.bool_) if barred is None else presence(barred, active.size)
    charge = _charges(deviation, terms)
    if terms.refund == "constant":
        refund = _constant_refunds(terms, active & ~excluded)
    else:
        refund = _shared_refunds(charge, active, excluded)
    return Settlement(active, deviation, charge, refund, noise_estimates(deviation, active))


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


def _charges(deviation: FloatArray, terms: Terms) -> IntArray:
    """b-hat_i D_i / T in micro-units, rounded half to even."""
    per_round = terms.charge * (terms.money * MICRO / terms.rounds)
    amounts = per_round * np.where(terms.active, deviation, 0.0)
    total = float(amounts.sum())
    if not total < LARGEST_TOTAL:
        raise InvalidArgument("updates", f"must cost under {LARGEST_TOTAL} micro-units", total)
    return np.rint(amounts).astype(np.int64)


def _constant_refunds(terms: Terms, entitled: BoolArray) -> IntArray:
    amount = round(terms.money * MICRO / terms.rounds * terms.constant_refund)
    return np.where(entitled, np.int64(amount), np.int64(0))


def _shared_refunds(charge: IntArray, active: BoolArray, barred: BoolArray) -> IntArray:
    """Each charge, shared equally among the clients entitled to a refund other than its payer.

    With E entitled, i of them gets (sum of the other entitled ones' charges) / (E - 1) plus
    (sum of the barred ones' charges) / E: nothing that i does moves its own refund but through
    the others' deviations, as in section 3. Exact fractions; the remainders left after rounding
    down go to the largest ones (the lowest index among equals).
    """
    refund = np.zeros(charge.size, np.int64)
    if not charge.any():
        return refund
    entitled = np.flatnonzero(active & ~barred)
    e = entitled.size
    if e < 2:
        raise TooFewClients("barred", "must leave 2 clients or more entitled to refunds", e)
    paid = charge[entitled].tolist()
    inside, outside = sum(paid), sum(charge[active & barred].tolist())
    shares = [divmod(e * (inside - own) + (e - 1) * outside, e * (e - 1)) for own in paid]
    whole = [share[0] for share in shares]
    left = inside + outside - sum(whole)
    by_remainder = sorted(range(e), key=lambda k: (-shares[k][1], k))
    for k in by_remainder[:left]:
        whole[k] += 1
    refund[entitled] = whole
    return refund
