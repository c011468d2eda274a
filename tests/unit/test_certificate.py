"""Certificates: honest outcomes pass, faulty ones fail and say why, edges have right answers."""

import ast
import dataclasses
import inspect
import math
import pkgutil
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import games

import pigou.certificate
from pigou import AccuracyLoss, Game, Setting, equilibrium, optimum
from pigou.certificate import GAIN_TOLERANCE, certify
from pigou.errors import Degenerate, InvalidArgument, NotApplicable, PigouError, TooFewClients
from pigou.mechanisms import Pigouvian, Unpriced
from pigou.mechanisms.expected import expected_bills
from pigou.population import Uniform, two_point
from pigou.terms import Interval, Terms

BOUND = AccuracyLoss.bound(kappa=16.0, smoothness=2.0)
GAME = Game(Setting(3, BOUND, 0.5), [0.2, 0.5, 0.8])
PRICED = Pigouvian().terms(GAME.setting, GAME.alpha)
FREE = Unpriced().terms(GAME.setting)
ALLOWED = ("certificate", "errors", "checks", "game", "terms", "population")


def test_the_certificate_imports_nothing_of_the_solver_or_the_mechanisms() -> None:
    files = pkgutil.iter_modules(pigou.certificate.__path__, "pigou.certificate.")
    modules = [pigou.certificate, *(import_module(file.name) for file in files)]
    assert len(modules) > 5
    for module in modules:
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0
                names = [str(node.module)]
            for name in names:
                assert name != "pigou"
                if name.startswith("pigou."):
                    assert name.split(".")[1] in ALLOWED, f"{module.__name__} imports {name}"


@settings(deadline=None, max_examples=150)
@given(games(least=3, most=12))
def test_honest_pigouvian_terms_pass(game: Game) -> None:
    certificate = certify(game, Pigouvian().terms(game.setting, game.alpha))
    assert certificate.ok, certificate.explain()
    assert certificate.ratio_to_optimum == pytest.approx(1.0, rel=1e-12)
    assert certificate.ratio_to_best_weights >= 1.0 - 1e-12


@settings(deadline=None, max_examples=100)
@given(games(least=1, most=12))
def test_the_unpriced_equilibrium_passes(game: Game) -> None:
    solution = equilibrium(game)
    certificate = certify(game, Unpriced().terms(game.setting), sigma=solution.sigma)
    assert certificate.ok, certificate.explain()
    assert certificate.better_off == 0.0
    expected = solution.social_cost / optimum(game).social_cost
    assert certificate.ratio_to_optimum == pytest.approx(expected, rel=1e-12)


@settings(deadline=None, max_examples=60)
@given(games(least=2, most=12))
def test_the_optimum_without_prices_fails_for_want_of_prices(game: Game) -> None:
    certificate = certify(game, Unpriced().terms(game.setting), sigma=optimum(game).sigma)
    assert not certificate.ok
    assert certificate.worst.sigma > optimum(game).sigma[certificate.worst.client]


@settings(deadline=None, max_examples=60)
@given(games(least=3, most=8), st.floats(-8.0, 8.0), st.floats(-8.0, 8.0))
def test_gains_do_not_depend_on_units(game: Game, money: float, noise: float) -> None:
    """Cost and noise in other units: the same shares of cost are gained, by the same client."""
    per_cost, per_noise = 10.0**money, 10.0**noise
    old = game.setting
    loss = AccuracyLoss(
        old.loss.linear * per_cost / per_noise, old.loss.quadratic * per_cost / per_noise**2
    )
    setting = Setting(
        old.n,
        loss,
        old.privacy_scale * per_cost * per_noise,
        old.weights,
        old.spread * per_noise**2,
    )
    sigma = np.linspace(0.5, 2.0, old.n) * optimum(game).sigma
    terms = Pigouvian().terms(old, game.alpha)
    scaled = Game(setting, game.alpha)
    before = certify(game, terms, sigma=sigma)
    after = certify(scaled, Pigouvian().terms(setting, game.alpha), sigma=per_noise * sigma)
    assert after.max_gain == pytest.approx(before.max_gain, rel=1e-6)
    assert after.worst.sigma == pytest.approx(per_noise * before.worst.sigma, rel=1e-4)
    assert after.best_weights == pytest.approx(per_cost * before.best_weights, rel=1e-6)
    assert after.budget.charges == pytest.approx(per_cost * before.budget.charges, rel=1e-9)


# Scales far beyond any use: every intermediate square would under- or overflow.
EXTREMES = {
    "huge costs": Setting(3, AccuracyLoss(1e100, 1e90), 1e120, spread=1e19),
    "huge noise": Setting(3, AccuracyLoss(1e-100, 1e-190), 1e100, spread=1e190),
    "tiny costs": Setting(3, AccuracyLoss(1e-100, 1e-90), 1e-120, spread=1e-30),
    "tiny noise": Setting(3, AccuracyLoss(1e100, 1e150), 1e-60, spread=1e-200),
    "no spread": Setting(3, AccuracyLoss(1e100, 1e90), 1e-120),
    "tiny weight": Setting(3, BOUND, 0.5, [1e-8, 0.4, 0.6 - 1e-8], spread=0.1),
    "tinier weight": Setting(3, BOUND, 0.5, [1e-12, 0.4, 0.6 - 1e-12]),
}


@pytest.mark.parametrize("name", EXTREMES)
def test_extreme_scales_are_no_obstacle(name: str) -> None:
    game = Game(EXTREMES[name], [0.9, 0.2, 0.5])
    terms = Pigouvian().terms(game.setting, game.alpha)
    assert terms.sigma is not None
    assert certify(game, terms).ok
    assert certify(game, Unpriced().terms(game.setting), sigma=equilibrium(game).sigma).ok
    wrong = certify(game, dataclasses.replace(terms, sigma=terms.sigma * [1.0, 2.0, 1.0]))
    assert not wrong.ok
    assert wrong.worst.client == 1
    assert wrong.worst.sigma == pytest.approx(terms.sigma[1], rel=0.1)


def test_a_client_without_weight_has_nothing_to_decide() -> None:
    game = Game(Setting(4, BOUND, 0.5, [0.5, 0.3, 0.2, 0.0], spread=0.1), [0.2, 0.5, 0.8, 0.9])
    terms = Pigouvian().terms(game.setting, game.alpha)
    certificate = certify(game, terms)
    assert certificate.ok
    assert certificate.ratio_to_optimum == pytest.approx(1.0, rel=1e-12)
    assert certify(game, terms, sigma=[*optimum(game).sigma[:3], 0.1]).ok  # whatever it is told
    assert certificate.better_off == 1.0  # it pays nothing and uses the better model


def test_a_client_with_nothing_to_protect_adds_no_noise() -> None:
    game = Game(Setting(3, BOUND, 0.5, spread=0.1), [0.0, 0.5, 0.8])
    terms = Pigouvian().terms(game.setting, game.alpha)
    assert certify(game, terms).ok
    assert terms.sigma is not None
    noisy = certify(game, terms, sigma=[0.2, *terms.sigma[1:]])
    assert not noisy.ok
    assert (noisy.worst.client, noisy.worst.sigma) == (0, 0.0)


def test_a_client_that_minds_nothing_else_adds_noise_without_limit_unless_priced() -> None:
    game = Game(Setting(3, BOUND, 0.5, spread=0.1), [0.2, 0.5, 1.0])
    assert certify(game, Pigouvian().terms(game.setting, game.alpha)).ok
    free = Unpriced().terms(game.setting)
    unpriced = certify(game, free, sigma=equilibrium(game).sigma)
    assert unpriced.ok
    assert unpriced.ratio_to_optimum == math.inf
    held_back = certify(game, free, sigma=optimum(game).sigma)
    assert not held_back.ok
    assert (held_back.worst.client, held_back.worst.sigma) == (2, math.inf)
    privacy = 0.5 / float(optimum(game).sigma[2])  # all that it had to bear
    assert held_back.worst.gain == pytest.approx(privacy, rel=1e-12)
    assert held_back.max_gain == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("sigma", [[0.0, 0.5, 0.5], [math.inf, 0.5, 0.5]])
def test_noise_that_costs_without_limit_is_left_for_any_other(sigma: list[float]) -> None:
    certificate = certify(GAME, FREE, sigma=sigma)
    assert not certificate.ok
    assert certificate.worst.client == 0
    assert certificate.max_gain == math.inf
    assert 0 < certificate.worst.sigma < math.inf


def test_where_two_others_drown_the_model_nothing_helps() -> None:
    for sigma in ([math.inf, math.inf, 0.5], [math.inf, math.inf, 0.0], [math.inf] * 3):
        certificate = certify(GAME, FREE, sigma=sigma)
        assert certificate.max_gain == 0.0
        assert (certificate.curvature == 0.0).all()


@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_one_client_alone_is_its_own_society(spread: float) -> None:
    game = Game(Setting(1, BOUND, 0.5, spread=spread), [0.5])
    certificate = certify(game, Unpriced().terms(game.setting), sigma=equilibrium(game).sigma)
    assert certificate.ok
    assert certificate.ratio_to_optimum == pytest.approx(1.0, rel=1e-12)
    assert certificate.ratio_to_best_weights == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_two_clients_with_a_constant_refund(spread: float) -> None:
    game = Game(Setting(2, BOUND, 0.5, spread=spread, divergence=0.1), [0.2, 0.7])
    terms = Pigouvian(refund="constant").terms(game.setting, game.alpha)
    certificate = certify(game, terms)
    assert certificate.ok, certificate.explain()
    assert certificate.budget.promise == "zero in expectation"
    assert certificate.budget.residual == pytest.approx(0.0, abs=1e-12)
    generous = dataclasses.replace(terms, constant_refund=terms.constant_refund * 1.01)
    broken = certify(game, generous)
    assert broken.max_gain <= GAIN_TOLERANCE
    assert not broken.budget.holds
    assert not broken.ok
    assert "FAILS" in broken.explain()


def test_nobody_minds_and_nobody_errs() -> None:
    game = Game(Setting(3, BOUND, 0.5), [0.0, 0.0, 0.0])
    certificate = certify(game, Unpriced().terms(game.setting), sigma=[0.0, 0.0, 0.0])
    assert certificate.ok
    assert certificate.social_cost == 0.0
    assert certificate.ratio_to_optimum == 1.0


def test_money_in_other_units_and_transfers_reach_the_certificate() -> None:
    transfers = [3.0, -1.0, 1.0]
    terms = dataclasses.replace(PRICED, money=100.0, transfers=np.array(transfers))
    plain, certificate = certify(GAME, PRICED), certify(GAME, terms)
    assert certificate.ok
    assert certificate.budget.transfers == pytest.approx(0.03, rel=1e-12)
    assert certificate.budget.residual == pytest.approx(0.03, rel=1e-9)
    assert certificate.budget.charges == pytest.approx(plain.budget.charges, rel=1e-12)


def test_better_off_counts_what_clients_pay_in_all() -> None:
    terms = Pigouvian().terms(GAME.setting, GAME.alpha)
    opt, before = optimum(GAME), equilibrium(GAME).costs
    paid = opt.costs + expected_bills(GAME.setting, terms, opt.sigma).net
    assert certify(GAME, terms).better_off == np.mean(paid < before)
    ruinous = dataclasses.replace(terms, transfers=np.array([0.0, 0.0, 1e3]))
    assert certify(GAME, ruinous).better_off == np.mean((paid < before)[:2]) * 2 / 3


def test_charges_that_pay_for_noise_break_the_second_order_condition() -> None:
    wrong = dataclasses.replace(PRICED)
    object.__setattr__(wrong, "charge", PRICED.charge * [-10.0, 1.0, 1.0])
    certificate = certify(GAME, wrong)
    assert not certificate.second_order
    assert not certificate.ok
    assert "client 0 is no minimum" in certificate.explain()
    assert certificate.max_gain == math.inf


def test_a_failing_certificate_says_who_does_what_and_gains_how_much() -> None:
    assert PRICED.sigma is not None
    wrong = dataclasses.replace(PRICED, sigma=PRICED.sigma * [1.0, 1.0, 2.0])
    certificate = certify(GAME, wrong)
    worst = certificate.worst
    first = certificate.explain().splitlines()[0]
    assert first.startswith("FAILS: client 2 plays noise ")
    assert f"{worst.sigma:.6g} and gains {worst.gain:.6g}" in first
    assert f"{100 * worst.relative:.3g} % of its cost" in first


def test_a_passing_certificate_says_what_was_looked_at_and_what_is_a_bound() -> None:
    text = certify(GAME, PRICED).explain()
    assert "Nobody gains by deviating in noise" in text
    assert "upper bound on the optimum" in text
    assert "zero every round: holds" in text
    assert "FAILS" not in text


def test_nothing_is_changed_for_the_caller() -> None:
    sigma = np.array([0.2, 0.3, 0.4])
    certify(GAME, PRICED, sigma=sigma)
    assert sigma.tolist() == [0.2, 0.3, 0.4]


def rule(reports: np.ndarray) -> Terms:
    return Pigouvian().terms(GAME.setting, reports)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"terms": FREE}, InvalidArgument, ["sigma", "name no target"]),
        ({"sigma": [0.1, 0.2]}, InvalidArgument, ["sigma", "3 values"]),
        ({"sigma": [0.1, 0.2, -1.0]}, InvalidArgument, ["sigma", ">= 0", "-1"]),
        ({"sigma": [0.1, 0.2, math.nan]}, InvalidArgument, ["sigma", "NaN"]),
        ({"sigma": [0.1, math.inf, 0.1]}, InvalidArgument, ["sigma", "finite", "inf"]),
        ({"sigma": ["a", "b", "c"]}, InvalidArgument, ["sigma", "numbers"]),
        ({"game": GAME.setting}, InvalidArgument, ["game", "Game"]),
        ({"terms": 3}, InvalidArgument, ["terms", "Terms", "3"]),
        ({"game": Game(Setting(4, BOUND, 0.5), [0.5] * 4)}, InvalidArgument, ["terms", "4", "3"]),
        ({"game": Game(GAME.setting, [1.0] * 3)}, Degenerate, ["alpha", "1"]),
        ({"rule": rule}, InvalidArgument, ["report_space", "rule"]),
        ({"report_space": (0.2, 0.5, 0.8)}, InvalidArgument, ["report_space", "rule"]),
        ({"population": two_point(0.2, 0.8, 0.5)}, InvalidArgument, ["population", "rule"]),
        ({"rule": 3, "report_space": Interval(0, 1)}, InvalidArgument, ["rule", "callable"]),
        ({"rule": rule, "report_space": [0.2, 0.8]}, InvalidArgument, ["report_space", "tuple"]),
        ({"rule": rule, "report_space": ()}, InvalidArgument, ["report_space", "tuple"]),
        (
            {"rule": rule, "report_space": (Interval(0, 1), 0.5)},
            InvalidArgument,
            ["report_space", "pair"],
        ),
        (
            {"rule": rule, "report_space": Interval(0.3, 1.0)},
            InvalidArgument,
            ["report_space", "true reports", "0.2"],
        ),
        (
            {"rule": rule, "report_space": (0.2, 0.5)},
            InvalidArgument,
            ["report_space", "true reports", "0.8"],
        ),
        (
            {"rule": lambda reports: 3, "report_space": Interval(0, 1)},
            InvalidArgument,
            ["rule", "Terms", "3"],
        ),
        (
            {"rule": lambda reports: FREE, "report_space": Interval(0, 1)},
            InvalidArgument,
            ["rule", "target noise"],
        ),
        (
            {"rule": rule, "report_space": Interval(0, 1), "population": Uniform()},
            NotApplicable,
            ["population", "Finite", "discretise"],
        ),
    ],
)
def test_bad_input_is_named(
    arguments: dict[str, object], error: type[PigouError], words: list[str]
) -> None:
    given_: dict[str, object] = {"game": GAME, "terms": PRICED} | arguments
    with pytest.raises(error) as caught:
        certify(**given_)  # type: ignore[arg-type]
    for word in words:
        assert word in str(caught.value)


def test_one_client_cannot_be_charged_for_its_distance_to_nobody() -> None:
    terms = Terms("odd", np.ones(1), np.ones(1), np.ones(1), refund="constant")
    with pytest.raises(TooFewClients, match="2 active clients"):
        certify(Game(Setting(1, BOUND, 0.5), [0.5]), terms)
