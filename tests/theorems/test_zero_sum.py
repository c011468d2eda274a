"""Section 3: charges and refunds sum to exactly zero, in integers, whatever was uploaded.

Refunds are checked against exact fractions, rounded by the largest remainder.
"""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import rngs

from pigou.mechanisms import billing
from pigou.terms import MICRO, Settlement, Terms


@st.composite
def rounds(draw: st.DrawFn) -> tuple[Terms, np.ndarray, np.ndarray]:
    """Terms, uploads and barred clients of any kind: some inactive, amounts from 0 to 10^12."""
    rng = draw(rngs())
    n = draw(st.integers(3, 9))
    active = np.zeros(n, np.bool_)
    active[rng.permutation(n)[: draw(st.integers(3, n))]] = True
    weights = np.where(active, rng.uniform(0.1, 1.0, n), 0.0)
    price = np.where(active, 10.0 ** rng.uniform(-8, 2, n) * rng.integers(0, 2, n), 0.0)
    terms = Terms(
        mechanism="any",
        weights=weights / weights.sum(),
        unit_price=price,
        rounds=draw(st.integers(1, 50)),
        money=10.0 ** draw(st.integers(-2, 4)),
    )
    updates = 10.0 ** rng.uniform(-3, 3) * rng.standard_normal((n, draw(st.integers(1, 6))))
    barred = rng.permutation(np.flatnonzero(active))[: draw(st.integers(0, active.sum() - 2))]
    return terms, updates, barred


def exact_refunds(settled: Settlement, barred: np.ndarray) -> dict[int, Fraction]:
    """Section 9: every charge goes in equal parts to the others who are entitled."""
    entitled = [i for i in np.flatnonzero(settled.billed).tolist() if i not in barred]
    share = dict.fromkeys(entitled, Fraction(0))
    for payer, charge in enumerate(settled.charge.tolist()):
        receivers = [i for i in entitled if i != payer]
        for i in receivers:
            share[i] += Fraction(charge, len(receivers))
    return share


@settings(deadline=None, max_examples=300)
@given(rounds())
def test_statements_sum_to_exactly_zero(
    case: tuple[Terms, np.ndarray, np.ndarray],
) -> None:
    terms, updates, barred = case
    settled = billing.statements(updates, terms, barred=barred)
    assert settled.charge.dtype == settled.refund.dtype == np.int64
    assert sum(settled.charge.tolist()) == sum(settled.refund.tolist())
    assert sum(settled.net.tolist()) == settled.reserve == 0
    assert (settled.charge >= 0).all()
    assert (settled.refund >= 0).all()
    assert not settled.charge[~terms.active].any()
    assert not settled.refund[~terms.active].any()
    assert not settled.refund[barred].any()


@settings(deadline=None, max_examples=200)
@given(rounds())
def test_charges_are_rounded_half_to_even_and_refunds_by_largest_remainder(
    case: tuple[Terms, np.ndarray, np.ndarray],
) -> None:
    terms, updates, barred = case
    settled = billing.statements(updates, terms, barred=barred)
    owed = terms.charge * settled.deviation * (terms.money * MICRO / terms.rounds)
    slack = 4 * np.finfo(float).eps * owed  # of four multiplications
    assert (np.abs(settled.charge - owed) <= 0.5 + slack).all()
    exact = exact_refunds(settled, barred)
    up = {i: settled.refund[i] - share.__floor__() for i, share in exact.items()}
    assert set(up.values()) <= {0, 1}
    remainders = {i: share - share.__floor__() for i, share in exact.items()}
    raised = [remainders[i] for i, by in up.items() if by == 1]
    lowered = [remainders[i] for i, by in up.items() if by == 0]
    if raised and lowered:
        assert min(raised) >= max(lowered)


def test_half_a_micro_unit_goes_to_the_even_neighbour() -> None:
    """1/128 of a unit of currency is 7812.5 micro-units, without rounding on the way."""
    terms = Terms("any", np.full(3, 1 / 3), np.ones(3), refund="constant")
    settled = billing.settle(np.array([1.0, 3.0, 5.0]) / 128.0, terms)
    assert settled.charge.tolist() == [7812, 23438, 39062]


def test_amounts_near_the_limit_of_64_bits_sum_to_zero() -> None:
    terms = Terms("any", np.full(5, 0.2), np.arange(1.0, 6.0), money=1e9)
    scale = (billing.LARGEST_TOTAL - 2**40) / (terms.charge.sum() * 1e9 * MICRO)
    settled = billing.settle(np.full(5, scale), terms)
    assert sum(settled.charge.tolist()) > 2**61
    assert sum(settled.net.tolist()) == 0


def test_a_constant_refund_leaves_the_rest_to_the_reserve() -> None:
    price = np.array([1.0, 3.0])
    terms = Terms("any", np.full(2, 0.5), price, refund="constant", constant_refund=0.7)
    settled = billing.settle([0.25, 0.25], terms)
    assert settled.charge.tolist() == [250_000, 750_000]
    assert settled.refund.tolist() == [700_000, 700_000]
    assert settled.reserve == -400_000
    without = billing.settle([0.25, 0.25], terms, barred=[1])
    assert without.refund.tolist() == [700_000, 0]
    assert without.reserve == 300_000
