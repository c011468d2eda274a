"""What every mechanism promises: one suite, run on each of them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike
from tests.strategies import Floats

from pigou import AccuracyLoss, InvalidArgument, NotApplicable, Setting, TooFewClients
from pigou.mechanisms import Groves, Mechanism, Menu, Pigouvian, PostedPrice, Unpriced
from pigou.mechanisms.billing import expected_bills, expected_deviations
from pigou.paper import PaperPricing
from pigou.paper.two_types import PaperTwoTypes
from pigou.population import two_point
from pigou.terms import Interval, Terms

N = 10  # the paper's mechanism for two types exists there, at eta = 0.3
LOSS = AccuracyLoss.bound(16.0, 2.0)
PLAIN = Setting(N, LOSS, 0.5)
PAIR = two_point(0.25, 0.75, 0.3)
TYPES = np.where(np.arange(N) % 3 == 0, 0.25, 0.75)
PAIRS = np.column_stack([TYPES, np.zeros(N)])
HERE = np.arange(N) % 4 != 2


@dataclass(frozen=True)
class Case:
    """One mechanism, what its clients may report, and what they may not."""

    make: Callable[..., Mechanism]
    reports: Floats | None = None
    bad: tuple[Any, ...] = ()
    absence: bool = True  # whether there is a rule for clients that stay away
    sums_to_zero: bool = True  # whether refunds may be zero-sum

    def mechanism(self, **contract: Any) -> Mechanism:
        return self.make(**contract)


FAR, WIDE = np.array([0.5, 0.0]), np.array([0.0, 1e7])
NO_PAIRS = (TYPES, PAIRS[:-1], PAIRS - 0.5, PAIRS + FAR, PAIRS + WIDE, PAIRS * np.nan)
NO_TYPES = (TYPES[:-1], TYPES[:, None], TYPES - 0.5, TYPES + 0.5, np.full(N, np.nan), ["x"] * N)
CASES = {
    "unpriced": Case(Unpriced),
    "pigouvian": Case(Pigouvian, TYPES, NO_TYPES),
    "posted": Case(PostedPrice),
    "groves": Case(Groves, TYPES, NO_TYPES),
    "groves-spread": Case(
        lambda **contract: Groves(report_spread=True, **contract),
        PAIRS,
        (*NO_PAIRS, [["x"] * 2] * N, [[0.5]] * (N - 1) + [[0.5, 0.5]]),
    ),
    "menu": Case(
        lambda **contract: Menu(PAIR, **contract), TYPES, (*NO_TYPES, np.full(N, 0.5), TYPES + 1e-6)
    ),
    "paper": Case(PaperPricing, TYPES, NO_TYPES, sums_to_zero=False),
    "paper-two-types": Case(
        lambda **contract: PaperTwoTypes.for_setting(PLAIN, PAIR, **contract),
        TYPES,
        (*NO_TYPES, np.full(N, 0.5)),
        absence=False,
        sums_to_zero=False,
    ),
}

each = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
each_that_asks = pytest.mark.parametrize(
    "case",
    [case for case in CASES.values() if case.reports is not None],
    ids=[name for name, case in CASES.items() if case.reports is not None],
)
each_with_absence = pytest.mark.parametrize(
    "case",
    [case for case in CASES.values() if case.absence],
    ids=[name for name, case in CASES.items() if case.absence],
)
each_with_prices = pytest.mark.parametrize(
    "case",
    [case for name, case in CASES.items() if case.sums_to_zero and name != "unpriced"],
    ids=[name for name, case in CASES.items() if case.sums_to_zero and name != "unpriced"],
)


def announced(case: Case, present: ArrayLike | None = None, **contract: Any) -> Terms:
    return case.mechanism(**contract).terms(PLAIN, case.reports, present)


@each
def test_terms_carry_the_contract_and_one_number_per_client(case: Case) -> None:
    terms = announced(case, rounds=5, money=40.0)
    assert (terms.rounds, terms.money, terms.mechanism) == (5, 40.0, case.mechanism().name)
    columns = [terms.weights, terms.unit_price, terms.charge, terms.transfers]
    columns += [] if terms.sigma is None else [terms.sigma]
    assert {column.shape for column in columns} == {(N,)}
    assert terms.weights.sum() == pytest.approx(1.0)


@each
def test_same_input_same_terms_and_no_input_is_changed(case: Case) -> None:
    before = None if case.reports is None else case.reports.copy()
    mechanism = case.mechanism()
    first = mechanism.terms(PLAIN, case.reports)
    assert first == mechanism.terms(PLAIN, case.reports) == announced(case)
    if before is not None:
        np.testing.assert_array_equal(case.reports, before)


@each
def test_money_scales_transfers_and_nothing_else(case: Case) -> None:
    one, many = announced(case), announced(case, money=40.0)
    np.testing.assert_allclose(many.transfers, 40.0 * one.transfers, rtol=1e-12)
    assert replace(many, money=1.0, transfers=one.transfers) == one


@each
def test_report_space_holds_the_reports(case: Case) -> None:
    space, reports = case.mechanism().report_space, case.reports
    if space is None:
        assert reports is None
        return
    assert reports is not None
    if isinstance(space, Interval):
        assert space.low <= reports.min() and reports.max() <= space.high
    elif isinstance(space[0], Interval):
        assert reports.shape == (N, 2)
    else:
        assert set(reports.tolist()) <= set(space)


@each_that_asks
def test_reports_are_checked(case: Case) -> None:
    mechanism = case.mechanism()
    with pytest.raises(InvalidArgument, match="reports") as missing:
        mechanism.terms(PLAIN)
    assert missing.value.received == "None"
    for bad in case.bad:
        with pytest.raises(InvalidArgument, match=r"^reports"):
            mechanism.terms(PLAIN, bad)


@each
def test_contract_is_checked(case: Case) -> None:
    for bad in ({"rounds": 0}, {"money": 0.0}, {"money": float("nan")}, {"refund": "all"}):
        with pytest.raises(InvalidArgument, match=next(iter(bad))):
            case.mechanism(**bad)


@each_with_absence
def test_absent_clients_have_no_weight_and_no_price(case: Case) -> None:
    terms = announced(case, HERE)
    np.testing.assert_array_equal(terms.active, HERE)
    assert not terms.unit_price[~HERE].any() and not terms.charge[~HERE].any()
    assert terms == announced(case, np.flatnonzero(HERE))
    if terms.sigma is not None:
        assert np.isfinite(terms.sigma[HERE]).all()


@each_with_absence
def test_everybody_present_is_nobody_absent(case: Case) -> None:
    all_here, plain = announced(case, np.ones(N, np.bool_)), announced(case)
    np.testing.assert_allclose(all_here.weights, plain.weights, rtol=1e-12)
    np.testing.assert_allclose(all_here.unit_price, plain.unit_price, rtol=1e-12)
    np.testing.assert_allclose(all_here.transfers, plain.transfers, rtol=1e-9, atol=1e-12)


@each_with_absence
def test_absence_keeps_the_transfers(case: Case) -> None:
    """They are charged once, when reports close, and are owed by those who stay away later."""
    mechanism, before = case.mechanism(), announced(case)
    np.testing.assert_array_equal(announced(case, HERE).transfers, before.transfers)
    adapted = mechanism.adapt(PLAIN, before, case.reports, HERE)
    np.testing.assert_array_equal(adapted.transfers, before.transfers)
    np.testing.assert_array_equal(adapted.active, HERE)


@each
@pytest.mark.parametrize("present", [np.zeros(N, np.bool_), [0, N], [0.5], [True, False]])
def test_present_is_checked(case: Case, present: ArrayLike) -> None:
    with pytest.raises((InvalidArgument, NotApplicable), match="present"):
        announced(case, present)


def test_no_rule_for_absence_is_said() -> None:
    with pytest.raises(NotApplicable, match="present"):
        announced(CASES["paper-two-types"], HERE)


@each
def test_revision_keeps_clients_and_money(case: Case) -> None:
    mechanism = case.mechanism(rounds=5)
    terms = mechanism.terms(PLAIN, case.reports)
    shown = expected_deviations(PLAIN, np.linspace(0.2, 0.5, N))
    revised = mechanism.revise(PLAIN, terms, shown)
    np.testing.assert_array_equal(revised.weights, terms.weights)
    np.testing.assert_array_equal(revised.transfers, terms.transfers)
    assert (revised.rounds, revised.mechanism) == (5, terms.mechanism)
    if mechanism.name != "posted":
        assert revised == terms


@each_with_prices
def test_zero_sum_refunds_take_three_clients(case: Case) -> None:
    with pytest.raises(TooFewClients):
        announced(case, [0, 1])
    two = announced(case, [0, 1], refund="constant")
    assert two.unit_price[:2].all() and two.constant_refund > 0
    with pytest.raises(TooFewClients):
        announced(case, [0], refund="constant")


@each_with_prices
def test_bills_sum_to_zero_in_expectation(case: Case) -> None:
    """With zero-sum refunds whatever is played; with constant ones at the target."""
    terms = announced(case)
    played = np.linspace(0.2, 0.5, N)
    bills = expected_bills(PLAIN, terms, played)
    assert abs(bills.net.sum()) <= 1e-12 * bills.charge.sum()
    constant = announced(case, refund="constant")
    if constant.sigma is not None:
        bills = expected_bills(PLAIN, constant, constant.sigma)
        assert abs(bills.net.sum()) <= 1e-12 * bills.charge.sum()
