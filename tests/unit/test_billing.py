"""Statements: charges, refunds, who gets them, and the noise read off the deviations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import Floats, rngs

from pigou import AccuracyLoss, InvalidArgument, Setting, TooFewClients
from pigou.mechanisms import Pigouvian, Unpriced, billing
from pigou.mechanisms.billing import noise_estimates
from pigou.terms import MICRO, Terms

ALPHA = [0.2, 0.4, 0.6, 0.8]
LOSS = AccuracyLoss(1.0, 2.0)
DEVIATIONS = 6.0  # standard deviations: one false alarm in 5e8 draws


def setting(n: int = 4, spread: float = 0.1) -> Setting:
    return Setting(n, LOSS, 0.5, spread=spread)


def terms(**changes: object) -> Terms:
    return Pigouvian(**changes).terms(setting(), ALPHA)  # type: ignore[arg-type] # any of its fields


def uploads(n: int = 4, d: int = 50, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).standard_normal((n, d))


def test_a_settlement_by_hand() -> None:
    """Three uploads of one number: deviations 9, 0, 9; charges in quarters over four rounds."""
    even = Terms("any", np.full(3, 1 / 3), np.ones(3), rounds=4, money=3.0)
    settled = billing.statements(np.array([[-2.0], [4.0], [10.0]]), even)
    np.testing.assert_allclose(settled.deviation, [81.0, 0.0, 81.0], rtol=1e-15)
    c = 1.0 / 8.0  # (N-1)^-3
    coefficient = (1.0 + c * 3.0 / (1.0 + c - 3.0 * c)) / (1.0 + c)
    np.testing.assert_allclose(even.charge, coefficient, rtol=1e-15)
    paid = round(coefficient * 81.0 * 3.0 / 4.0 * MICRO)
    assert settled.charge.tolist() == [paid, 0, paid]
    assert settled.refund.tolist() == [paid // 2, paid, paid // 2]
    assert settled.net.tolist() == [paid - paid // 2, -paid, paid - paid // 2]
    assert settled.billed.all()
    assert settled.reserve == 0


def test_remainders_go_to_the_largest_and_then_to_the_first() -> None:
    """Charges 1, 0, 0, 0 micro-units over three receivers: the first of them gets it."""
    price = np.ones(4)
    unit = Terms("any", np.full(4, 0.25), price, money=1.0 / MICRO)
    deviation = np.array([1.0, 0.0, 0.0, 0.0]) / unit.charge
    assert billing.settle(deviation, unit).refund.tolist() == [0, 1, 0, 0]
    assert billing.settle(2 * deviation, unit).refund.tolist() == [0, 1, 1, 0]
    assert billing.settle(5 * deviation, unit).refund.tolist() == [0, 2, 2, 1]


def test_barred_clients_pay_and_get_nothing_back() -> None:
    even = Terms("any", np.full(4, 0.25), np.ones(4), money=1.0 / MICRO)
    deviation = np.array([30.0, 60.0, 90.0, 120.0]) / even.charge
    settled = billing.settle(deviation, even, barred=[3])
    assert settled.charge.tolist() == [30, 60, 90, 120]
    # halves of the other two's charges, and a third of the barred one's
    assert settled.refund.tolist() == [30 + 45 + 40, 15 + 45 + 40, 15 + 30 + 40, 0]
    by_mask = billing.settle(deviation, even, barred=[False, False, False, True])
    assert by_mask.refund.tolist() == settled.refund.tolist()
    assert billing.settle(deviation, even, barred=[]).refund.tolist() == [90, 80, 70, 60]


@pytest.mark.parametrize("barred", [[0, 1, 2], [0, 1, 2, 3]])
def test_refunds_need_two_who_get_them(barred: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(billing, "compare", None)  # nothing is computed before
    with pytest.raises(TooFewClients, match="barred must leave 2 clients or more"):
        billing.statements(uploads(), terms(), barred=barred)


def test_where_nothing_is_charged_anyone_may_be_barred() -> None:
    free = Unpriced().terms(setting())
    settled = billing.statements(uploads(), free, barred=[0, 1, 2, 3])
    assert settled.net.tolist() == [0, 0, 0, 0]
    q = terms(refund="constant")
    settled = billing.statements(uploads(), q, barred=[0, 1, 2])
    assert settled.refund.tolist() == [0, 0, 0, round(q.constant_refund * MICRO)]


def test_two_clients_pay_for_the_same_deviation_and_get_a_constant_back() -> None:
    contract = Pigouvian(refund="constant", rounds=5)
    two = contract.terms(setting(2), [0.3, 0.6])
    settled = billing.statements(uploads(2), two)
    assert settled.deviation[0] == pytest.approx(settled.deviation[1], rel=1e-14)
    owed = two.unit_price * settled.deviation * MICRO / 5
    assert np.abs(settled.charge - owed).max() <= 0.5 * (1 + 1e-9)
    assert settled.refund.tolist() == [round(two.constant_refund * MICRO / 5)] * 2
    assert np.isnan(settled.noise).all()  # two deviations that are equal tell nothing apart
    expected = billing.expected_bills(setting(2), two, np.asarray(two.sigma))
    assert expected.net.sum() == pytest.approx(0.0, abs=1e-14 * expected.charge.sum())


def test_clients_without_weight_are_not_billed() -> None:
    here = setting().restricted([0, 1, 3])
    some = Pigouvian().terms(setting(), ALPHA, present=[0, 1, 3])
    given = uploads()
    given[2] = np.nan
    settled = billing.statements(given, some)
    assert settled.billed.tolist() == [True, True, False, True] == here.active.tolist()
    assert settled.charge[2] == settled.refund[2] == settled.deviation[2] == 0
    assert np.isnan(settled.noise[2])
    three = Setting(3, LOSS, 0.5, spread=0.1)
    alone = Terms("any", three.weights, some.unit_price[[0, 1, 3]])
    by_themselves = billing.statements(given[[0, 1, 3]], alone)
    np.testing.assert_array_equal(settled.net[[0, 1, 3]], by_themselves.net)
    np.testing.assert_allclose(settled.noise[[0, 1, 3]], by_themselves.noise, rtol=1e-12)


def test_statements_settle_the_deviations_they_find() -> None:
    here, given = terms(rounds=3), uploads()
    whole = billing.statements(given, here, barred=[1])
    parts = billing.settle(billing.compare(given, here.active).deviation, here, barred=[1])
    for name in ("billed", "deviation", "charge", "refund", "noise"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i2"])
def test_layers_are_billed_like_one_array(dtype: str) -> None:
    """To a micro-unit of an amount that float32 sums know to 1e-6."""
    given = (100 * uploads(d=60)).astype(dtype)
    layers = [[row[:10].reshape(2, 5), row[10:]] for row in given]
    one, other = billing.statements(given, terms()), billing.statements(layers, terms())
    slack = 1 + 1e-6 * one.charge
    assert (np.abs(one.charge - other.charge) <= slack).all()
    assert (np.abs(one.refund - other.refund) <= slack.sum()).all()
    assert other.reserve == 0


@pytest.mark.parametrize("barred", [[4], [0.5], [True], "all"])
def test_who_is_barred_is_checked_first(barred: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(billing, "compare", None)
    with pytest.raises(InvalidArgument, match=r"^barred must "):
        billing.statements(uploads(), terms(), barred=barred)  # type: ignore[arg-type] # wrong on purpose


@pytest.mark.parametrize(
    "deviation",
    [[1.0, 2.0], [1.0, -1.0, 0.0, 0.0], [np.nan] * 4, [np.inf] * 4, "abcd", [[1.0] * 4]],
)
def test_what_are_no_deviations(deviation: object) -> None:
    with pytest.raises(InvalidArgument, match=r"^deviation must "):
        billing.settle(deviation, terms())  # type: ignore[arg-type] # wrong on purpose


def test_amounts_beyond_64_bits_are_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"updates\[2\] must come to under \d+ micro-units"):
        billing.settle([1.0, 1.0, 1e15, 1.0], terms())
    with pytest.raises(InvalidArgument, match=r"updates\[2\] must come to under"):
        billing.settle([1.0, 1.0, 1e308, 1.0], terms(money=1e300))
    large = Terms("any", np.full(2, 0.5), np.ones(2), refund="constant", constant_refund=1e300)
    with pytest.raises(InvalidArgument, match="constant_refund must come to under"):
        billing.settle([1.0, 1.0], large)


@settings(deadline=None, max_examples=60)
@given(st.integers(3, 20), rngs())
def test_noise_estimates_undo_what_the_comparison_adds(n: int, rng: np.random.Generator) -> None:
    """On expected deviations they give back s_i exactly: linear, hence unbiased on any."""
    s = rng.uniform(0, 4, n)
    here = Setting(n, LOSS, 0.5)
    expected = billing.expected_deviations(here, np.sqrt(s))
    estimates = noise_estimates(expected, here.active)
    np.testing.assert_allclose(estimates, s, atol=1e-13 * n)


@pytest.mark.parametrize("n", [3, 7])
def test_noise_estimates_are_right_on_average_even_when_negative(n: int) -> None:
    """20,000 rounds of one number each. The estimate is sum_j k_j D_j and each D_j has standard
    deviation sqrt(2) E D_j: that of the estimate is sum_j |k_j| sqrt(2) E D_j at most.
    """
    rounds = 20_000
    rng = np.random.default_rng(n)
    here = Setting(n, LOSS, 0.5, spread=0.2)
    sigma = np.linspace(0.0, 2.0, n)
    s = sigma**2 + 0.2
    free = Unpriced().terms(here)
    estimates = np.array(
        [
            billing.statements(np.sqrt(s)[:, None] * rng.standard_normal((n, 1)), free).noise
            for _ in range(rounds)
        ]
    )
    assert (estimates < 0).any()
    expected = billing.expected_deviations(here, sigma)
    k = np.array([noise_estimates(row, here.active) for row in np.eye(n)]).T
    sd = np.sqrt(2.0 / rounds) * np.abs(k) @ expected
    assert (np.abs(estimates.mean(axis=0) - s) <= DEVIATIONS * sd).all()
    clipped = np.maximum(estimates, 0.0).mean(axis=0)
    assert (clipped - s)[0] > DEVIATIONS * sd[0]  # which is why they are not clipped


def test_every_round_charges_its_part_of_the_run() -> None:
    """Over 5 rounds of the same deviations the sum is what one round would charge for all."""
    given = uploads()
    whole, part = billing.statements(given, terms()), billing.statements(given, terms(rounds=5))
    assert (np.abs(5 * part.charge - whole.charge) <= 0.5 + 5 * 0.5).all()


def test_expected_bills_are_those_of_many_rounds() -> None:
    """One round over 400,000 coordinates: a charge is known to sqrt(2/d), a refund no worse."""
    d = 400_000
    here = terms()
    sigma = np.array([0.5, 1.0, 0.2, 0.7])
    scale = np.sqrt(sigma**2 + 0.1)
    given = scale[:, None] * np.random.default_rng(9).standard_normal((4, d))
    settled = billing.statements(given, here)
    expected = billing.expected_bills(setting(), here, sigma)
    slack = DEVIATIONS * np.sqrt(2.0 / d)
    np.testing.assert_allclose(settled.charge / MICRO, expected.charge, rtol=slack)
    np.testing.assert_allclose(settled.refund / MICRO, expected.refund, rtol=slack)
