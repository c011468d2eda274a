"""The paper's mechanism for two types, as terms that can be billed."""

import itertools
import math

import numpy as np
import pytest

from pigou import AccuracyLoss, Degenerate, Game, InvalidArgument, NotApplicable, Setting
from pigou import equilibrium as play
from pigou.mechanisms import Mechanism
from pigou.mechanisms.expected import expected_bills
from pigou.paper.two_types import NoBranch, PaperTwoTypes, TwoTypes
from pigou.population import Uniform, listed, two_point

LOSS = AccuracyLoss.bound(16.0, 2.0)
EXACT = 1e-11  # relative: rounding
LOW, HIGH = 0.25, 0.75


def setting(n: int = 10) -> Setting:
    return Setting(n, LOSS, 0.5)


def mechanism(n: int = 10, eta: float = 0.3, **contract: object) -> PaperTwoTypes:
    return PaperTwoTypes(model=TwoTypes(n, eta, LOW, HIGH, LOSS, 0.5), **contract)  # type: ignore[arg-type]  # passed through


def reports(n: int, low: int) -> list[float]:
    return [LOW] * low + [HIGH] * (n - low)


def test_it_is_a_mechanism_with_a_menu() -> None:
    one: Mechanism = mechanism()
    assert one.name == "paper-two-types"
    assert one.report_space == (LOW, HIGH)


def test_terms_follow_the_paper() -> None:
    one = mechanism(100, 0.8)
    m = one.model
    terms = one.terms(setting(100), reports(100, 77))
    precision = np.where(np.arange(100) < 77, m.sigma_low**-2, m.sigma_high**-2)
    np.testing.assert_allclose(terms.weights, precision / precision.sum(), rtol=EXACT)
    assert terms.sigma is not None
    np.testing.assert_allclose(terms.sigma, [m.sigma_low] * 77 + [m.sigma_high] * 23, rtol=EXACT)
    beta = np.array([m.beta_low] * 77 + [m.beta_high] * 23)
    np.testing.assert_allclose(terms.unit_price, 0.99**2 * beta, rtol=EXACT)
    assert terms.error is not None
    assert math.isclose(terms.error, precision.sum() ** -0.5, rel_tol=EXACT)
    assert terms.refund == "constant"
    paid, q = m.rewards.required(), m.constant_refund()
    again = math.comb(100, 77) * 0.8**77 * 0.2**23
    assert q < 0.0  # rewards beyond the penalties: charged, as terms have no negative refunds
    assert terms.constant_refund == 0.0
    np.testing.assert_allclose(terms.transfers[:77], -q - again * paid.low, rtol=1e-10)
    np.testing.assert_allclose(terms.transfers[77:], -q - again * paid.high, rtol=1e-10)


def test_bills_are_the_papers_penalties() -> None:
    """b D_i with the others' mean is beta times the squared deviation from the mean of all."""
    one = mechanism()
    terms = one.terms(setting(), reports(10, 3))
    uploads = np.random.default_rng(7).normal(size=10)
    others = (uploads.sum() - uploads) / 9.0
    beta = [one.model.beta_low] * 3 + [one.model.beta_high] * 7
    np.testing.assert_allclose(
        terms.charge * (uploads - others) ** 2, beta * (uploads - uploads.mean()) ** 2, rtol=EXACT
    )


@pytest.mark.parametrize("rewards", [True, False])
@pytest.mark.parametrize(("alpha", "eta"), [((0.25, 0.75), 0.2), ((0.3, 0.4), 0.6)])
def test_the_budget_balances_over_all_profiles(
    alpha: tuple[float, float], eta: float, rewards: bool
) -> None:
    """Everybody truthful and obedient; summed over every profile of six clients."""
    model = TwoTypes(6, eta, *alpha, LOSS, 0.5)
    one = PaperTwoTypes(model=model, rewards=rewards, money=20.0)
    total = size = 0.0
    for types in itertools.product(alpha, repeat=6):
        terms = one.terms(setting(6), types)
        assert terms.sigma is not None
        bills = expected_bills(setting(6), terms, terms.sigma)
        low = sum(t == alpha[0] for t in types)
        chance = eta**low * (1.0 - eta) ** (6 - low)
        total += chance * float(bills.net.sum() + terms.transfers.sum())
        size += chance * float(bills.charge.sum() + np.abs(terms.transfers).sum())
    assert size > 0.0
    assert abs(total) < EXACT * size


def test_for_known_reports_the_targets_are_near_an_equilibrium_of_many() -> None:
    """Prices are set in expectation: for one profile the targets are right to 1 / sqrt(N)."""
    n = 2000
    one = mechanism(n)
    types = reports(n, 600)
    terms = one.terms(setting(n), types)
    committed = Setting(n, LOSS, 0.5, terms.weights)
    played = play(Game(committed, types), terms.unit_price)
    assert terms.sigma is not None
    np.testing.assert_allclose(played.sigma, terms.sigma, rtol=0.02)


def test_at_one_half_it_refuses_unless_told_to_leave_the_rewards_out() -> None:
    with pytest.raises(Degenerate, match="eta must not be 1/2"):
        mechanism(10, 0.5).terms(setting(), reports(10, 5))
    terms = mechanism(10, 0.5, rewards=False).terms(setting(), reports(10, 5))
    assert not terms.transfers.any()
    assert terms.constant_refund > 0.0


def test_where_the_branch_is_lost_it_refuses() -> None:
    model = TwoTypes(30, 0.9, 0.2, 0.65, LOSS, 0.5)
    with pytest.raises(NoBranch, match="the optimum with two types must exist"):
        PaperTwoTypes(model=model).terms(setting(30), [0.2] * 30)


def test_it_is_made_for_a_setting_and_a_population() -> None:
    one = PaperTwoTypes.for_setting(setting(), two_point(LOW, HIGH, 0.3), rounds=5)
    assert one == mechanism(rounds=5)
    for population in (Uniform(0.1, 0.9), listed([0.1, 0.2, 0.3])):
        with pytest.raises(NotApplicable, match="must have two types"):
            PaperTwoTypes.for_setting(setting(), population)


@pytest.mark.parametrize(
    ("other", "argument"),
    [
        (Setting(11, LOSS, 0.5), "setting"),
        (Setting(10, AccuracyLoss(1.0, 1.0), 0.5), "setting"),
        (Setting(10, LOSS, 0.6), "setting"),
        (Setting(10, LOSS, 0.5, np.arange(1, 11) / 55.0), "weights"),
        (Setting(10, LOSS, 0.5, spread=0.1), "spread"),
        (Setting(10, LOSS, 0.5, divergence=0.1), "divergence"),
    ],
    ids=["n", "loss", "scale", "weights", "spread", "divergence"],
)
def test_settings_it_does_not_cover(other: Setting, argument: str) -> None:
    with pytest.raises(NotApplicable) as caught:
        mechanism().terms(other, reports(other.n, 3))
    assert caught.value.argument == argument


@pytest.mark.parametrize(
    "given", [None, [LOW] * 9, [0.5] * 10, [LOW] * 9 + [0.2500001], [2.0] * 10]
)
def test_reports_that_are_missing_or_not_on_the_menu(given: list[float] | None) -> None:
    with pytest.raises(InvalidArgument) as caught:
        mechanism().terms(setting(), given)
    assert caught.value.argument == "reports"


def test_it_has_no_rule_for_dropouts() -> None:
    assert mechanism().terms(setting(), reports(10, 3), present=range(10))
    with pytest.raises(NotApplicable, match="no rule for dropouts"):
        mechanism().terms(setting(), reports(10, 3), present=range(9))


def test_its_refund_is_constant_and_its_model_a_model() -> None:
    with pytest.raises(InvalidArgument, match='must be "constant"'):
        mechanism(refund="zero-sum")
    with pytest.raises(InvalidArgument, match="must be a TwoTypes"):
        PaperTwoTypes(model="model")  # type: ignore[arg-type]  # that is the test
