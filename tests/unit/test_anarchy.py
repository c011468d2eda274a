"""The price of anarchy: closed forms for equal types, growth, divergence, and bad input."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import games

from pigou import AccuracyLoss, Degenerate, Game, InvalidArgument, Setting
from pigou.anarchy import price_of_anarchy, scan_clients, scan_sensitivity
from pigou.solve import equilibrium, optimum

VECTORS = Path(__file__).parents[1] / "oracles" / "complete_information.json"
ROUNDING = 1e-12  # relative: two sums over the clients, each a few rounding errors
SIZES = [10, 100, 1000, 10_000]
LINEAR, QUADRATIC = AccuracyLoss(16.0, 0.0), AccuracyLoss(0.0, 4.0)


def hospitals(alpha: list[float], loss: AccuracyLoss = LINEAR) -> Game:
    return Game(Setting(n=len(alpha), loss=loss, privacy_scale=0.5), alpha)


@pytest.mark.parametrize("case", json.loads(VECTORS.read_text()))
def test_reference_vectors(case: dict[str, Any]) -> None:
    given, expect = case["input"], case["expect"]
    setting = Setting(
        n=len(given["alpha"]),
        loss=AccuracyLoss.bound(given["kappa"], given["smoothness"]),
        privacy_scale=given["privacy_scale"],
        weights=given["weights"],
        spread=given["spread"],
    )
    wanted = expect["social_cost_equilibrium"] / expect["social_cost_optimum"]
    assert price_of_anarchy(Game(setting, given["alpha"])) == pytest.approx(wanted, rel=1e-9)


@given(game=games())
@settings(deadline=None, max_examples=100)
def test_selfishness_never_saves(game: Game) -> None:
    assert price_of_anarchy(game) >= 1.0 - ROUNDING


@given(game=games(least=1, most=1))
@settings(deadline=None, max_examples=30)
def test_one_client_is_its_own_society(game: Game) -> None:
    assert price_of_anarchy(game) == pytest.approx(1.0, abs=ROUNDING)


@given(game=games(most=6), money=st.floats(1e-3, 1e3))
@settings(deadline=None, max_examples=50)
def test_no_unit_of_account_matters(game: Game, money: float) -> None:
    old = game.setting
    loss = AccuracyLoss(old.loss.linear * money, old.loss.quadratic * money)
    dearer = Setting(old.n, loss, old.privacy_scale * money, old.weights, old.spread)
    wanted = price_of_anarchy(game)
    assert price_of_anarchy(Game(dearer, game.alpha)) == pytest.approx(wanted, rel=1e-9)


def test_one_client_without_interest_in_accuracy_ruins_the_others() -> None:
    assert price_of_anarchy(hospitals([0.2, 0.5, 1.0])) == math.inf


@pytest.mark.parametrize("alpha", [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
def test_no_finite_comparison(alpha: list[float]) -> None:
    with pytest.raises(Degenerate, match="alpha must not be"):
        price_of_anarchy(hospitals(alpha))


def test_costs_beyond_floats_are_refused() -> None:
    huge = AccuracyLoss(1e308, 1e308)
    game = Game(Setting(n=3, loss=huge, privacy_scale=1e308), [0.2, 0.5, 0.8])
    with pytest.raises(Degenerate, match="a float can hold"):
        price_of_anarchy(game)


# Equal types, mean weights, v = 0. From (1), privacy costs psi'(Delta) Delta (1 - alpha) / N in
# equilibrium and N times that at the optimum; errors differ by sqrt(N) if quadratic is 0, by
# N^(1/3) if linear is 0. So SC(eq) / SC(opt) is, whatever alpha and the privacy scale are:


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
def test_growth_with_a_linear_loss_is_a_square_root(alpha: float) -> None:
    scan = scan_clients(SIZES, LINEAR, privacy_scale=0.5, alpha=alpha)
    n = np.array(SIZES)
    np.testing.assert_allclose(scan.ratio, np.sqrt(n) * (1 + 1 / n) / 2, rtol=ROUNDING)
    assert abs(scan.slope[-1] - 1 / 2) < 1 / (SIZES[-2] * math.log(10))


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
def test_growth_with_a_quadratic_loss_is_two_thirds(alpha: float) -> None:
    scan = scan_clients(SIZES, QUADRATIC, privacy_scale=0.5, alpha=alpha)
    n = np.array(SIZES)
    np.testing.assert_allclose(scan.ratio, np.cbrt(n) ** 2 * (1 + 2 / n) / 3, rtol=ROUNDING)
    assert abs(scan.slope[-1] - 2 / 3) < 2 / (SIZES[-2] * math.log(10))


def local_growth(selfish: float, best: float) -> float:
    """d log(price of anarchy) / d log N for equal types, as N grows.

    ``selfish`` and ``best`` are z = quadratic Delta / linear in equilibrium and at the optimum. By
    (1) Delta moves as N^(1/2 / (3 - s)) and N^(-1/2 / (3 - s)), s = 1 / (1 + 2 z); social cost over
    N is (1 - alpha) psi and (1 - alpha) (2 linear Delta + 3 quadratic Delta^2).
    """
    up = (1 + 2 * selfish) / (1 + selfish) / (3 - 1 / (1 + 2 * selfish))
    down = (2 + 6 * best) / (2 + 3 * best) / (3 - 1 / (1 + 2 * best))
    return (up + down) / 2


def test_the_exponent_between_the_limits() -> None:
    """1/2 while the error is small, 7/12 in the limit, 2/3 if the linear term never matters."""
    assert local_growth(0.0, 0.0) == pytest.approx(1 / 2)
    assert local_growth(1e15, 0.0) == pytest.approx(7 / 12)
    assert local_growth(1e15, 1e15) == pytest.approx(2 / 3)


@pytest.mark.parametrize("scale", [1e-7, 1e-3, 0.5, 1e3])
def test_growth_with_both_terms(scale: float) -> None:
    """Over a step, selfish and best errors move in opposite directions, and growth with both.

    So what the ends of a step say bounds its mean exponent, up to terms of order 2 / N.
    """
    loss, sizes = AccuracyLoss(1.0, 1.0), [1000, 10_000, 100_000, 1_000_000]
    scan = scan_clients(sizes, loss, scale)
    games = [Game(Setting(n, loss, scale), np.full(n, 0.5)) for n in sizes]
    selfish = [equilibrium(game).error for game in games]
    best = [optimum(game).error for game in games]
    for k in range(1, len(sizes)):
        slack = 2 / (sizes[k - 1] * math.log(10))
        assert scan.slope[k] >= local_growth(selfish[k - 1], best[k]) - slack
        assert scan.slope[k] <= local_growth(selfish[k], best[k - 1]) + slack


def test_growth_while_the_error_is_small_is_a_square_root() -> None:
    loss = AccuracyLoss.bound(kappa=16.0, smoothness=2.0)
    scan = scan_clients(SIZES, loss, privacy_scale=1e-7)
    np.testing.assert_allclose(scan.slope[2:], 1 / 2, atol=1 / (SIZES[1] * math.log(10)))


@pytest.mark.parametrize("spread", [0.0, 0.3])
@pytest.mark.parametrize(
    ("loss", "exponent"),
    [(LINEAR, 1 / 2), (QUADRATIC, 2 / 3), (AccuracyLoss.bound(16.0, 2.0), 2 / 3)],
)
def test_one_alpha_towards_one_has_no_bound(
    loss: AccuracyLoss, exponent: float, spread: float
) -> None:
    setting = Setting(n=5, loss=loss, privacy_scale=0.5, spread=spread)
    game = Game(setting, [0.2, 0.3, 0.4, 0.5, 0.6])
    scan = scan_sensitivity(game, client=2, distance=10.0 ** -np.arange(1.0, 12.0))
    assert (np.diff(scan.ratio) > 0).all()
    assert scan.ratio[-1] > 1e4
    # Left out, as shares: the linear loss, linear / (quadratic Delta) or about 10 distance^(1/3)
    # here, and the others' noise, about distance^(2/3).
    assert scan.slope[-1] == pytest.approx(exponent, abs=10 * 1e-10 ** (1 / 3))


def test_a_scan_is_a_row_of_games() -> None:
    scan = scan_sensitivity(hospitals([0.2, 0.5, 0.8]), client=1, distance=[0.5, 0.1])
    wanted = [price_of_anarchy(hospitals([0.2, alpha, 0.8])) for alpha in (0.5, 0.9)]
    assert scan.ratio.tolist() == pytest.approx(wanted, rel=ROUNDING)
    np.testing.assert_allclose(scan.values, [2.0, 10.0])


def test_a_scan_leaves_the_game_as_it_was() -> None:
    game = hospitals([0.2, 0.5, 0.8])
    scan_sensitivity(game, client=1, distance=[0.5, 0.1])
    np.testing.assert_array_equal(game.alpha, [0.2, 0.5, 0.8])


def test_a_scan_may_reach_infinity() -> None:
    scan = scan_sensitivity(hospitals([0.2, 0.5]), client=0, distance=[0.5, 1e-17, 1e-18])
    assert scan.ratio[1] == scan.ratio[2] == math.inf
    assert math.isnan(scan.slope[2])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": [10, 10]}, "n must increase strictly"),
        ({"n": [100, 10]}, "n must increase strictly"),
        ({"n": []}, "n must not be empty"),
        ({"n": [0]}, "n must be a whole number >= 1"),
        ({"n": [10], "alpha": 1.5}, r"alpha must lie in \[0, 1\]"),
        ({"n": [10], "spread": -1.0}, "spread must be a finite number >= 0"),
        ({"n": [10], "privacy_scale": 0.0}, "privacy_scale must be a finite number > 0"),
    ],
)
def test_bad_growth_scans(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        scan_clients(**{"loss": LINEAR, "privacy_scale": 0.5, **arguments})


@pytest.mark.parametrize(
    ("client", "distance", "message"),
    [
        (3, [0.5], "client must be below 3"),
        (-1, [0.5], "client must be a whole number >= 0"),
        (0, [0.5, 0.0], r"distance must lie in \(0, 1\]"),
        (0, [0.1, 0.5], "must increase strictly"),
        (2, [0.5], "client must have a positive weight"),
    ],
)
def test_bad_sensitivity_scans(client: int, distance: list[float], message: str) -> None:
    setting = Setting(n=3, loss=LINEAR, privacy_scale=0.5, weights=[0.5, 0.5, 0.0])
    with pytest.raises(InvalidArgument, match=message):
        scan_sensitivity(Game(setting, [0.2, 0.5, 0.8]), client, distance)
