"""Terms of the two simplest mechanisms, and the bills to expect under them."""

import numpy as np
import pytest
from hypothesis import given, settings
from tests.strategies import games

from pigou import AccuracyLoss, Degenerate, Game, InvalidArgument, Setting, TooFewClients, optimum
from pigou.mechanisms import Pigouvian, Unpriced, billing, pigouvian
from pigou.mechanisms.expected import balancing_refund

LOSS = AccuracyLoss(1.0, 2.0)
ALPHA = [0.2, 0.4, 0.6, 0.8]


def setting(n: int = 4) -> Setting:
    return Setting(n, LOSS, 0.5)


@settings(deadline=None, max_examples=60)
@given(games(least=2))
def test_a_constant_refund_balances_in_expectation(game: Game) -> None:
    """q = (1/N) sum_i b_i E D_i (section 3)."""
    terms = Pigouvian(refund="constant").terms(game.setting, game.alpha)
    best = optimum(game)
    bills = billing.expected_bills(game.setting, terms, best.sigma)
    q = terms.unit_price @ billing.expected_deviations(game.setting, best.sigma) / game.setting.n
    assert terms.constant_refund == pytest.approx(q, rel=1e-13)
    assert abs(bills.net.sum()) <= 1e-13 * bills.charge.sum()


def test_terms_say_what_they_were_made_for() -> None:
    contract = Pigouvian(rounds=7, money=3.0)
    terms = contract.terms(setting(), ALPHA)
    best = optimum(Game(setting(), ALPHA))
    assert (terms.mechanism, terms.rounds, terms.money) == ("pigouvian", 7, 3.0)
    assert terms.error == best.error
    np.testing.assert_array_equal(np.asarray(terms.sigma), best.sigma)
    np.testing.assert_array_equal(terms.transfers, np.zeros(4))
    np.testing.assert_array_equal(terms.weights, setting().weights)
    assert contract.revise(setting(), terms, np.ones(4)) is terms


def test_no_prices_no_bills() -> None:
    terms = Unpriced(rounds=7).terms(setting(), present=[0, 2, 3])
    assert (terms.mechanism, terms.rounds, terms.sigma) == ("unpriced", 7, None)
    assert not terms.unit_price.any()
    np.testing.assert_allclose(terms.weights, [1 / 3, 0, 1 / 3, 1 / 3])
    bills = billing.expected_bills(setting(), terms, np.ones(4))
    assert not bills.net.any()
    assert Unpriced().terms(setting(1)).charge.tolist() == [0.0]
    assert balancing_refund(setting(1), np.zeros(1), np.ones(1)) == 0.0


def test_bills_are_expected_from_those_whom_the_terms_bill() -> None:
    """Terms for three of four clients, asked about with the setting of all four."""
    terms = Pigouvian().terms(setting(), ALPHA, present=[0, 1, 3])
    bills = billing.expected_bills(setting(), terms, np.array([0.5, 1.0, 9.0, 0.2]))
    here = billing.expected_bills(
        setting().restricted([0, 1, 3]), terms, np.array([0.5, 1.0, np.inf, 0.2])
    )
    np.testing.assert_allclose(bills.net, here.net, rtol=1e-14)
    assert bills.charge[2] == bills.refund[2] == 0.0
    assert abs(bills.net.sum()) < 1e-14 * bills.charge.sum()


@pytest.mark.parametrize("sigma", [[1.0] * 3, [-1.0] * 4, [np.nan] * 4, [np.inf] * 4, "abcd"])
def test_bills_are_expected_of_finite_noise(sigma: object) -> None:
    with pytest.raises(InvalidArgument, match=r"^sigma must "):
        billing.expected_deviations(setting(), sigma)  # type: ignore[arg-type] # wrong on purpose


@pytest.mark.parametrize("n", [1, 2])
def test_too_few_clients_for_zero_sum_refunds(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pigouvian, "optimum", None)  # nothing is computed before
    with pytest.raises(TooFewClients, match=f"weights must be positive for 3.*received {n}"):
        Pigouvian().terms(setting(n), ALPHA[:n])
    with pytest.raises(TooFewClients, match=f"weights must be positive for 3.*received {n}"):
        Pigouvian().terms(setting(4), ALPHA, present=range(n))


def test_one_client_has_nobody_to_be_compared_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pigouvian, "optimum", None)
    with pytest.raises(TooFewClients, match=r"weights must be positive for 2.*received 1"):
        Pigouvian(refund="constant").terms(setting(1), ALPHA[:1])
    with pytest.raises(TooFewClients, match="weights must be positive for 2 clients or more"):
        billing.expected_deviations(setting(1), [1.0])


@pytest.mark.parametrize(
    "reports", [None, [0.1, 0.2], [0.1, 0.2, 0.3, 1.5], [np.nan] * 4, "abcd", [[0.1]]]
)
def test_reports_are_checked_by_their_name(reports: object) -> None:
    with pytest.raises(InvalidArgument, match=r"^reports must "):
        Pigouvian().terms(setting(), reports)  # type: ignore[arg-type] # wrong on purpose


def test_unbounded_prices_are_named() -> None:
    with pytest.raises(Degenerate, match="alpha must not be 0 for every client"):
        Pigouvian().terms(setting(), [0.0] * 4)
    with pytest.raises(Degenerate, match="alpha must not be 1 for every client"):
        Pigouvian().terms(setting(), [1.0] * 4)
    tiny = Setting(3, AccuracyLoss(1e200, 0.0), 1e-200)
    with pytest.raises(Degenerate, match="error must be large enough for a finite price"):
        Pigouvian().terms(tiny, [1e-200] * 3)


def test_prices_do_not_underflow_with_the_weights() -> None:
    """b = M_-i phi rho^2 / 2, where rho^2 alone would be 1e-400."""
    rare = Setting(4, LOSS, 1e-200, [1e-200, 0.3, 0.3, 0.4])
    terms = Pigouvian().terms(rare, ALPHA)
    phi = LOSS.slope_over_error(float(terms.error or 0.0))
    assert terms.unit_price[0] == pytest.approx(1e-200 * (1e-200 * phi) * 1.2 / 2.0, rel=1e-12)
    assert terms.unit_price[0] > 0


@pytest.mark.parametrize(
    "contract", [{"rounds": 0}, {"rounds": 1.5}, {"money": 0.0}, {"money": np.nan}, {"refund": "x"}]
)
def test_contracts_are_checked(contract: dict[str, object]) -> None:
    (name,) = contract
    for mechanism in (Pigouvian, Unpriced):
        with pytest.raises(InvalidArgument, match=f"^{name} must "):
            mechanism(**contract)  # type: ignore[arg-type] # wrong on purpose
