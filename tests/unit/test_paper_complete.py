"""pigou.paper.complete and PaperPricing: the printed equations hold, and the edges are errors."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from tests.strategies import games

from pigou import (
    AccuracyLoss,
    Degenerate,
    Game,
    InvalidArgument,
    NotApplicable,
    Setting,
    TooFewClients,
    equilibrium,
)
from pigou.certificate import certify
from pigou.mechanisms import billing
from pigou.paper import PaperPricing, complete
from pigou.terms import MICRO, Terms

Floats = NDArray[np.float64]

EXACT = 1e-12  # relative: closed forms
SOLVED = 1e-9  # relative: what an iteration of pigou.solve leaves
LOSS = AccuracyLoss.bound(kappa=16.0, smoothness=2.0)
ALPHA = [0.2, 0.5, 0.8, 0.4]
paper_games = games(least=2, spread="zero", weights="mean")


def game(alpha: Any = ALPHA, **parts: Any) -> Game:
    return Game(Setting(len(alpha), LOSS, 0.5, **parts), alpha)


def terms(alpha: Any = ALPHA, present: Any = None, **options: Any) -> Terms:
    return PaperPricing(**options).terms(game(alpha).setting, alpha, present)


def printed_left_side(of: Game, sigma: Floats, weight: float | Floats) -> Floats:
    """kappa w (sum sigma^-2)^(-3/2) [(sum sigma^-2)^(-1/2) + L] / L, as in Proposition 2."""
    total = math.fsum(float(s) ** -2 for s in sigma)
    kappa, over_l = of.setting.loss.linear, 2.0 * of.setting.loss.quadratic  # kappa / L
    return np.asarray(weight * total**-1.5 * (over_l * total**-0.5 + kappa))


@settings(deadline=None, max_examples=100)
@given(paper_games)
def test_both_equations_of_proposition_2_hold(of: Game) -> None:
    right = of.alpha * of.setting.privacy_scale
    star = complete.equilibrium(of).sigma
    np.testing.assert_allclose(
        printed_left_side(of, star, 1.0 - of.alpha), right * star, rtol=EXACT
    )
    optimum = complete.stationary(of).sigma
    weight = math.fsum(1.0 - alpha for alpha in of.alpha)
    np.testing.assert_allclose(printed_left_side(of, optimum, weight), right * optimum, rtol=EXACT)


@settings(deadline=None, max_examples=50)
@given(paper_games)
def test_solutions_are_consistent(of: Game) -> None:
    """Committed weights give the error of the formula, which is Delta^MLE; so do the costs."""
    for found in (complete.equilibrium(of), complete.stationary(of)):
        assert found.error == pytest.approx(complete.mle_error(found.sigma), rel=EXACT)
        assert found.error == pytest.approx(found.game.error(found.sigma), rel=EXACT)
        assert found.social_cost == pytest.approx(
            complete.mle_social_cost(of, found.sigma), rel=EXACT
        )
        assert found.social_cost == pytest.approx(found.costs.sum(), rel=EXACT)
        precision = found.sigma**-2.0
        np.testing.assert_allclose(
            found.game.setting.weights, precision / precision.sum(), rtol=EXACT
        )


@settings(deadline=None, max_examples=50)
@given(paper_games)
def test_committed_weights_make_sigma_star_the_equilibrium(of: Game) -> None:
    found = complete.equilibrium(of)
    np.testing.assert_allclose(equilibrium(found.game).sigma, found.sigma, rtol=SOLVED)


@settings(deadline=None, max_examples=30)
@given(paper_games)
def test_one_volunteer_is_the_best_volunteer(of: Game) -> None:
    """Against a scalar search over the noise of each client in turn, all others silent."""
    found = complete.one_volunteer(of)
    weight, scale = of.accuracy_weight, of.setting.privacy_scale

    def least(alpha: float) -> float:
        def cost(log_sigma: float) -> float:
            sigma = math.exp(log_sigma)
            return weight * of.setting.loss(sigma) + alpha * scale / sigma

        return float(minimize_scalar(cost, bracket=(-3.0, 1.0)).fun)

    assert found.social_cost == pytest.approx(min(map(least, of.alpha)), rel=1e-9)
    assert np.isfinite(found.sigma).sum() == 1
    assert found.social_cost == pytest.approx(complete.mle_social_cost(of, found.sigma), rel=EXACT)


def test_a_volunteer_who_does_not_mind_costs_nothing() -> None:
    found = complete.one_volunteer(game([0.0, 0.5]))
    assert found.social_cost == 0.0
    assert found.sigma.tolist() == [0.0, math.inf]


@settings(deadline=None, max_examples=100)
@given(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=20))
def test_proposition_1_at_given_noise_the_mle_bound_is_the_smaller(sigma: list[float]) -> None:
    noise = np.array(sigma)
    mean = math.sqrt(math.fsum(s * s for s in sigma)) / len(sigma)
    assert complete.bound_mean(LOSS, noise) == pytest.approx(LOSS(mean), rel=EXACT)
    assert complete.bound_mle(LOSS, noise) <= complete.bound_mean(LOSS, noise) * (1 + EXACT)


def test_extreme_noise_neither_overflows_nor_vanishes() -> None:
    for scale in (1e-200, 1e200):
        sigma = np.array([1.0, 2.0, 3.0]) * scale
        expected = scale / math.sqrt(1.0 + 1.0 / 4.0 + 1.0 / 9.0)
        assert complete.mle_error(sigma) == pytest.approx(expected, rel=EXACT)
    assert complete.mle_error(np.array([0.0, 1.0])) == 0.0
    assert complete.mle_error(np.array([math.inf, 2.0])) == 2.0
    assert complete.mle_error(np.array([math.inf, math.inf])) == math.inf
    assert complete.bound_mean(LOSS, np.zeros(2)) == 0.0
    assert complete.bound_mean(LOSS, np.array([1.0, math.inf])) == math.inf
    vast = complete.bound_mean(AccuracyLoss(1.0, 0.0), np.full(4, 1e200))
    assert vast == pytest.approx(0.5e200, rel=EXACT)


def test_beta_and_q_as_in_definition_4() -> None:
    """Written out client by client, as printed and as corrected."""
    found = complete.stationary(game())
    a, s, n = found.game.alpha, found.sigma, len(ALPHA)
    beta, right = complete.beta_as_printed(found), complete.beta_corrected(found)
    bottom = math.fsum((1 - a[j]) * s[j] ** 3 for j in range(n))
    for i in range(n):
        others = [j for j in range(n) if j != i]
        top = math.fsum((1 - a[j]) * a[j] for j in others)
        assert beta[i] == pytest.approx(n**2 * top * 0.5 / (2 * (n - 1) ** 2 * bottom), rel=EXACT)
        share = math.fsum(1 - a[j] for j in others) / math.fsum(1 - x for x in a)
        assert right[i] == pytest.approx(
            n**2 * a[i] * 0.5 * share / (2 * (n - 1) ** 2 * s[i] ** 3), rel=EXACT
        )
    q = 2 * (n - 1) ** 2 / n * math.fsum(beta[i] * s[i] for i in range(n))
    assert complete.q_as_printed(found, beta) == pytest.approx(q, rel=EXACT)
    balanced = math.fsum(
        right[i]
        * (((n - 1) / n) ** 2 * s[i] ** 2 + math.fsum(s[j] ** 2 for j in range(n) if j != i) / n**2)
        for i in range(n)
    )
    assert complete.q_balanced(found, right) == pytest.approx(balanced / n, rel=EXACT)


@settings(deadline=None, max_examples=50)
@given(paper_games)
def test_corrected_terms_make_sigma_double_star_the_equilibrium(of: Game) -> None:
    announced = PaperPricing().terms(of.setting, of.alpha)
    optimum = complete.stationary(of)
    played = optimum.game
    assert announced.error == optimum.error
    np.testing.assert_array_equal(announced.weights, played.setting.weights)
    found = equilibrium(played, unit_price=announced.unit_price)
    assert announced.sigma is not None
    np.testing.assert_allclose(found.sigma, announced.sigma, rtol=SOLVED)
    bills = billing.expected_bills(played.setting, announced, found.sigma)
    assert bills.net.sum() == pytest.approx(0.0, abs=SOLVED * bills.charge.sum())


def test_the_certificate_passes_corrected_terms_and_fails_the_printed_ones() -> None:
    assert certify(game(), terms()).ok
    failed = certify(game(), terms(verbatim=True))
    assert failed.max_gain > 0.01
    assert not failed.budget.holds


def test_the_bill_is_the_papers() -> None:
    """b D_i = beta_i (w_i - mean of all)^2 per coordinate, minus q: to one micro-unit each."""
    uploads = np.random.default_rng(5).normal(0.0, 1.0, (4, 7))
    found = complete.stationary(game())
    away = ((uploads - uploads.mean(axis=0)) ** 2).mean(axis=1)
    for verbatim in (True, False):
        announced = terms(verbatim=verbatim)
        q = complete.q_as_printed if verbatim else complete.q_balanced
        beta = complete.beta_as_printed(found) if verbatim else complete.beta_corrected(found)
        bill = billing.statements(uploads, announced)
        np.testing.assert_allclose(bill.charge, beta * away * MICRO, atol=1)
        np.testing.assert_allclose(bill.refund, q(found, beta) * MICRO, atol=1)


def test_rounds_and_money_reach_the_terms() -> None:
    announced = terms(rounds=30, money=2.5)
    assert (announced.rounds, announced.money) == (30, 2.5)
    assert (announced.mechanism, announced.refund) == ("paper", "constant")
    assert announced == terms(rounds=30, money=2.5)
    assert announced != terms(rounds=30, money=2.5, verbatim=True)


def test_spread_is_unknown_to_the_paper() -> None:
    alone = Setting(4, LOSS, 0.5)
    real = Setting(4, LOSS, 0.5, spread=[0.1, 0.2, 0.3, 0.4], divergence=1.0)
    assert PaperPricing().terms(real, ALPHA) == PaperPricing().terms(alone, ALPHA)


def test_dropouts_leave_n_and_the_prices_but_not_the_accuracy_weight() -> None:
    announced = terms(present=[0, 1, 3])
    assert announced.sigma is not None
    assert announced.weights[2] == announced.unit_price[2] == 0.0
    assert announced.sigma[2] == math.inf
    weight = math.fsum(1 - alpha for alpha in ALPHA)
    present = np.array(ALPHA)[[0, 1, 3]]
    sigma = announced.sigma[[0, 1, 3]]
    left = printed_left_side(game(), sigma, weight)
    np.testing.assert_allclose(np.full(3, left), present * 0.5 * sigma, rtol=EXACT)
    share = (weight - (1 - present)) / weight
    expected = present * 0.5 * share / (2 * sigma**3)  # b, so that N does not enter
    np.testing.assert_allclose(announced.unit_price[[0, 1, 3]], expected, rtol=EXACT)


def test_a_client_of_weight_zero_is_absent() -> None:
    there = Setting(4, LOSS, 0.5, weights=[0.5, 0.25, 0.0, 0.25])
    assert PaperPricing().terms(there, ALPHA) == terms(present=[0, 1, 3])


def test_alpha_zero_means_unlimited_noise_and_no_weight() -> None:
    announced = terms([0.0, 0.5, 0.8, 0.4])
    assert announced.sigma is not None
    assert announced.sigma[0] == math.inf
    assert announced.weights[0] == announced.unit_price[0] == 0.0
    near = terms([1e-9, 0.5, 0.8, 0.4])
    assert near.sigma is not None
    np.testing.assert_allclose(announced.sigma[1:], near.sigma[1:], rtol=1e-8)


def test_alpha_one_has_an_optimum_but_no_equilibrium() -> None:
    alpha = [0.2, 1.0, 0.5]
    assert np.isfinite(complete.stationary(game(alpha)).sigma).all()
    with pytest.raises(Degenerate, match="alpha must be below 1"):
        complete.equilibrium(game(alpha))


@pytest.mark.parametrize("function", [complete.stationary, complete.one_volunteer])
def test_nobody_who_wants_accuracy(function: Any) -> None:
    with pytest.raises(Degenerate, match="must not be 1 for every client"):
        function(game([1.0, 1.0]))


@pytest.mark.parametrize("function", [complete.stationary, complete.equilibrium])
def test_nobody_who_minds(function: Any) -> None:
    with pytest.raises(Degenerate, match="alpha must be above 0"):
        function(game([0.0, 0.0]))


@pytest.mark.parametrize(
    "function", [complete.stationary, complete.equilibrium, complete.one_volunteer]
)
def test_spread_is_outside_the_papers_model(function: Any) -> None:
    with pytest.raises(NotApplicable, match="spread must be 0"):
        function(game(spread=0.1))


def test_a_price_needs_somebody_to_compare_with() -> None:
    with pytest.raises(TooFewClients, match="2 clients or more"):
        terms([0.5])
    with pytest.raises(TooFewClients, match="2 clients or more"):
        terms([0.0, 0.5])


def test_bad_arguments_are_named() -> None:
    with pytest.raises(InvalidArgument, match="refund must be"):
        PaperPricing(refund="zero-sum")
    with pytest.raises(InvalidArgument, match="rounds must be"):
        PaperPricing(rounds=0)
    with pytest.raises(InvalidArgument, match="reports must hold"):
        PaperPricing().terms(game().setting)
    with pytest.raises(InvalidArgument, match=r"alpha must lie in \[0, 1\]"):
        terms([0.2, 1.5])


def test_inputs_stay_as_they_are() -> None:
    reports = np.array(ALPHA)
    PaperPricing().terms(game().setting, reports)
    assert reports.tolist() == ALPHA
    found = complete.stationary(game())
    sigma = found.sigma.copy()
    beta = complete.beta_corrected(found)
    complete.q_balanced(found, beta)
    complete.mle_error(found.sigma)
    assert found.sigma.tolist() == sigma.tolist()
