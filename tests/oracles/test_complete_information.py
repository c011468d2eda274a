"""Reference numbers of the game with committed weights, from a computation that shares no code."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from pigou import AccuracyLoss, Game, Setting, equilibrium, optimum
from pigou.mechanisms import Pigouvian, billing
from pigou.terms import Terms

CASES: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("complete_information.json").read_text()
)
INPUTS = {"alpha", "kappa", "smoothness", "privacy_scale", "weights", "spread"}
TOLERANCE = 1e-11  # relative; the vectors hold 16 digits, their own solver some 12


def game_of(case: dict[str, Any]) -> Game:
    given = case["input"]
    assert set(given) == INPUTS
    loss = AccuracyLoss.bound(kappa=given["kappa"], smoothness=given["smoothness"])
    n = len(given["alpha"])
    setting = Setting(n, loss, given["privacy_scale"], given["weights"], given["spread"])
    return Game(setting, given["alpha"])


def terms_of(game: Game, refund: str = "zero-sum") -> Terms:
    constant = Pigouvian(refund="constant")
    return (Pigouvian() if refund == "zero-sum" else constant).terms(game.setting, game.alpha)


def paper_beta(game: Game) -> ArrayLike:
    """The paper's coefficient, on ||w_i - mean||^2 instead of D_i: (N/(N-1))^2 b (section 3)."""
    n = game.setting.n
    return (n / (n - 1)) ** 2 * terms_of(game, "constant").unit_price


def net_bill(game: Game) -> ArrayLike:
    return billing.expected_bills(game.setting, terms_of(game), optimum(game).sigma).net


COMPUTED: dict[str, Callable[[Game], ArrayLike]] = {
    "sigma_equilibrium": lambda game: equilibrium(game).sigma,
    "error_equilibrium": lambda game: equilibrium(game).error,
    "social_cost_equilibrium": lambda game: equilibrium(game).social_cost,
    "sigma_optimum": lambda game: optimum(game).sigma,
    "error_optimum": lambda game: optimum(game).error,
    "social_cost_optimum": lambda game: optimum(game).social_cost,
    "unit_price": lambda game: terms_of(game, "constant").unit_price,
    "paper_beta": paper_beta,
    "unit_price_zero_sum": lambda game: terms_of(game).charge,
    "expected_deviation_at_optimum": lambda game: billing.expected_deviations(
        game.setting, optimum(game).sigma
    ),
    "expected_net_bill_at_optimum": net_bill,
    "ex_ante_q": lambda game: terms_of(game, "constant").constant_refund,
}
NUMBERS = [(k, name) for k, case in enumerate(CASES) for name in case["expect"]]


def test_there_are_cases_of_two_clients_and_of_more() -> None:
    sizes = {len(case["input"]["alpha"]) for case in CASES}
    assert len(CASES) >= 8
    assert 2 in sizes
    assert max(sizes) >= 3


def test_every_number_is_checked_somewhere() -> None:
    assert set(COMPUTED) == {name for _, name in NUMBERS}


@pytest.mark.parametrize(("k", "name"), NUMBERS)
def test_reference(k: int, name: str) -> None:
    expected = np.asarray(CASES[k]["expect"][name])
    scale = np.abs(expected).max()  # net bills sum to zero: relative to the largest of them
    computed = np.asarray(COMPUTED[name](game_of(CASES[k])))
    assert computed.shape == expected.shape
    np.testing.assert_allclose(computed, expected, rtol=TOLERANCE, atol=TOLERANCE * scale)


@pytest.mark.parametrize("case", CASES)
def test_the_announced_price_makes_the_optimum_the_equilibrium(case: dict[str, Any]) -> None:
    game = game_of(case)
    answer = equilibrium(game, case["expect"]["unit_price"]).sigma
    np.testing.assert_allclose(answer, case["expect"]["sigma_optimum"], rtol=TOLERANCE)
